"""SDP versus d.c.: what is attained, what is proved, and the gap between them, for every k on pit props."""

import marimo

app = marimo.App(width="medium", app_title="SDP versus d.c.")


@app.cell
def _():
    from functools import lru_cache

    import marimo as mo
    import matplotlib.pyplot as plt

    from dcgev_cvx import DCGEVError, compare, datasets
    from dcgev_cvx.plotting import comparison_plot

    pencil = datasets.pitprops()
    methods = ("solve", "rounded", "entrywise-paper", "homogeneous", "no-sdp", "exact")

    @lru_cache(maxsize=64)
    def comparison(k):
        """Every method at k, once."""
        return compare(pencil, k, methods)

    return DCGEVError, comparison, comparison_plot, mo, pencil, plt


@app.cell
def _(mo):
    k = mo.ui.slider(1, 15, value=3, label="k", show_value=True)
    mo.vstack([mo.md("# SDP versus d.c.\nPit props has 13 variables; the slider goes further."), k])
    return (k,)


@app.cell
def _(DCGEVError, comparison, comparison_plot, k, mo, plt):
    def shown(k):
        """The interval picture and the verdict, or the package's own error."""
        try:
            found = comparison(k)
        except DCGEVError as error:
            return mo.callout(f"{type(error).__name__}: {error}", kind="danger")
        figure = plt.figure(figsize=(8.0, 4.2), layout="constrained")
        comparison_plot([found], figure.add_subplot())
        plt.close(figure)
        return mo.vstack([figure, mo.md(f"**{found.verdict}**; gap {100 * found.gap.relative:.2f} %")])

    shown(k.value)
    return


if __name__ == "__main__":
    app.run()
