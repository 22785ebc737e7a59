"""Pictures that move in the browser without a kernel: a page holds the data, and the scripts in _static draw.

`picture` shows MM on a program in one or two variables, `loadings` the vectors along a ρ̃ path, and `whole_method` the
d.c. run, the bound and the optimum of one matrix.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from IPython.display import HTML

from dcgev_cvx import Pencil, SparseGEV, renormalize
from dcgev_cvx.search.path import Path


def picture(program: SparseGEV, start: Sequence[float], *, steps: int = 0, rho_max: float = 2.0) -> HTML:
    """MM on a program with B = I, drawn by moving-picture.js; the sliders begin at its ρ̃, its ε and the start."""
    if program.pencil.B is not None or program.shift != "identity":
        raise ValueError("mm.js has the closed form for B = I and the paper's shift only")
    data = {
        "A": program.pencil.dense()[0].tolist(),
        "rho": program.rho,
        "rhoMax": rho_max,
        "eps": program.eps,
        "tau": program.tau,
        "start": list(start),
        "steps": steps,
    }
    return element("moving-picture", "program", data)


def loadings(path: Path) -> HTML:
    """The renormalized loadings along a ρ̃ path, drawn by loadings.js, with ρ̃ on the slider."""
    pencil = path.pencil
    points = [
        {
            "rho": f"{point.rho:.3g}",
            "k": point.k,
            "share": point.value / pencil.lambda_max,
            "x": renormalize(pencil, point.result.x).round(5).tolist(),
        }
        for point in path.points
        if point.k > 0
    ]
    return element("moving-loadings", "path", {"names": [pencil.name(i) for i in range(pencil.n)], "points": points})


def whole_method(pencil: Pencil, k: int) -> HTML:
    """Everything that the package does with one matrix, computed by sparse-eigen.js and drawn by whole-method.js."""
    if pencil.B is not None or pencil.n > 13:
        raise ValueError("sparse-eigen.js has B = I and at most 13 variables only")
    A = pencil.dense()[0].tolist()
    return element("whole-method", "problem", {"names": [pencil.name(i) for i in range(pencil.n)], "A": A, "k": k})


def element(kind: str, name: str, data: dict[str, Any]) -> HTML:
    """An empty element that carries its data as JSON."""
    text = json.dumps(data, ensure_ascii=False).replace("&", "&amp;").replace("'", "&#39;")
    return HTML(f"<div class=\"{kind}\" data-{name}='{text}'><noscript>This picture needs JavaScript.</noscript></div>")
