"""The documents say nothing that the code does not do: names resolve, equations are all there, snippets run."""

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from dcgev_cvx import models

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FLAGS = re.DOTALL | re.MULTILINE
sys.path.insert(0, str(DOCS / "_tools"))

# the labels of the paper's numbered equations in order, "-" where there is none: the position is the printed number
NUMBERED = """
Eq:eig Eq:correlation Eq:CCA Eq:FDA Eq:approx Eq:Sparse-lifting-GEV Eq:Sparse-sdp-GEV Eq:lim-cardinality
Eq:GEV-sparse-mod-1 Eq:GEV-sparse-approx-1 Eq:question Eq:tau Eq:tau-1 Eq:maj-step Eq:min-step Eq:sandwich
Eq:auxiliary-dc Eq:example Eq:strictdescent Eq:f Eq:majorize-f Eq:log Eq:difftau Eq:weighted Eq:weighted-algo
Eq:weighted-nonzero-algo - Eq:proof Eq:slackness Eq:power-generalize - Eq:power - Eq:scotlass-regularized Eq:scot
Eq:scotl Eq:ridge Eq:EN-SPCA Eq:spcacompare Eq:app - Eq:journee Eq:gevrankone Eq:gevmin Eq:sparsefda -
Eq:generalgevmin Eq:fdastudent Eq:fdaiterative Eq:appendix-L1 - Eq:Lagrangian-dual - - Eq:appendix-dual - - - -
Eq:qcqp-0 Eq:simpleiterative Eq:lagrange-c - - Eq:x_i
"""
UNNUMBERED = ("Eq:indicator", "Eq:x_i-final")
TAGS = ["GEV-P", "SGEV-P", "SGEV-R", "SGEV-A", "ALG", "DC", "DC-ALG", "ALG-S", "EV-P"]
PRINTED = {
    **{f"({i})" if label == "-" else label: f"({i})" for i, label in enumerate(NUMBERED.split(), 1)},
    **{tag: f"({tag})" for tag in TAGS},
    **dict.fromkeys(UNNUMBERED, "–"),
    "Algorithm 1": "Algorithm 1",
    "Algorithm 2": "Algorithm 2",
    "variational renormalization": "Proposition 3",
    "after (7)": "–",
}
"""Every equation of the paper, by its label, tag or number, and how it is numbered in print."""


class Equation(NamedTuple):
    """A row of the index's tables on the paper."""

    number: str
    label: str
    formula: str
    code: str
    test: str
    page: str

    @property
    def key(self):
        return self.label.strip("`") or (self.number if self.number[1].isdigit() else self.number.strip("()"))


class Beyond(NamedTuple):
    """A row of the index's table on what goes beyond the paper."""

    what: str
    code: str
    test: str


def table_rows(kind):
    """The rows of the index that have as many cells as the kind has fields, headings left out."""
    lines = (DOCS / "equation-index.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
    return [kind(*row) for row in rows if len(row) == len(kind._fields) and row[0] not in ("no.", "what", "---")]


EQUATIONS = {row.key: row for row in table_rows(Equation)}
BEYOND = table_rows(Beyond)


def names_in(cell):
    return re.findall(r"`([^`]+)`", cell)


def resolve(name):
    """The module or attribute of dcgev_cvx that a dotted name stands for."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(["dcgev_cvx", *parts[:cut]]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part) if inspect.ismodule(found) else inspect.getattr_static(found, part)
        return found
    raise AssertionError(f"{name} is not in dcgev_cvx")


def carries(text, tag):
    return re.search(rf"(?<![\w-]){re.escape(tag)}(?![\w-])", text, flags=re.IGNORECASE) is not None


@pytest.mark.parametrize("key", PRINTED)
def test_every_equation_of_the_paper_has_its_number_a_formula_and_a_page_that_cites_it(key):
    row = EQUATIONS[key]
    assert row.number == PRINTED[key]
    assert re.search(r"\$[^$]+\$", row.formula), f"{key} has no typeset formula"
    pages = re.findall(r"\]\(([^)#]+)", row.page)
    assert pages, f"{key} names no page"
    for page in pages:
        assert carries((DOCS / page).read_text(encoding="utf-8"), key) or "(" in key, f"{page} does not cite {key}"


@pytest.mark.parametrize("key", PRINTED)
def test_the_code_of_every_equation_carries_its_tag_or_label(key):
    row = EQUATIONS[key]
    if row.code.startswith("see "):
        assert row.code.removeprefix("see ") in EQUATIONS
    elif not row.code.startswith("no code: "):
        assert names_in(row.code), f"{key} names no code"
        assert names_in(row.test), f"{key} names no test"
        for name in names_in(row.code):
            docstring = inspect.getdoc(resolve(name)) or ""
            assert carries(docstring, key) or "(" in key, f"the docstring of {name} lacks {key}"


def test_nothing_is_listed_that_the_paper_does_not_have():
    assert set(EQUATIONS) == set(PRINTED)


def pages():
    return [path for path in DOCS.rglob("*.md") if not {"_build", "api", "gallery"} & set(path.relative_to(DOCS).parts)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_label_that_a_page_cites_is_in_the_index_and_follows_its_number(page):
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=FLAGS)
    for before, label in re.findall(r"(.{0,30})`(Eq:[\w-]+)`", prose, flags=re.DOTALL):
        assert label in EQUATIONS
        number = EQUATIONS[label].number
        assert number == "–" or number in before or page.name == "equation-index.md", f"{label} without its number"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_links_that_the_site_adds_leave_code_and_formulas_alone(page):
    prose = pytest.importorskip("prose")
    text, name = page.read_text(encoding="utf-8"), page.relative_to(DOCS).with_suffix("").as_posix()
    added = prose.with_links(name, text)
    for kept in (r"^```.*?^```$", r"\$\$.*?\$\$", r"^#.*?$"):
        before, after = (re.findall(kept, one, flags=FLAGS) for one in (text, added))
        assert after[: len(before)] == before or name == "equation-index"


def test_every_model_stands_in_the_index():
    listed = {name for row in [*EQUATIONS.values(), *BEYOND] for name in names_in(row.code)}
    assert {f"models.{name}" for name in models.__all__} - {"models.show"} <= listed


@pytest.mark.parametrize("name", sorted(set(models.__all__) - {"show"}))
def test_every_model_has_a_page_with_formula_source_and_printed_problem(name, capsys):
    index = (DOCS / "reference" / "models.md").read_text(encoding="utf-8")
    stem = name.removesuffix("_by_group").replace("_", "-")
    assert f"](models/{stem}.md)" in index
    page = (DOCS / "reference" / "models" / f"{stem}.md").read_text(encoding="utf-8")
    section = page[page.index(f".. autofunction:: dcgev_cvx.models.{name}\n") :]
    assert f":pyobject: {name}\n" in section
    assert ".. math::" in (inspect.getdoc(getattr(models, name)) or "")
    letters = {}
    exec(re.search(r"^```\{code-cell\} python\n(.*?)^problem = ", index, FLAGS)[1], letters)
    code, printed = re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", section, FLAGS).groups()
    assert f"print(models.{name}(" in code
    exec(code, letters)
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("row", BEYOND, ids=lambda row: row.code.strip("`"))
def test_what_is_beyond_the_paper_exists(row):
    for name in names_in(row.code):
        assert inspect.getdoc(resolve(name))


@pytest.mark.parametrize(
    "reference", sorted({name for row in [*EQUATIONS.values(), *BEYOND] for name in names_in(row.test)})
)
def test_every_test_named_exists(reference):
    file, _, name = reference.partition("::")
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in text


def snippets():
    """Every python block in the README and the docs, with the text block right below it: what it prints."""
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]:
        pattern = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?"
        blocks = re.findall(pattern, path.read_text(encoding="utf-8"), flags=FLAGS)
        for number, (code, printed) in enumerate(blocks, 1):
            name = f"{path.name}-{number}"
            slow = name in ("sparse-cca.md-3", "check-my-solver.md-1")
            yield pytest.param(code, printed, id=name, marks=[pytest.mark.slow] * slow)


@pytest.mark.parametrize(("code", "printed"), list(snippets()))
def test_snippets_run_and_print_what_stands_below_them(code, printed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})
    assert not printed or capsys.readouterr().out == printed


def test_a_page_shows_the_code_of_a_function_without_its_docstring():
    included_code = pytest.importorskip("included_code")
    page = "```{literalinclude} ../../dcgev_cvx/models.py\n:pyobject: linear\n:language: python\n```"
    shown = included_code.with_included_code(page)
    assert shown.startswith("```python\ndef linear(c: Array")
    assert '"""' not in shown
    assert "cp.Maximize(" in shown


def test_the_tilde_of_rho_is_laid_over_the_letter_in_code_alone():
    prose = pytest.importorskip("prose")
    mark = '<span class="tilde">ρ<span>\u0303</span></span>'
    assert prose.overlaid_tildes("<pre>a ρ\u0303 b</pre> ρ\u0303") == f"<pre>a {mark} b</pre> ρ\u0303"


def imports_on_pages():
    """Every line of a code cell that imports from the package; the cells themselves run when the site is built."""
    pages = [path for path in DOCS.rglob("*.md") if not {"_build", "api", "gallery"} & set(path.parts)]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    cells = re.findall(r"^```\{code-cell\}.*?^```", text, flags=FLAGS)
    return sorted({line for cell in cells for line in re.findall(r"^from dcgev_cvx.* import .*$", cell, re.MULTILINE)})


@pytest.mark.parametrize("line", imports_on_pages())
def test_the_imports_of_executed_pages_work(line):
    exec(line, {})


def test_links_between_documents_lead_somewhere():
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        if {"_build", "_data"} & set(path.parts):
            continue
        prose = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=FLAGS)
        for target in re.findall(r"\]\(([^)#\s]+)", prose):
            assert target.startswith("https://") or (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_groups_of_the_gallery_name_scripts_that_exist():
    gallery = pytest.importorskip("gallery")
    names = {name for names in gallery.MEMBERS.values() for name in names}
    assert names <= {path.stem for path in gallery.EXAMPLES.glob("*.py")}


def test_every_page_of_an_index_has_a_sentence_there():
    shelves = pytest.importorskip("shelves")
    for index in DOCS.glob("*/index.md"):
        text = index.read_text(encoding="utf-8")
        shown = shelves.with_sentences(index.relative_to(DOCS).with_suffix("").as_posix(), text)
        listed = [block[2].split() for block in shelves.TOCTREE.finditer(text) if ":hidden:" not in block[1]]
        rows = re.findall(r"^- \*\*\[[^\]]+\]\((\S+)\.(?:md|rst)\)\*\*: .{20,}[.!?]$", shown, re.MULTILINE)
        assert rows == [name for names in listed for name in names]
