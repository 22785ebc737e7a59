"""DCP repair: which parts of the problem are not convex, and what does MM put in their place?"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="DCP repair")


@app.cell
def _():
    import cvxpy as cp
    import marimo as mo
    import numpy as np

    from dcgev_cvx import teach

    return cp, mo, np, teach


@app.cell
def _(mo):
    quadratic = mo.ui.dropdown(
        ["−xᵀ(A + τI)x, as it is", "its tangent at y", "left out"],
        value="−xᵀ(A + τI)x, as it is",
        label="second term",
    )
    penalty = mo.ui.dropdown(
        ["ρ_ε Σ log(ε + |xᵢ|), as it is", "its tangent in |x| at y", "‖x‖₁ instead", "with ρ̃ in place of ρ_ε"],
        value="ρ_ε Σ log(ε + |xᵢ|), as it is",
        label="third term",
    )
    constraint = mo.ui.dropdown(["xᵀBx = 1", "xᵀBx ≤ 1", "xᵀx ≤ 1"], value="xᵀBx = 1", label="constraint")
    mo.vstack(
        [
            mo.md(
                "# DCP repair\nmin τ‖x‖² + second term + third term, subject to a constraint. Replace parts until "
                "CVXPY accepts the problem and its solution is the MM step."
            ),
            mo.hstack([quadratic, penalty, constraint], justify="start", wrap=True),
        ]
    )
    return constraint, penalty, quadratic


@app.cell
def _(constraint, cp, np, penalty, quadratic):
    def terms(x, A, y, rho, eps, tau):
        """The three terms of the objective, as chosen."""
        M, rho_eps = A + tau * np.eye(len(A)), rho / np.log1p(1 / eps)
        second = {
            "−xᵀ(A + τI)x, as it is": lambda: -cp.quad_form(x, M),
            "its tangent at y": lambda: -2 * (y @ M) @ x,
            "left out": lambda: cp.Constant(0.0),
        }[quadratic.value]()
        third = {
            "ρ_ε Σ log(ε + |xᵢ|), as it is": lambda: rho_eps * cp.sum(cp.log(eps + cp.abs(x))),
            "its tangent in |x| at y": lambda: (rho_eps / (np.abs(y) + eps)) @ cp.abs(x),
            "‖x‖₁ instead": lambda: rho_eps * cp.norm1(x),
            "with ρ̃ in place of ρ_ε": lambda: (rho / (np.abs(y) + eps)) @ cp.abs(x),
        }[penalty.value]()
        return tau * cp.sum_squares(x), second, third

    def limit(x, B):
        """The constraint, as chosen."""
        return {
            "xᵀBx = 1": lambda: cp.quad_form(x, B) == 1,
            "xᵀBx ≤ 1": lambda: cp.quad_form(x, B) <= 1,
            "xᵀx ≤ 1": lambda: cp.sum_squares(x) <= 1,
        }[constraint.value]()

    def problem(A, B, y, rho, eps, tau):
        """The problem as it stands after your choices."""
        x = cp.Variable(len(A), name="x")
        return cp.Problem(cp.Minimize(sum(terms(x, A, y, rho, eps, tau))), [limit(x, B)])

    return limit, problem, terms


@app.cell
def _(cp, limit, mo, np, problem, teach, terms):
    A, y = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.5, 0.3])
    x = cp.Variable(2, name="x")
    parts = zip(("τ‖x‖²", "second", "third"), terms(x, A, y, 0.5, 0.1, 1.0), strict=True)
    rows = [f"| {name} | {part.curvature.lower()} |" for name, part in parts]
    rows.append(f"| constraint | {'convex' if limit(x, np.eye(2)).is_dcp() else 'not convex'} |")
    whole = problem(A, np.eye(2), y, 0.5, 0.1, 1.0)
    mo.vstack(
        [
            mo.md("\n".join(["| part | CVXPY says |", "|---|---|", *rows])),
            mo.md(f"**The whole is {'DCP' if whole.is_dcp() else 'not DCP'}.** {teach.check('dcp', problem)}"),
            mo.accordion({"The problem as CVXPY prints it": mo.plain_text(str(whole))}),
        ]
    )
    return


@app.cell
def _(mo):
    mo.vstack(
        [
            mo.md("## Predict, then try"),
            mo.accordion(
                {
                    "CVXPY calls the third term unknown, not concave. Why?": mo.md(
                        "log(ε + |x|) is concave in |x|, but |x| is convex in x. The composition is neither convex "
                        "nor concave, so no rule of DCP applies. The tangent is taken in |x|."
                    ),
                    "Leave the second term out. Is the problem DCP? Is its solution the MM step?": mo.md(
                        "It is DCP, but its solution is x = 0: nothing pulls x away from zero any more. DCP says "
                        "that a problem is convex, not that it is the right one."
                    ),
                    "MM needs xᵀBx = 1 at the end. Why is xᵀBx ≤ 1 allowed?": mo.md(
                        "Where the step is not zero and τ is not too large, the minimiser lies on the boundary "
                        "anyway. And every point of Ω is allowed by the theory; `renormalize` scales the result at "
                        "the end."
                    ),
                    "‖x‖₁ instead of the weighted sum: where does the solution differ most?": mo.md(
                        "At entries with small |yᵢ|. Their weight 1/(|yᵢ| + ε) is large, which is what drives them "
                        "to zero; with equal weights they survive, and large entries are shrunk more."
                    ),
                }
            ),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
