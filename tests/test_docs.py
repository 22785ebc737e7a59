"""The documents say nothing that the code does not do: names resolve, equations are all there, snippets run."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

# every \tag and every \label{Eq:...} of the paper, its two algorithms and the proposition that is code
LISTED = """
GEV-P SGEV-P SGEV-R SGEV-A ALG DC DC-ALG ALG-S EV-P
Eq:eig Eq:correlation Eq:CCA Eq:FDA Eq:approx Eq:Sparse-lifting-GEV Eq:Sparse-sdp-GEV Eq:lim-cardinality
Eq:GEV-sparse-mod-1 Eq:GEV-sparse-approx-1 Eq:question Eq:tau Eq:tau-1 Eq:maj-step Eq:min-step Eq:sandwich
Eq:auxiliary-dc Eq:example Eq:strictdescent Eq:f Eq:majorize-f Eq:log Eq:difftau Eq:weighted Eq:weighted-algo
Eq:weighted-nonzero-algo Eq:proof Eq:slackness Eq:power-generalize Eq:power Eq:scotlass-regularized Eq:scot
Eq:scotl Eq:ridge Eq:EN-SPCA Eq:spcacompare Eq:app Eq:journee Eq:gevrankone Eq:gevmin Eq:sparsefda
Eq:generalgevmin Eq:fdastudent Eq:fdaiterative Eq:appendix-L1 Eq:Lagrangian-dual Eq:appendix-dual Eq:indicator
Eq:qcqp-0 Eq:simpleiterative Eq:lagrange-c Eq:x_i Eq:x_i-final
"""
TAGS = (*LISTED.split(), "Algorithm 1", "Algorithm 2", "variational renormalization")


def table_rows(columns):
    """The cells of every table row with so many columns, headings left out."""
    lines = (DOCS / "equation-index.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines if line.startswith("|")]
    return [
        row for row in rows if len(row) == columns and not set(row[0]) <= {"-"} and row[1] not in ("says", "code")
    ]


EQUATIONS = {row[0]: row for row in table_rows(4)}


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


@pytest.mark.parametrize("tag", TAGS)
def test_every_equation_of_the_paper_is_listed_and_its_code_carries_its_tag(tag):
    _, _, code, test = EQUATIONS[tag]
    if code.startswith("see "):
        assert code.removeprefix("see ") in EQUATIONS
    elif not code.startswith("no code: "):
        assert names_in(code), f"{tag} names no code"
        assert names_in(test), f"{tag} names no test"
        for name in names_in(code):
            assert carries(inspect.getdoc(resolve(name)) or "", tag), f"the docstring of {name} lacks {tag}"


def test_nothing_is_listed_that_the_paper_does_not_have():
    assert set(EQUATIONS) == set(TAGS)


@pytest.mark.parametrize("row", table_rows(3), ids=lambda row: row[1].strip("`"))
def test_what_is_beyond_the_paper_exists(row):
    for name in names_in(row[1]):
        assert inspect.getdoc(resolve(name))


@pytest.mark.parametrize(
    "reference", sorted({name for row in [*table_rows(4), *table_rows(3)] for name in names_in(row[-1])})
)
def test_every_test_named_exists(reference):
    file, _, name = reference.partition("::")
    text = (ROOT / "tests" / file).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in text


def snippets():
    """Every python block in the README and the docs, with the text block right below it: what it prints."""
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]:
        pattern = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?"
        blocks = re.findall(pattern, path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for number, (code, printed) in enumerate(blocks, 1):
            yield pytest.param(code, printed, id=f"{path.name}-{number}")


@pytest.mark.parametrize(("code", "printed"), list(snippets()))
def test_snippets_run_and_print_what_stands_below_them(code, printed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})
    assert not printed or capsys.readouterr().out == printed


def test_links_between_documents_lead_somewhere():
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        if "_build" in path.parts:
            continue
        prose = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#\s]+)", prose):
            assert target.startswith("https://") or (path.parent / target).exists(), f"{path.name}: {target}"


def test_run_and_test_blocks_stand_where_a_newcomer_looks():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for heading, last in (("## Run", ".venv/bin/dcgev "), ("## Test", ".venv/bin/pytest")):
        section = text.split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]
        block = re.findall(r"^```sh\n(.*?)^```", section, flags=re.DOTALL | re.MULTILINE)[0]
        lines = block.strip().splitlines()
        assert lines[0] == "python3 -m venv .venv"
        assert lines[-1].startswith(last)


def test_the_changelog_and_the_citation_name_this_version():
    from dcgev_cvx import __version__

    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_changelog_names_every_public_name():
    import dcgev_cvx

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [name for name in dcgev_cvx.__all__ if not re.search(rf"\b{name}\b", text)] == []
