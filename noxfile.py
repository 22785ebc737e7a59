#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9", "uv"]
# ///
"""Test sessions: `nox -l` lists them, `nox -s tests-3.12` runs one. Install the tools with `pip install nox uv`."""

from __future__ import annotations

from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False

PYTHONS = nox.project.python_versions(nox.project.load_toml("pyproject.toml"))
CVXPYS = ["1.7", "1.8", "1.9"]
SMALL = ["tests/test_models.py", "tests/steps", "tests/relaxations", "tests/test_algorithms.py"]
WITHOUT_NUMBA = ["tests/_numerics", "tests/steps", "tests/test_algorithms.py", "tests/search", "tests/verify"]
COMMANDS = (
    "compare",
    "solve pitprops -k 4",
    "solve pitprops --rho 4.84",
    "path pitprops",
    f"verify {Path('tests/verify/package_solvers.py').resolve()}:qcqp_step --level step",
    "vectors export vectors --level step",
    "study gaussian --n 8 -k 2 --seeds 2",
    "library list --offline",
)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests on every supported Python that is installed."""
    session.install(".[test]")
    session.run("pytest", "-q", "-m", "", *session.posargs)


@nox.session(default=False)
def lowest(session: nox.Session) -> None:
    """All tests with the oldest supported versions of the direct dependencies."""
    session.install("--resolution", "lowest-direct", ".[test]")
    session.run("pytest", "-q", "-m", "", *session.posargs)


@nox.session(default=False)
def newest(session: nox.Session) -> None:
    """All tests with pre-releases of every dependency."""
    session.install("--upgrade", "--prerelease", "allow", ".[test]")
    session.run("pytest", "-q", "-m", "", *session.posargs)


@nox.session(default=False)
@nox.parametrize("cvxpy", CVXPYS)
def cvxpy(session: nox.Session, cvxpy: str) -> None:
    """The models, steps, relaxations and algorithms with one CVXPY."""
    session.install(".[test]", f"cvxpy~={cvxpy}.0")
    session.run("pytest", "-q", "-m", "", *(session.posargs or SMALL))


@nox.session(default=False)
def without_numba(session: nox.Session) -> None:
    """The steps, algorithms, search and verification in plain NumPy."""
    session.install(".[test]")
    session.run_install("uv", "pip", "uninstall", "numba")
    session.run("pytest", "-q", "-m", "", *(session.posargs or WITHOUT_NUMBA))


@nox.session(default=False)
def core(session: nox.Session) -> None:
    """The commands without any extra."""
    session.install(".")
    session.chdir(session.create_tmp())
    for command in COMMANDS:
        session.run("dcgev", *command.split())


@nox.session
def lint(session: nox.Session) -> None:
    """Linter, formatter and type checker."""
    session.install(".[test,lab]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("pyright")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """The website, every page executed, warnings as errors."""
    session.install(".[docs]")
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-j", "2", "-b", "html", "docs", "docs/_build/html")


@nox.session(default=False)
def package(session: nox.Session) -> None:
    """The wheel and the source archive, and what reviewers of packages check."""
    session.install("build", "check-wheel-contents", "pyroma", "twine")
    session.install("sp-repo-review[cli]", "validate-pyproject[all]")
    folder = Path(session.create_tmp()) / "dist"
    session.run("python", "-m", "build", "--outdir", str(folder), ".")
    archives = [str(file) for file in sorted(folder.iterdir())]
    session.run("twine", "check", "--strict", *archives)
    session.run("check-wheel-contents", *(name for name in archives if name.endswith(".whl")))
    session.run("validate-pyproject", "pyproject.toml")
    session.run("pyroma", "--min", "10", ".")
    session.run("sp-repo-review", ".")


if __name__ == "__main__":
    nox.main()
