"""Values of d.c. solutions, upper bounds and the gap between them, for every k on pit props."""

import marimo

app = marimo.App(width="medium", app_title="SDP versus d.c.")


@app.cell
def _():
    from functools import lru_cache

    import marimo as mo

    from dcgev_cvx import DCGEVError, compare, datasets
    from dcgev_cvx.plotting import Sheet, comparison_plot

    pencil = datasets.pitprops()
    methods = ("solve", "rounded", "entrywise-paper", "homogeneous", "no-sdp", "exact")

    @lru_cache(maxsize=64)
    def comparison(k):
        """Every method at k, once."""
        return compare(pencil, k, methods)

    for _k in range(1, pencil.n + 1):
        comparison(_k)  # so that the slider finds it done
    sheet = Sheet(8.0, 4.2, (2.5, 0.6, 0.25, 0.4))
    return DCGEVError, comparison, comparison_plot, mo, sheet


@app.cell
def _(mo):
    k = mo.ui.slider(1, 15, value=3, label="k", show_value=True)
    mo.vstack([mo.md("# SDP versus d.c.\nPit props has 13 variables; the slider goes further."), k])
    return (k,)


@app.cell
def _(DCGEVError, comparison, comparison_plot, k, mo, sheet):
    def shown(k):
        """The interval picture and the verdict, or the package's own error."""
        try:
            found = comparison(k)
        except DCGEVError as error:
            return mo.callout(f"{type(error).__name__}: {error}", kind="danger")
        source = sheet(lambda figure: comparison_plot([found], figure.add_subplot()))
        picture = mo.image(source, alt="what each method attains or proves", width=800)
        return mo.vstack([picture, mo.md(f"**{found.verdict}**; gap {100 * found.gap.relative:.2f} %")])

    shown(k.value)
    return


if __name__ == "__main__":
    app.run()
