"""DCP repair: which terms of f are not convex, and what does MM put in their place?"""

import marimo

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
        ["ρ_ε Σ log(ε + |xᵢ|), as it is", "its tangent in |x| at y", "‖x‖₁ instead"],
        value="ρ_ε Σ log(ε + |xᵢ|), as it is",
        label="third term",
    )
    mo.vstack(
        [
            mo.md(
                "# DCP repair\nmin τ‖x‖² + second term + third term, s.t. xᵀBx ≤ 1: replace terms until CVXPY "
                "accepts the problem and its solution is the MM step."
            ),
            quadratic,
            penalty,
        ]
    )
    return penalty, quadratic


@app.cell
def _(cp, np, penalty, quadratic):
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
        }[penalty.value]()
        return tau * cp.sum_squares(x), second, third

    def problem(A, B, y, rho, eps, tau):
        """The problem as it stands after your choices."""
        x = cp.Variable(len(A), name="x")
        return cp.Problem(cp.Minimize(sum(terms(x, A, y, rho, eps, tau))), [cp.quad_form(x, B) <= 1])

    return problem, terms


@app.cell
def _(cp, mo, np, problem, teach, terms):
    A, y = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([0.5, 0.3])
    parts = terms(cp.Variable(2, name="x"), A, y, 0.5, 0.1, 1.0)
    rows = [
        f"| {name} | {part.curvature.lower()} |"
        for name, part in zip(("τ‖x‖²", "second", "third"), parts, strict=True)
    ]
    whole = problem(A, np.eye(2), y, 0.5, 0.1, 1.0)
    mo.vstack(
        [
            mo.md("\n".join(["| term | CVXPY says |", "|---|---|", *rows])),
            mo.md(f"**The whole is {'DCP' if whole.is_dcp() else 'not DCP'}.** {teach.check('dcp', problem)}"),
            mo.plain_text(str(whole)),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
