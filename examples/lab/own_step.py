"""Write one MM step yourself and put it on trial: which equation does it break, on which smallest example?"""

import marimo

app = marimo.App(width="medium", app_title="Your own step")


@app.cell
def _():
    import marimo as mo

    from dcgev_cvx import verify

    starter = '''import numpy as np

def step(A, B, y, rho, eps, tau):
    """argmin over xᵀBx ≤ 1 of τ‖x‖² − 2xᵀ(A + τI)y + ρ_ε Σ wᵢ|xᵢ|   (ALG)"""
    c = A @ y + tau * y
    rho_eps = rho / np.log1p(1 / eps)
    z = np.sign(c) * np.maximum(0, np.abs(c) - rho_eps / (np.abs(y) + eps))
    return z / max(tau, np.sqrt(z @ B @ z))
'''
    return mo, starter, verify


@app.cell
def _(mo, starter):
    code = mo.ui.code_editor(starter, language="python", label="# Your own step")
    trial = mo.ui.run_button(label="put it on trial")
    mo.vstack([code, trial, mo.md("The starter has two faults. The trial takes a few seconds.")])
    return code, trial


@app.cell
def _(code, mo, trial, verify):
    def judged(source):
        """The report on the code in the editor; what the code raises is shown instead."""
        space = {}
        try:
            exec(source, space)
            return mo.plain_text(str(verify.check(space["step"], "step")))
        except Exception as error:  # the code is yours: so is its error
            return mo.callout(f"{type(error).__name__}: {error}", kind="danger")

    judged(code.value) if trial.value else mo.md("_Not tried yet._")
    return (judged,)


if __name__ == "__main__":
    app.run()
