"""The site: Sphinx with MyST-NB and sphinx-gallery.

Every page is executed, warnings are errors, nothing is loaded from elsewhere:

python -m sphinx -W --keep-going -j 2 -b html docs docs/_build/html
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_tools"))
# kernels inherit both: the pages' own helper module, and one BLAS thread for each of them
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE / "_tools"), os.environ.get("PYTHONPATH", "")]))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
logging.getLogger("traitlets").setLevel(logging.WARNING)  # a line for every page says nothing

from generate import docstring_to_rst, equation_index, generate, unshelved  # noqa: E402
from sphinx.util.inspect import TypeAliasForwardRef  # noqa: E402

import dcgev_cvx  # noqa: E402

generate()

project = "dcgev_cvx"
author = copyright = "The dcgev_cvx developers"  # noqa: A001 - Sphinx's name
release = version = dcgev_cvx.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "_tools", "gallery/*.ipynb"]  # notebooks of the gallery are for download
html_theme = "furo"
html_title = "dcgev_cvx"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
templates_path: list[str] = []

nb_execution_mode = "cache"
# DCGEV_DOCS_EXECUTE=index,tutorials/lab executes these pages alone: a quick look at the rest
only = os.environ.get("DCGEV_DOCS_EXECUTE")
pages = [path.relative_to(HERE).as_posix() for path in HERE.rglob("*.md")]
nb_execution_excludepatterns = [p for p in pages if only is not None and p.removesuffix(".md") not in only.split(",")]
nb_execution_timeout = 240
nb_execution_in_temp = True  # a page may save pictures
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_render_markdown_format = "myst"  # a cell may print a table
sphinx_gallery_conf = {
    "examples_dirs": "_build/examples",
    "gallery_dirs": "gallery",
    "default_thumb_file": str(HERE / "_build" / "examples" / "mark.png"),
    "filename_pattern": r"\.py$",
    "plot_gallery": only is None or "gallery" in only.split(","),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # how long it took says nothing to a reader
    "write_computation_times": False,
    "parallel": 2,
}
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("Vector", "Matrix", "Index")}
TypeAliasForwardRef.__repr__ = lambda self: self.name  # else a tuple of them shows as TypeAliasForwardRef('Vector')
autodoc_member_order = "bysource"
add_module_names = False
suppress_warnings = ["ref.python"]  # two classes may be called Row

mathjax_path = "tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}


def vendored() -> dict[str, Path]:
    """Scripts of installed packages that the site carries itself: MathJax (one file, glyphs as SVG) and plotly.js."""
    import plotly

    files = importlib.metadata.files("sphinx-mathjax-offline") or []
    mathjax = next(Path(str(f.locate())) for f in files if f.name == "tex-svg.js")
    return {"tex-svg.js": mathjax, "plotly.min.js": Path(plotly.__file__).parent / "package_data" / "plotly.min.js"}


def copy_scripts(app: object, error: Exception | None) -> None:
    """Put the scripts beside the pages."""
    folder = Path(app.outdir) / "_static"  # type: ignore[attr-defined]
    if error is None and app.builder.format == "html":  # type: ignore[attr-defined]
        for name, source in vendored().items():
            shutil.copyfile(source, folder / name)


def process(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings are words, not reStructuredText."""
    lines[:] = docstring_to_rst(lines)


def shelve(app: object, docname: str, source: list[str]) -> None:
    """Pages that no shelf names stand at the end of the how-to shelf; the equation index gets its links."""
    if docname == "equation-index":
        source[0] = equation_index(source[0])
    if docname == "how-to/index":
        source[0] = source[0].replace("% the rest\n", "".join(f"../{stem}\n" for stem in unshelved()))


def open_cache(app: object) -> None:
    """Make the cache of executed pages before two processes both try to."""
    from jupyter_cache import get_cache

    get_cache(Path(app.outdir).parent / ".jupyter_cache").list_cache_records()  # type: ignore[attr-defined]


def setup(app: object) -> None:
    """Shelve stray pages, turn docstrings into reStructuredText, carry the scripts along."""
    app.connect("builder-inited", open_cache)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", process)  # type: ignore[attr-defined]
    app.connect("source-read", shelve)  # type: ignore[attr-defined]
    app.connect("build-finished", copy_scripts)  # type: ignore[attr-defined]
