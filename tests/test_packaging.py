"""The package as it is described: extras, oldest versions, the README's commands, and missing packages."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dcgev_cvx
from dcgev_cvx._numerics.extras import OLDEST_CVXPY

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCES = [file.read_text(encoding="utf-8") for file in (ROOT / "dcgev_cvx").rglob("*.py")]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_extra_that_an_error_names_exists():
    named = {extra for text in SOURCES for extra in re.findall(r"dcgev-cvx\[(\w+)\]|require\([^,()]+, \"(\w+)\"", text)}
    assert {first or second for first, second in named} <= set(PROJECT["optional-dependencies"])


def test_the_oldest_cvxpy_is_the_same_in_the_code_and_in_pyproject():
    names = [line.partition(";")[0] for line in PROJECT["dependencies"]]
    assert {f"cvxpy>={OLDEST_CVXPY}", f"cvxpy-base>={OLDEST_CVXPY}"} <= set(names)


@pytest.mark.parametrize(("heading", "last"), [("Run", ".venv/bin/dcgev compare"), ("Test", ".venv/bin/pytest -q")])
def test_the_first_block_under_the_heading_is_one_command(heading, last):
    block = README.split(f"\n## {heading}\n")[1].split("```sh\n")[1].split("```")[0]
    assert len(block.splitlines()) == 1
    assert block.startswith("python3 -m venv .venv && ")
    assert block.endswith(f" && {last}\n")


@pytest.mark.parametrize(
    ("hidden", "command", "remedy"),
    [
        ("matplotlib", "path pitprops --plot path.png", "pip install 'dcgev-cvx[plot]'"),
        ("joblib", "study gaussian --n 8 -k 2 --jobs 2", "pip install 'dcgev-cvx[study]'"),
        ("marimo", "lab step", "pip install 'dcgev-cvx[lab]'"),
        ("ecos", "solve pitprops --rho 4.84 --solver ecos", "pip install ecos"),
    ],
)
def test_a_missing_package_is_one_sentence_and_exit_code_2(tmp_path, hidden, command, remedy):
    done = dcgev(f"import sys; sys.modules[{hidden!r}] = None", command, tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert remedy in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_old_cvxpy_is_one_sentence_and_exit_code_2(tmp_path):
    (tmp_path / "cvxpy-1.6.5.dist-info").mkdir()
    (tmp_path / "cvxpy-1.6.5.dist-info" / "METADATA").write_text("Name: cvxpy\nVersion: 1.6.5\n", encoding="utf-8")
    done = dcgev("pass", "compare", tmp_path)  # Python looks into the current folder first
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "dcgev: dcgev-cvx needs cvxpy 1.7 or newer, got 1.6.5: pip install 'cvxpy>=1.7'.\n"


def test_estimators_without_scikit_learn_name_the_extra(tmp_path):
    code = "import sys; sys.modules['sklearn'] = None; import dcgev_cvx; dcgev_cvx.DCPCA"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "MissingPackage" in done.stderr
    assert "pip install 'dcgev-cvx[estimators]'" in done.stderr


def dcgev(prelude, command, folder):
    """One command in a new process, after some Python."""
    code = f"{prelude}; from dcgev_cvx.cli import main; raise SystemExit(main({command.split()!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)


def test_the_version_is_stated_once():
    assert "version" in PROJECT["dynamic"]
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{dcgev_cvx.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_conda_recipe_asks_for_what_pyproject_asks_for():
    recipe = (ROOT / "conda-recipe" / "recipe.yaml").read_text(encoding="utf-8")
    core = {line.partition(";")[0].strip() for line in PROJECT["dependencies"]} - {f"cvxpy-base>={OLDEST_CVXPY}"}
    core = {line for line in core if not line.startswith("ecos")}  # not on conda-forge for every platform
    asked = recipe.split("\n  run:\n")[1].split("\ntests:")[0].replace(" >=", ">=")
    assert core <= {line.removeprefix("    - ") for line in asked.splitlines()}
    assert f'version: "{dcgev_cvx.__version__}"' in recipe
    assert f'python_min: "{PROJECT["requires-python"].removeprefix(">=")}"' in recipe
