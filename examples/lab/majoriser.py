"""Draw a candidate for a majoriser, and see whether it is one, where it fails and where its minimiser lies."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Draw your own majoriser")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from dcgev_cvx import Pencil, SparseGEV
    from dcgev_cvx.plotting import Sheet
    from dcgev_cvx.teach import majorises

    program = SparseGEV(Pencil(np.ones((1, 1))), rho=0.5, eps=0.1, tau=3.0)
    grid = np.linspace(-1.0, 1.0, 401)
    f = np.array([program.f(np.array([x])) for x in grid])
    sheet = Sheet(7.0, 4.4, (0.75, 0.55, 0.15, 0.15))
    return f, grid, majorises, mo, np, program, sheet


@app.cell
def _(mo):
    y = mo.ui.slider(-1.0, 1.0, step=0.05, value=0.4, label="y", show_value=True)
    curvature = mo.ui.slider(-2.0, 12.0, step=0.25, value=1.0, label="curvature", show_value=True)
    slope = mo.ui.slider(-3.0, 3.0, step=0.1, value=0.0, label="slope, beyond f′(y)", show_value=True)
    height = mo.ui.slider(-0.2, 0.2, step=0.02, value=0.0, label="height, beyond f(y)", show_value=True)
    kink = mo.ui.slider(0.0, 4.0, step=0.1, value=0.0, label="kink at 0", show_value=True)
    mo.vstack(
        [
            mo.md(
                "# Draw your own majoriser\nYour function is h(x, y) = f(y) + height + (f′(y) + slope)(x − y) + "
                "curvature·(x − y)² + kink·(|x| − |y| − sign(y)(x − y)). Make it a majoriser: it touches f at y, "
                "lies above f, and is convex. Then try y = 0."
            ),
            mo.hstack([y, curvature], justify="start", wrap=True),
            mo.hstack([slope, height, kink], justify="start", wrap=True),
        ]
    )
    return curvature, height, kink, slope, y


@app.cell
def _(curvature, height, kink, np, program, slope):
    def h(x, y):
        """Your function, with f′(y) = ρ_ε sign(y)/(|y| + ε) − 2y; at y = 0, where f has a kink, 0 is taken."""
        x, y = float(np.squeeze(x)), float(np.squeeze(y))
        derivative = program.rho_eps * np.sign(y) / (abs(y) + program.eps) - 2.0 * y
        return (
            program.f(np.array([y]))
            + height.value
            + (derivative + slope.value) * (x - y)
            + curvature.value * (x - y) ** 2
            + kink.value * (abs(x) - abs(y) - np.sign(y) * (x - y))
        )

    return (h,)


@app.cell
def _(f, grid, h, majorises, mo, np, program, sheet, y):
    values = np.array([h(x, y.value) for x in grid])

    def draw(figure):
        ax = figure.add_subplot()
        ax.plot(grid, f, color="black", label="f")
        ax.plot(grid, values, "--", color="#0072B2", label="h, yours")
        below = values < f - 1e-9
        ax.fill_between(grid, values, f, where=below, color="#D55E00", alpha=0.5, label="h < f: it fails here")
        ax.plot(y.value, program.f(np.array([y.value])), "o", color="black", label="y")
        low = grid[int(np.argmin(values))]
        ax.plot(low, program.f(np.array([low])), "s", color="#009E73", label="f where h is least")
        ax.set(ylim=(-1.4, 0.6), xlabel="x")
        ax.legend(frameon=False, loc="upper left")

    fails = (values < f - 1e-9).any()
    here = "h cuts f: descent is not guaranteed." if fails else "h lies above f for this y."
    picture = mo.image(sheet(draw), alt="f and your function h", width=700)
    verdict = majorises(program, h, trials=100, name="h")
    mo.vstack([picture, mo.md(f"**This y:** {here}"), mo.md(f"**Every y:** {verdict}")])
    return


@app.cell
def _(mo):
    mo.vstack(
        [
            mo.md("## Predict, then try"),
            mo.accordion(
                {
                    "At y = 0.4, how small may the curvature be before h cuts f?": mo.md(
                        "Down to about −0.45 with no kink. But such an h is concave, and a majoriser that a convex "
                        "solver can minimise needs curvature ≥ 0."
                    ),
                    "Change the slope a little at y = 0.4. Can curvature repair it?": mo.md(
                        "No. Where f is smooth, h must have the slope of f at y. Otherwise it cuts f on one side, "
                        "however steep it is."
                    ),
                    "At y = 0, can any parabola lie above f?": mo.md(
                        "No. f has a kink at 0: it rises steeply on both sides. Only a function with a kink of its "
                        "own can lie above it. Raise the kink to 2.1, and h majorises f for every y, even without "
                        "curvature."
                    ),
                    "Which kink does the surrogate g of the paper have at y = 0?": mo.md(
                        "ρ_ε/ε, the slope of the logarithm there. This is why a zero stays zero: g has its minimum "
                        "at 0 as long as ρ_ε/ε is larger than the pull of the other variables."
                    ),
                }
            ),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
