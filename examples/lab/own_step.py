"""Write one MM step yourself and check it: which equation does it violate, and from which point?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Your own step")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from dcgev_cvx.teach.function_exercises import judge_steps, step_points
    from dcgev_cvx.teach.guarded_calls import Unusable, called, guarded, returned_vector

    starter = '''import numpy as np

def step(A, B, y, rho, eps, tau):
    """argmin over xᵀBx ≤ 1 of τ‖x‖² − 2xᵀ(A + τI)y + ρ_ε Σ wᵢ|xᵢ|   (ALG)"""
    c = A @ y + tau * y
    rho_eps = rho / np.log1p(1 / eps)
    z = np.sign(c) * np.maximum(0, np.abs(c) - rho_eps / (np.abs(y) + eps))
    length = max(tau, np.sqrt(z @ B @ z))
    return z / length if length > 0 else z
'''
    checks = {"B = I, τ = 0": (False, 0.0), "B = I, τ = 0.7": (False, 0.7), "general B, τ = 0.7": (True, 0.7)}
    return Unusable, called, checks, guarded, judge_steps, mo, np, returned_vector, starter, step_points


@app.cell
def _(mo, starter):
    code = mo.ui.code_editor(starter, language="python", label="# Your own step")
    trial = mo.ui.run_button(label="check it")
    mo.vstack([code, trial, mo.md("The starter has two faults: one in the penalty, one for a general B.")])
    return code, trial


@app.cell
def _(Unusable, called, checks, guarded, judge_steps, mo, np, returned_vector, step_points):
    def one_check(step, points):
        """The verdict on a step at these points."""
        rows = [
            returned_vector(called(step, *p.pencil.dense(), y, p.rho, p.eps, p.tau), p.pencil.n, "x") for p, y in points
        ]
        return judge_steps(points, np.array(rows), f"the minimiser from all {len(points)} points", tol=1e-6)

    def verdicts(source):
        """Three checks, from the simplest problem to the general one."""
        names = {}
        exec(compile(source, "your code", "exec"), names)
        if "step" not in names:
            raise Unusable("There is no function called step.")
        return {title: one_check(names["step"], step_points(*which)) for title, which in checks.items()}

    def judged(source, seconds=10.0):
        """The first equation that fails, then the three checks; a sentence where the code cannot be run."""
        try:
            found, _ = guarded(lambda: verdicts(source), seconds)
        except Unusable as problem:
            return mo.callout(str(problem), kind="danger")
        failed = next(((title, verdict) for title, verdict in found.items() if not verdict), None)
        first = "Every check passes." if failed is None else f"Check “{failed[0]}”: {failed[1].why}"
        rows = [f"| {title} | {'passes' if verdict else '**fails**'} |" for title, verdict in found.items()]
        head = mo.callout(first, kind="success" if failed is None else "warn")
        return mo.vstack([head, mo.md("\n".join(["| check | result |", "|---|---|", *rows]))])

    return (judged,)


@app.cell
def _(code, judged, mo, trial):
    judged(code.value) if trial.value else mo.md("_Not checked yet._")
    return


@app.cell
def _(mo):
    mo.vstack(
        [
            mo.md("## Predict, then try"),
            mo.accordion(
                {
                    "The first equation that fails is a KKT row. What do its letters mean?": mo.md(
                        "c = (A + τI)y and p = ρ_ε w are the data of the step, μ ≥ 0 is the multiplier of xᵀBx ≤ "
                        "1. The row is the derivative of the Lagrangian with respect to one xᵢ."
                    ),
                    "Repair the penalty. Which checks pass then?": mo.md(
                        "The first two. The threshold is ½ρ_ε wᵢ, since the derivative of xᵢ² has a factor 2."
                    ),
                    "Why is z/max(τ, ‖z‖) right for B = I, and wrong for a general B?": mo.md(
                        "For B = I the rows are (τ + μ)xᵢ = zᵢ, so that x is a multiple of z. A general B couples "
                        "the rows, (τI + μB)x = …, and the zeros of x are no longer those of z."
                    ),
                    "How can the general step be written in a few lines?": mo.md(
                        "As the CVXPY problem `models.lasso(c, p, B, tau)`, solved by Clarabel. Its answer is "
                        "accurate to about 10⁻⁵ only, unless the tolerances are tightened. `dcgev verify "
                        "FILE.py:step` then runs all checks of the package."
                    ),
                }
            ),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
