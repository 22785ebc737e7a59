"""The labs can run in Pyodide: its packages suffice, no process and no thread is needed, marimo finds no fault."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = "MB,MR,MF,MW"  # MW: WebAssembly, off by default
LABS = sorted((ROOT / "examples" / "lab").glob("*.py"))
PYODIDE = {"numpy", "scipy", "cvxpy-base", "clarabel", "lazy-loader", "rich", "threadpoolctl"}
"""What Pyodide's recipes have of the package's requirements."""

pytest.importorskip("marimo", reason="NO LAB TEST: marimo is not installed (pip install '.[lab]')")


def run(*words):
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, encoding="utf-8")


def test_in_pyodide_the_package_requires_only_what_is_there():
    requirement = pytest.importorskip("packaging.requirements").Requirement
    place = {"sys_platform": "emscripten", "platform_machine": "wasm32", "python_version": "3.14", "extra": ""}
    lines = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    asked = [requirement(line) for line in lines]
    assert {r.name for r in asked if r.marker is None or r.marker.evaluate(place)} == PYODIDE
    here = {**place, "sys_platform": "linux", "platform_machine": "x86_64", "python_version": "3.12"}
    assert {"cvxpy", "scs", "osqp"} <= {r.name for r in asked if r.marker is None or r.marker.evaluate(here)}


def test_every_lab_runs_with_the_packages_of_pyodide_alone_and_starts_no_process():
    done = run(Path(__file__).with_name("pyodide_stub.py"), *LABS)
    assert done.returncode == 0, done.stderr[-2000:]
    assert all(lab.name in done.stdout for lab in LABS)
    assert "loaded []" in done.stdout


def test_the_stand_in_for_pyodide_refuses_what_is_not_there(tmp_path):
    for line, words in {
        "import numba": "not in Pyodide",
        "import scs": "not in Pyodide",
        "import subprocess, sys; subprocess.run([sys.executable, '-V'])": "can't start",
        "import threading; threading.Thread(target=print).start()": "can't start",
    }.items():
        script = tmp_path / "script.py"
        script.write_text(line, encoding="utf-8")
        done = run(Path(__file__).with_name("pyodide_stub.py"), script)
        assert done.returncode == 1
        assert words in done.stderr or "No module named" in done.stderr


def test_marimo_finds_no_fault_for_webassembly_in_the_labs(tmp_path):
    assert run("-m", "marimo", "check", "--strict", "--select", RULES, *LABS).returncode == 0
    bad = tmp_path / "bad.py"
    bad.write_text(
        LABS[0].read_text(encoding="utf-8").replace("import numpy as np", "import subprocess"), encoding="utf-8"
    )
    assert run("-m", "marimo", "check", "--strict", "--select", RULES, bad).returncode == 1
