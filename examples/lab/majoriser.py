"""Draw a candidate for a majoriser, and see whether it is one, where it fails and where its minimiser lies."""

import marimo

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
    y = mo.ui.slider(0.05, 1.0, step=0.05, value=0.4, label="y", show_value=True)
    curvature = mo.ui.slider(-2.0, 12.0, step=0.25, value=1.0, label="curvature", show_value=True)
    slope = mo.ui.slider(-2.0, 2.0, step=0.1, value=0.0, label="slope, beyond f′(y)", show_value=True)
    height = mo.ui.slider(-0.2, 0.2, step=0.02, value=0.0, label="height, beyond f(y)", show_value=True)
    mo.vstack(
        [
            mo.md(
                "# Draw your own majoriser\nh(x) = f(y) + height + (f′(y) + slope)(x − y) + curvature·(x − y)². "
                "Can any parabola lie above f for every y, also at its kink, y = 0?"
            ),
            mo.hstack([y, curvature]),
            mo.hstack([slope, height]),
        ]
    )
    return curvature, height, slope, y


@app.cell
def _(curvature, height, np, program, slope):
    def parabola(x, y):
        """h(x, y) with f′(y) = ρ_ε sign(y)/(|y| + ε) − 2y; at y = 0, where f has a kink, 0 is taken."""
        x, y = float(np.squeeze(x)), float(np.squeeze(y))
        derivative = program.rho_eps * np.sign(y) / (abs(y) + program.eps) - 2.0 * y
        return (
            program.f(np.array([y]))
            + height.value
            + (derivative + slope.value) * (x - y)
            + curvature.value * (x - y) ** 2
        )

    return (parabola,)


@app.cell
def _(f, grid, majorises, mo, np, parabola, program, sheet, y):
    h = np.array([parabola(x, y.value) for x in grid])

    def draw(figure):
        ax = figure.add_subplot()
        ax.plot(grid, f, color="black", label="f")
        ax.plot(grid, h, "--", color="#0072B2", label="h, yours")
        ax.fill_between(grid, h, f, where=h < f - 1e-9, color="#D55E00", alpha=0.5, label="h < f: it fails here")
        ax.plot(y.value, program.f(np.array([y.value])), "o", color="black", label="y")
        low = grid[int(np.argmin(h))]
        ax.plot(low, program.f(np.array([low])), "s", color="#009E73", label="f where h is least")
        ax.set(ylim=(-1.4, 0.6), xlabel="x")
        ax.legend(frameon=False, loc="upper left")

    fails = (h < f - 1e-9).any()
    here = "h cuts f: descent is not promised." if fails else "h lies above f for this y."
    picture = mo.image(sheet(draw), alt="f and your parabola", width=700)
    mo.vstack([picture, mo.md(f"{here} For every y? **{majorises(program, parabola)}**")])
    return


if __name__ == "__main__":
    app.run()
