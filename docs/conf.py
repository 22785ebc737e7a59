"""The site: Sphinx with MyST-NB, autosummary, numpydoc and sphinx-gallery.

Every page is executed, warnings are errors, and the pages load nothing from other servers:

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
sys.path[:0] = [str(HERE / "_tools"), str(HERE.parent / "examples" / "paper")]
# kernels and workers inherit these: the helper modules of pages and examples, and one BLAS thread each
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*sys.path[:2], os.environ.get("PYTHONPATH", "")]))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
logging.getLogger("traitlets").setLevel(logging.WARNING)

import api  # noqa: E402
import gallery  # noqa: E402
import included_code  # noqa: E402
import inventories  # noqa: E402
import notebooks  # noqa: E402
import prose  # noqa: E402
import shelves  # noqa: E402
import sphinx.ext.autosummary  # noqa: E402
from docutils import nodes  # noqa: E402
from sphinx.util.inspect import TypeAliasForwardRef  # noqa: E402

import dcgev_cvx  # noqa: E402

project = "dcgev_cvx"
author = copyright = "The dcgev_cvx developers"  # noqa: A001 - Sphinx's name
release = version = dcgev_cvx.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_tools", "_templates", "_data", "gallery/**/*.ipynb", "teaching/slides"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = "dcgev_cvx"
html_logo = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css", "moving-picture.css", "whole-method.css"]
html_show_sphinx = False

# Pages
nb_execution_mode = "cache"
# DCGEV_DOCS_EXECUTE=index,tutorials/lab executes only these pages; an empty value executes none
only = os.environ.get("DCGEV_DOCS_EXECUTE")
pages = [path.relative_to(HERE).as_posix() for path in HERE.rglob("*.md")]
nb_execution_excludepatterns = [p for p in pages if only is not None and p.removesuffix(".md") not in only.split(",")]
nb_execution_timeout = 240
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_render_markdown_format = "myst"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
mathjax_path = "tex-svg.js"
mathjax3_config = {"options": {"enableMenu": False}}

notebooks.build()  # the pages offer them for download

# Gallery: the scripts run in a copy of examples/, because some of them save files
EXAMPLES = HERE / "_build" / "examples"
gallery.build(EXAMPLES)
sphinx_gallery_conf = {
    "examples_dirs": "_build/examples",
    "gallery_dirs": "gallery",
    "subsection_order": [f"_build/examples/{folder}" for folder in gallery.GROUPS],
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
    "filename_pattern": r"\.py$",
    "plot_gallery": only is None or "gallery" in only.split(","),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # running times are not shown
    "write_computation_times": False,
    "parallel": 2,
}

# API reference
autosummary_generate = True
sphinx.ext.autosummary.WELL_KNOWN_ABBREVIATIONS += ("d.c.", "s.t.")  # they do not end a sentence
autosummary_context = {"listing": api.listing()}
shutil.rmtree(HERE / "api", ignore_errors=True)  # autosummary reads its old pages too, of renamed modules among them
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("Vector", "Matrix", "Index", "Array")}
TypeAliasForwardRef.__repr__ = lambda self: self.name  # Sphinx shows TypeAliasForwardRef('Vector') inside a tuple
add_module_names = False
default_role = "py:obj"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_aliases = api.XREF_ALIASES
numpydoc_xref_ignore = api.XREF_IGNORE
suppress_warnings = ["ref.python"]  # some class names occur in two modules
intersphinx_mapping = inventories.intersphinx_mapping(HERE / "_build" / "inventories")
intersphinx_timeout = 5


SCRIPTS = {
    "moving-picture": ("mm.js", "contours.js", "moving-picture.js"),
    "moving-loadings": ("loadings.js",),
    "whole-method": ("sparse-eigen.js", "whole-method.js"),
}
"""The scripts of _static that a page loads if it has an element of this class."""


def copy_mathjax(app: object, error: Exception | None) -> None:
    """Copy MathJax from the installed package, so that pages load nothing from other servers."""
    if error is None and app.builder.format == "html":  # type: ignore[attr-defined]
        files = importlib.metadata.files("sphinx-mathjax-offline") or []
        mathjax = next(Path(str(file.locate())) for file in files if file.name == "tex-svg.js")
        shutil.copyfile(mathjax, Path(app.outdir) / "_static" / "tex-svg.js")  # type: ignore[attr-defined]


def finish_page(app: object, page: str, template: str, context: dict[str, str], doctree: object) -> None:
    """Set ρ̃ in code, and load the scripts of the moving pictures on the pages that have one."""
    if "body" in context:
        context["body"] = prose.overlaid_tildes(context["body"])
    for kind, scripts in SCRIPTS.items():
        if f'class="{kind}"' in context.get("body", ""):
            for script in scripts:
                app.add_js_file(script)  # type: ignore[attr-defined]


def add_links(app: object, docname: str, source: list[str]) -> None:
    """Add links and cited equations to the Markdown pages."""
    if (HERE / f"{docname}.md").exists():
        source[0] = prose.with_links(docname, shelves.with_sentences(docname, source[0]))


def shorten_code(app: object, doctree: nodes.document) -> None:
    """Show functions that a page includes from the package without their docstrings."""
    for block in doctree.findall(nodes.literal_block):
        if str(block.get("source", "")).endswith(".py"):
            block.rawsource = included_code.without_docstring(block.astext())
            block.children = [nodes.Text(block.rawsource)]


def outdated(app: object, env: object, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Read the equation index again at every build, because its links depend on the package."""
    return ["equation-index"]


def open_cache(app: object) -> None:
    """Create the cache of executed pages before two processes both try to."""
    from jupyter_cache import get_cache

    get_cache(Path(app.outdir).parent / ".jupyter_cache").list_cache_records()  # type: ignore[attr-defined]


def setup(app: object) -> None:
    """Connect the functions above."""
    app.connect("builder-inited", open_cache)  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", api.escape_docstring, priority=400)  # type: ignore[attr-defined]
    app.connect("autodoc-process-signature", api.plain_factory)  # type: ignore[attr-defined]
    app.connect("env-get-outdated", outdated)  # type: ignore[attr-defined]
    app.connect("html-page-context", finish_page)  # type: ignore[attr-defined]
    app.connect("doctree-read", shorten_code)  # type: ignore[attr-defined]
    app.connect("source-read", add_links)  # type: ignore[attr-defined]
    app.connect("build-finished", copy_mathjax)  # type: ignore[attr-defined]
