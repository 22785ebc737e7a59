"""Write one MM step yourself and check it: which equation does it violate, on which smallest example?"""

import marimo

app = marimo.App(width="medium", app_title="Your own step")


@app.cell
def _():
    import os
    import subprocess
    import sys
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import marimo as mo

    starter = '''import numpy as np

def step(A, B, y, rho, eps, tau):
    """argmin over xᵀBx ≤ 1 of τ‖x‖² − 2xᵀ(A + τI)y + ρ_ε Σ wᵢ|xᵢ|   (ALG)"""
    c = A @ y + tau * y
    rho_eps = rho / np.log1p(1 / eps)
    z = np.sign(c) * np.maximum(0, np.abs(c) - rho_eps / (np.abs(y) + eps))
    return z / max(tau, np.sqrt(z @ B @ z))
'''
    return Path, TemporaryDirectory, mo, os, starter, subprocess, sys


@app.cell
def _(mo, starter):
    code = mo.ui.code_editor(starter, language="python", label="# Your own step")
    trial = mo.ui.run_button(label="put it on trial")
    mo.vstack([code, trial, mo.md("The starter has two faults. The trial takes a few seconds.")])
    return code, trial


@app.cell
def _(Path, TemporaryDirectory, code, mo, os, subprocess, sys, trial):
    def judged(source, seconds=60.0):
        """The report of `dcgev verify` on the code, in a process of its own: so an endless loop can be ended."""
        command = [
            sys.executable,
            "-m",
            "dcgev_cvx",
            "verify",
            "yours.py:step",
            "--level",
            "step",
            "--time-limit",
            "2",
        ]
        with TemporaryDirectory() as folder, mo.status.spinner("on trial"):
            Path(folder, "yours.py").write_text(source, encoding="utf-8")
            env = {**os.environ, "PYTHONUTF8": "1"}
            try:
                done = subprocess.run(
                    command, cwd=folder, env=env, capture_output=True, encoding="utf-8", timeout=seconds
                )
            except subprocess.TimeoutExpired:
                return mo.callout(f"No verdict within {seconds:g} s: is there an endless loop?", kind="danger")
        return mo.plain_text(done.stdout) if done.stdout else mo.callout(done.stderr, kind="danger")

    judged(code.value) if trial.value else mo.md("_Not tried yet._")
    return (judged,)


if __name__ == "__main__":
    app.run()
