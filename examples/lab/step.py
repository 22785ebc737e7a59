"""Step through MM by hand: the surrogate touches f, its minimiser is the next iterate, f goes down."""

import marimo

app = marimo.App(width="medium", app_title="MM, step by step")


@app.cell
def _():
    from itertools import islice

    import marimo as mo
    import numpy as np

    from dcgev_cvx import DCGEVError, Pencil, SparseGEV, datasets, iterate
    from dcgev_cvx.plotting import Sheet, plot_majoriser, plot_majoriser_2d
    from dcgev_cvx.steps.native import native_step

    problems = {
        "one variable": (Pencil(np.ones((1, 1))), [0.42]),
        "two variables": (Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])), [0.3, 0.35]),
        "pit props, 13 variables": (datasets.pitprops(), None),
    }
    sheet = Sheet(7.0, 4.6, (0.75, 0.55, 0.15, 0.3))
    return (
        DCGEVError,
        SparseGEV,
        islice,
        iterate,
        mo,
        native_step,
        np,
        plot_majoriser,
        plot_majoriser_2d,
        problems,
        sheet,
    )


@app.cell
def _(mo, problems):
    problem = mo.ui.dropdown(list(problems), value="one variable", label="problem")
    at = mo.ui.slider(0, 30, value=0, label="step l", show_value=True)
    rho = mo.ui.slider(0.0, 6.0, step=0.05, value=0.5, label="ρ̃", show_value=True)
    log_eps = mo.ui.slider(-6.0, 0.5, step=0.25, value=-1.0, label="log₁₀ ε", show_value=True)
    tau = mo.ui.slider(0.0, 8.0, step=0.25, value=3.0, label="τ", show_value=True)
    mo.vstack(
        [mo.md("# MM, step by step"), mo.hstack([problem, at], justify="start"), mo.hstack([rho, log_eps, tau])]
    )
    return at, log_eps, problem, rho, tau


@app.cell
def _(DCGEVError, SparseGEV, islice, iterate, log_eps, mo, native_step, problem, problems, rho, tau):
    failure, program, history = None, None, []
    try:
        pencil, start = problems[problem.value]
        program = SparseGEV(pencil, rho.value, 10.0**log_eps.value, tau.value)
        history = list(islice(iterate(program, native_step, start), 32))
    except DCGEVError as error:
        failure = mo.callout(str(error), kind="danger")
    return failure, history, program


@app.cell
def _(failure, history, at, mo, np, plot_majoriser, plot_majoriser_2d, program, sheet):
    def draw(figure):
        ax = figure.add_subplot()
        y, x = history[at.value].x, history[at.value + 1].x
        if program.pencil.n == 2:
            plot_majoriser_2d(program, history, at=at.value, ax=ax)
        elif np.abs(x - y).max() > 1e-6 or program.pencil.n == 1:
            plot_majoriser(program, y, x, ax=ax)
        else:  # along so short a line f would show its rounding errors
            ax.text(0.5, 0.5, "|x − y| ≤ 10⁻⁶: MM has stopped", ha="center")
            ax.set_axis_off()

    def words():
        y, x = history[at.value], history[at.value + 1]
        count = int(np.count_nonzero(y.x))
        return mo.md(
            f"**l = {y.l}**, {count} nonzero{'' if count == 1 else 's'}: "
            f"f(x⁽ˡ⁺¹⁾) = {x.f:.8g} ≤ g(x⁽ˡ⁺¹⁾, x⁽ˡ⁾) = {program.g(x.x, y.x):.8g} ≤ f(x⁽ˡ⁾) = {y.f:.8g}"
        )

    def shown():
        picture = mo.image(sheet(draw), alt="f and its surrogate at this step", width=700)
        return mo.vstack([picture, words()])

    failure if failure is not None else shown()
    return


if __name__ == "__main__":
    app.run()
