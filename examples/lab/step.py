"""Step through MM by hand: the surrogate touches f, its minimiser is the next iterate, f goes down."""

import marimo

__generated_with = "0.25.2"
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
        "one variable": Pencil(np.ones((1, 1))),
        "two variables": Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])),
        "pit props, 13 variables": datasets.pitprops(),
    }

    def direction(pencil, degrees):
        """1, a point of the circle, or one of the circle through the first two eigenvectors."""
        if pencil.n == 1:
            return np.ones(1)
        frame = np.eye(2) if pencil.n == 2 else np.linalg.eigh(pencil.dense()[0])[1][:, [-1, -2]]
        return frame @ np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])

    sheet = Sheet(7.0, 4.6, (0.75, 0.55, 0.15, 0.3))
    wide = Sheet(7.0, 4.6, (0.75, 0.55, 1.9, 0.3))
    return (
        DCGEVError,
        SparseGEV,
        direction,
        islice,
        iterate,
        mo,
        native_step,
        np,
        plot_majoriser,
        plot_majoriser_2d,
        problems,
        sheet,
        wide,
    )


@app.cell
def _(mo):
    shown_step, show_step = mo.state(0)

    def go(change):
        """Show another step, from 0 to 30."""
        show_step(lambda now: max(0, min(30, change(now))))

    first = mo.ui.button(label="Start", on_click=lambda _: go(lambda now: 0))
    step = mo.ui.button(label="Step", on_click=lambda _: go(lambda now: now + 1))
    play = mo.ui.refresh(options=["0.5s", "1s", "2s"], label="Play every")
    return first, go, play, show_step, shown_step, step


@app.cell
def _(go, play):
    if play.value:
        go(lambda now: now + 1)
    return


@app.cell
def _(mo, show_step, shown_step):
    at = mo.ui.slider(0, 30, value=shown_step(), on_change=show_step, label="step l", show_value=True)
    return (at,)


@app.cell
def _(mo, problems):
    problem = mo.ui.dropdown(list(problems), value="one variable", label="problem")
    length = mo.ui.slider(-1.0, 1.0, step=0.02, value=0.42, label="start x⁽⁰⁾", show_value=True)
    angle = mo.ui.slider(0, 175, step=5, value=0, label="direction of the start, degrees", show_value=True)
    rho = mo.ui.slider(0.0, 6.0, step=0.05, value=0.5, label="ρ̃", show_value=True)
    log_eps = mo.ui.slider(-6.0, 0.5, step=0.25, value=-1.0, label="log₁₀ ε", show_value=True)
    tau = mo.ui.slider(0.0, 8.0, step=0.25, value=3.0, label="τ", show_value=True)
    return angle, length, log_eps, problem, rho, tau


@app.cell
def _(angle, at, first, length, log_eps, mo, play, problem, rho, step, tau):
    # one variable has no direction: its start is a number between −1 and 1
    _start = [length] if problem.value == "one variable" else [length, angle]
    mo.vstack(
        [
            mo.md(
                "# MM, step by step\nThe black curve is f, the dashed one is the surrogate g(·, y). MM goes from y "
                "to the minimiser of g; press Step, or play the steps. With one variable the start x⁽⁰⁾ is a number "
                "from −1 to 1. With more, choose a direction and how far from 0 the start lies; 1 is the edge of Ω."
            ),
            mo.hstack([problem, first, step, play, at], justify="start", wrap=True),
            mo.hstack(_start, justify="start", wrap=True),
            mo.hstack([rho, log_eps, tau], justify="start", wrap=True),
        ]
    )
    return


@app.cell
def _(
    DCGEVError,
    SparseGEV,
    angle,
    direction,
    islice,
    iterate,
    length,
    log_eps,
    mo,
    native_step,
    problem,
    problems,
    rho,
    tau,
):
    failure, program, history = None, None, []
    try:
        _pencil = problems[problem.value]
        program = SparseGEV(_pencil, rho.value, 10.0**log_eps.value, tau.value)
        _start = length.value * direction(_pencil, angle.value)
        history = list(islice(iterate(program, native_step, _start), 32))
    except DCGEVError as error:
        failure = mo.callout(str(error), kind="danger")
    return failure, history, program


@app.cell
def _(failure, history, at, mo, np, plot_majoriser, plot_majoriser_2d, program, sheet, wide):
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
        paper = wide if program.pencil.n == 2 else sheet
        picture = mo.image(paper(draw), alt="f and its surrogate at this step", width=700)
        return mo.vstack([picture, words()])

    failure if failure is not None else shown()
    return


@app.cell
def _(mo):
    mo.vstack(
        [
            mo.md("## Predict, then try"),
            mo.accordion(
                {
                    "One variable, start 0.42. Where does MM end from 0.2, and why not at the same point?": mo.md(
                        "At 0. Between the two starts f has a local maximum. At y, g has the same slope as f, so "
                        "that its minimiser lies downhill from y."
                    ),
                    "You double τ. Does f change? Does g? Are there more steps or fewer?": mo.md(
                        "f does not depend on τ. g becomes steeper, its minimiser lies closer to y, and MM needs "
                        "more steps. So the smallest τ that is allowed is the best here."
                    ),
                    "Two variables, ρ̃ = 0. From which directions does MM not reach the leading eigenvector?": mo.md(
                        "Only from the direction orthogonal to it: at ρ̃ = 0 the step is a power method on A + τI, "
                        "which leaves a missing component at zero. With rounding errors it may get there after all."
                    ),
                    "Pit props at ρ̃ = 0, start at 90 degrees, the second eigenvector. What is f at the end?": mo.md(
                        "−λ₂ = −2.378, not −λ₁ = −4.219: the start is orthogonal to the first eigenvector. The "
                        "paper's Corollary 6 needs a start that is not."
                    ),
                }
            ),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
