"""Export the labs as web pages that run in the browser alone, by marimo and Pyodide.

    python docs/_tools/browser_labs.py [FOLDER]

Needs marimo and uv (pip install '.[lab]' uv). The package goes along as a wheel, whose requirements on Pyodide are
cvxpy-base and Clarabel. The pages load Pyodide and the other packages from their servers, and must be served:
python -m http.server --directory FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEFAULT = ROOT / "docs" / "_build" / "labs"
HEADER = """# /// script
# requires-python = ">=3.11"
# dependencies = ["marimo", "matplotlib", "numpy", "dcgev-cvx @ ./{wheel}"]
# ///
"""


def wheel(folder: Path) -> Path:
    """The package as a wheel in the folder."""
    words = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--quiet", "--wheel-dir", str(folder)]
    subprocess.run(words, check=True)
    return next(folder.glob("dcgev_cvx-*.whl"))


def export(lab: Path, folder: Path) -> Path:
    """The page of one lab, whose file names the wheel beside it."""
    page = folder.resolve() / f"{lab.stem}.html"
    words = [sys.executable, "-m", "marimo", "export", "html-wasm", lab.name, "-o", str(page), "--mode", "run", "-f"]
    subprocess.run(words, check=True, cwd=lab.parent, stdin=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": ""})
    return page


def build(folder: Path = DEFAULT) -> list[Path]:
    """Export every lab; returns the pages."""
    with tempfile.TemporaryDirectory() as scratch:
        name, pages = wheel(Path(scratch)).name, []
        for source in sorted((ROOT / "examples" / "lab").glob("*.py")):
            lab = Path(scratch) / source.name
            lab.write_text(HEADER.format(wheel=name) + source.read_text(encoding="utf-8"), encoding="utf-8")
            pages.append(export(lab, folder))
    return pages


if __name__ == "__main__":
    for made in build(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT):
        print(made)
