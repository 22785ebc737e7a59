"""Three solvers of one step, at most one of them wrong: find data for which its answer is not the minimiser."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Break the solver")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from dcgev_cvx import DCGEVError, Pencil, SparseGEV
    from dcgev_cvx.teach import SUSPECTS, judge_step

    return DCGEVError, Pencil, SUSPECTS, SparseGEV, judge_step, mo, np


@app.cell
def _(mo):
    rho = mo.ui.slider(0.0, 10.0, step=0.1, value=0.5, label="ρ̃", show_value=True)
    log_eps = mo.ui.slider(-6.0, 0.0, step=0.5, value=-1.0, label="log₁₀ ε", show_value=True)
    tau = mo.ui.slider(0.5, 5.0, step=0.5, value=1.0, label="τ", show_value=True)
    diagonal = mo.ui.slider(0.25, 4.0, step=0.25, value=1.0, label="B₂₂", show_value=True)
    off = mo.ui.slider(-1.0, 1.0, step=0.1, value=0.0, label="B₁₂", show_value=True)
    angle = mo.ui.slider(0, 90, step=5, value=40, label="y at degrees", show_value=True)
    _task = mo.md(
        "# Break the solver\nThree programs for one MM step (ALG), on A = [2 ½; ½ 1] and B = [1 B₁₂; B₁₂ B₂₂]. "
        "At most one of them is wrong. Move the sliders until the KKT conditions give it away."
    )
    mo.vstack(
        [
            _task,
            mo.hstack([rho, log_eps, tau], justify="start", wrap=True),
            mo.hstack([diagonal, off, angle], justify="start", wrap=True),
        ]
    )
    return angle, diagonal, log_eps, off, rho, tau


@app.cell
def _(DCGEVError, Pencil, SUSPECTS, SparseGEV, angle, diagonal, judge_step, log_eps, mo, np, off, rho, tau):
    def table():
        """The verdict of the KKT conditions on each suspect."""
        A = np.array([[2.0, 0.5], [0.5, 1.0]])
        B = np.array([[1.0, off.value], [off.value, diagonal.value]])
        program = SparseGEV(Pencil(A, B), rho.value, 10.0**log_eps.value, tau.value)
        y = np.array([np.cos(np.radians(angle.value)), np.sin(np.radians(angle.value))])
        y = 0.9 * y / program.pencil.B_norm(y)
        rows = ["| step | x | minimiser? | why |", "|---|---|---|---|"]
        for letter, suspect in SUSPECTS.items():
            x = suspect(A, B, y, program.rho, program.eps, program.tau)
            verdict = judge_step(program, y, x, tol=1e-6)
            answer = "yes" if verdict else "**NO**"
            rows.append(f"| {letter} | ({x[0]:.6f}, {x[1]:.6f}) | {answer} | {verdict.why} |")
        return mo.md("\n".join(rows))

    def shown():
        try:
            return table()
        except DCGEVError as error:
            return mo.callout(f"{type(error).__name__}: {error}", kind="danger")

    shown()
    return


@app.cell
def _(mo):
    mo.vstack(
        [
            mo.md("## Predict, then try"),
            mo.accordion(
                {
                    "With B₁₂ = 0 and B₂₂ = 2 all three agree. Is none of them wrong?": mo.md(
                        "One is. A test on diagonal B cannot show it, since it is right there. Good test problems "
                        "use every part of the data."
                    ),
                    "Set B₁₂ = 0.5. Which step fails first, and by how much?": mo.md(
                        "Step b. It leaves Ω: xᵀBx is about 1.4. It ignores B₁₂ and treats each coordinate on its own."
                    ),
                    "Make ρ̃ large. Why are all three right again, whatever B is?": mo.md(
                        "The penalty then leaves at most one nonzero, or none. With one nonzero B₁₂ plays no part."
                    ),
                    "B₂₂ = 0.25 and B₁₂ = 0.5: what is wrong with this problem?": mo.md(
                        "B must be positive definite, B₁₂² < B₁₁B₂₂. Here it is singular, and Ω has no bound in "
                        "one direction."
                    ),
                }
            ),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
