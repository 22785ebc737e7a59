"""Choose a problem, ρ̃, ε, τ, a shift and a start, and see the iterates, the support and the certificate."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Playground")


@app.cell
def _():
    import marimo as mo
    import numpy as np

    from dcgev_cvx import DCGEVError, Pencil, SparseGEV, Stop, datasets, minimize, solve
    from dcgev_cvx.plotting import Sheet, plot_history, plot_loadings
    from dcgev_cvx.steps.native import native_step

    pitprops, cca = datasets.pitprops(), datasets.planted_cca(6, 7, 2, samples=40).pencil
    problems = {
        "pit props (PCA)": lambda: pitprops,
        "two views (CCA)": lambda: cca,
        "indefinite A": lambda: datasets.indefinite(8, dense_metric=True),
        "singular B": lambda: Pencil(np.eye(3), np.diag([1.0, 1.0, 0.0])),
    }
    sheet = Sheet(10.0, 3.8, (0.85, 0.85, 0.1, 0.15), dpi=110.0)
    return (
        DCGEVError,
        SparseGEV,
        Stop,
        minimize,
        mo,
        native_step,
        np,
        plot_history,
        plot_loadings,
        problems,
        sheet,
        solve,
    )


@app.cell
def _(mo, problems):
    problem = mo.ui.dropdown(list(problems), value="pit props (PCA)", label="problem")
    shift = mo.ui.dropdown(["identity", "metric"], value="identity", label="shift")
    start = mo.ui.dropdown(
        ["leading eigenvector", "all ones", "e₁ + e₂", "zero"], value="leading eigenvector", label="start"
    )
    rho = mo.ui.slider(0.0, 40.0, step=0.1, value=4.8, label="ρ̃", show_value=True)
    eps = mo.ui.text(value="1e-8", label="ε")
    extra = mo.ui.slider(0.0, 5.0, step=0.25, value=0.0, label="τ above the least", show_value=True)
    k = mo.ui.number(value=6, step=1, label="k for solve(pencil, k)")
    mo.vstack(
        [
            mo.md("# Playground"),
            mo.hstack([problem, shift, start], justify="start", wrap=True),
            mo.hstack([rho, extra], justify="start", wrap=True),
            mo.hstack([eps, k], justify="start", wrap=True),
        ]
    )
    return eps, extra, k, problem, rho, shift, start


@app.cell
def _(DCGEVError, SparseGEV, Stop, eps, extra, minimize, mo, native_step, np, problem, problems, rho, shift, start):
    def number(text):
        """The number in a text field, or the text itself, which the package then rejects."""
        try:
            return float(text)
        except ValueError:
            return text

    failure, result = None, None
    try:
        pencil = problems[problem.value]()
        least = SparseGEV(pencil, rho.value, number(eps.value), shift=shift.value)
        program = SparseGEV(pencil, rho.value, least.eps, least.tau + extra.value, shift.value)
        first = {"all ones": np.ones(pencil.n), "e₁ + e₂": np.eye(pencil.n)[0] + np.eye(pencil.n)[1]}.get(start.value)
        x0 = np.zeros(pencil.n) if start.value == "zero" else None if first is None else first / pencil.B_norm(first)
        result = minimize(program, native_step, x0, stop=Stop(max_iter=100))
    except DCGEVError as error:
        failure = mo.callout(f"{type(error).__name__}: {error}", kind="danger")
    return failure, result


@app.cell
def _(failure, mo, plot_history, plot_loadings, result, sheet):
    def draw(figure):
        axes = figure.subplots(1, 2, gridspec_kw={"wspace": 0.3})
        plot_history(result, axes[0])
        plot_loadings(result.program.pencil, result.x, axes[1])

    def shown():
        picture = mo.image(sheet(draw), alt="f and the nonzeros along the run, the entries of x", width="100%")
        return mo.vstack([picture, mo.plain_text(str(result))])

    failure if failure is not None else shown()
    return


@app.cell
def _(DCGEVError, k, mo, problem, problems, solve):
    def exactly_k():
        try:
            found = solve(problems[problem.value](), k.value, effort="quick", check_path=False)
            return mo.plain_text(str(found))
        except DCGEVError as error:
            return mo.callout(f"{type(error).__name__}: {error}", kind="danger")

    mo.vstack([mo.md("## Exactly k nonzeros"), exactly_k()])
    return


@app.cell
def _(mo):
    mo.vstack(
        [
            mo.md("## Predict, then try"),
            mo.accordion(
                {
                    "Pit props at ρ̃ = 4.8 keeps five variables. What happens at ρ̃ = 9, and at ρ̃ = 20?": mo.md(
                        "At 9 two are left, at 20 one: a higher price per nonzero. From about 26 on the result is "
                        "x = 0, and the status says that the run collapsed."
                    ),
                    "Start at e₁ + e₂ with ε = 1e-8. Which variables can be nonzero at the end?": mo.md(
                        "Only these two. With a tiny ε the weight of a zero is about 1/ε, and zeros are absorbing. "
                        "With ε = 1 and ρ̃ = 0.3 others enter: eleven are nonzero at the end."
                    ),
                    "CCA: does the shift “metric” need more steps than “identity”?": mo.md(
                        "Fewer: τB fits the constraint xᵀBx ≤ 1 better than τI. Try ρ̃ = 0.3."
                    ),
                    "Raise τ above the least. Does the limit change?": mo.md(
                        "Not here, but the number of steps does: it is about twice as large at 3. τ changes g and "
                        "with it the path, not f."
                    ),
                }
            ),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
