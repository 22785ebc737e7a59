"""Write docs/mistakes.md, a section for each mistake that `dcgev verify` names: python docs/_tools/mistakes_page.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dcgev_cvx.verify.levels import question
from dcgev_cvx.verify.mistakes import MISTAKES, Mistake, mistaken_step

HEAD = """# Named mistakes

**You will find** the mistakes that `dcgev verify` recognises, each with the wrong line and the right one. **You need to
know** how to [check your own solver](check-my-solver.md).

The trial makes each mistake, alone and up to three together, in a step or a bound, and compares the results with your
wrong answers. The page is written from `dcgev_cvx/verify/mistakes.toml` by `python docs/_tools/mistakes_page.py`.

c = (A + τI)y and p = ρ_ε/(|y| + ε) are the data of a step, see [notation](notation.md).
"""
A, B, SMALL = np.array([[2.0, 0.5], [0.5, -1.0]]), np.array([[1.0, 0.3], [0.3, 2.0]]), 1e-9
EXAMPLES = [
    {"A": A, "B": B, "y": np.array(y), "rho": rho, "eps": eps, "tau": 1.5}
    for rho in (0.3, 1.0)
    for y, eps in (([0.8, -0.3], 0.1), ([0.9, 0.0], 0.1), ([-0.02, 0.6], 0.1), ([0.8, 1e-4], SMALL), ([0.1, 0.1], 50.0))
]
FISHER = [
    {"a": np.array(a), "B": B, "y": np.array(y), "nu": 0.4, "eps": eps}
    for a, y, eps in (
        ([1.0, -0.8], [0.6, -0.5], 0.1), ([1.0, 0.5], [1.0, 0.0], 0.1), ([1.0, 1e-3], [1.0, 0.0], 0.1),
        ([1.0, 0.5], [0.8, 0.4], SMALL),
    )
]  # fmt: skip
SUBSETS = [{"A": A, "B": B, "k": k} for k in (2, 1)]


def main() -> None:
    """Write the page."""
    Path(__file__).parents[1].joinpath("mistakes.md").write_text(page(), encoding="utf-8")


def page() -> str:
    """The page: the mistakes of the same name in one section."""
    forms: dict[str, list[Mistake]] = {}
    for mistake in MISTAKES:
        forms.setdefault(mistake.name, []).append(mistake)
    return "\n".join([HEAD, *(section(name, same) for name, same in forms.items())])


def section(name: str, forms: list[Mistake]) -> str:
    """A mistake: its words, the wrong line and the right one, and an example of two variables."""
    parts = [f"## {name[0].upper()}{name[1:]}", ""]
    for form in forms:
        what = {"bound": "a bound", "cardinality": "vectors"}.get(form.levels[0], "a step")
        parts += [f"Answers equal those of {what} {form.words} (levels: {', '.join(form.levels)}).", "", "```text"]
        parts += [f"{form.wrong}   # wrong", f"{form.right}   # right", "```", ""]
        parts += [*example(form)]
    return "\n".join(parts)


def example(mistake: Mistake) -> list[str]:
    """The first example in which the mistake shows, with both answers; none at the levels bound and cardinality."""
    level = mistake.levels[0]
    if level in ("bound", "cardinality"):
        return []
    for data in FISHER if level == "fda" else EXAMPLES:
        case = question("fda" if level == "fda" else "step", "", (), data)
        right, wrong = mistaken_step(case, []), mistaken_step(case, [mistake])
        if np.max(np.abs(right - wrong)) > 1e-9:
            given = ", ".join(f"{name} = {written(value)}" for name, value in data.items())
            digits = 10 if np.max(np.abs(right - wrong)) < 1e-4 else 5
            return [
                f"For {given} the step gives {written(right, digits)}, and with the mistake {written(wrong, digits)}.",
                "",
            ]
    return []


def written(value: object, digits: int = 5) -> str:
    """A number or an array as text."""
    return str(np.round(np.asarray(value), digits).tolist()) if np.ndim(value) else f"{value:g}"


if __name__ == "__main__":
    main()
