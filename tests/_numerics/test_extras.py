"""Optional packages are imported on use; a missing one is named with the command that installs it."""

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

from dcgev_cvx import MissingPackage
from dcgev_cvx._numerics.extras import OLDEST_CVXPY, check_cvxpy, require


def test_an_installed_package_is_returned():
    assert require("json", "study") is json


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    with pytest.raises(MissingPackage, match=r"needs the package absent: pip install 'dcgev-cvx\[study\]'") as e:
        require("absent.part", "study")
    assert e.value.name == "absent"


@pytest.mark.parametrize("version", [OLDEST_CVXPY, f"{OLDEST_CVXPY}.0rc1", "1.10.0", "2.0"])
def test_a_recent_cvxpy_is_accepted(monkeypatch, version):
    monkeypatch.setattr("importlib.metadata.version", lambda package: version)
    check_cvxpy()


def test_cvxpy_under_another_name_is_accepted(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda package: version(f"{package}-under-another-name"))
    check_cvxpy()


@pytest.mark.parametrize("version", ["1.6.9", "0.4", "1"])
def test_an_old_cvxpy_is_an_error_with_the_command_that_upgrades_it(monkeypatch, version):
    monkeypatch.setattr("importlib.metadata.version", lambda package: version)
    with pytest.raises(MissingPackage, match=rf"needs cvxpy 1.7 or newer, got {version}: pip install 'cvxpy>=1.7'"):
        check_cvxpy()


@pytest.mark.parametrize(("missing", "n", "lines"), [(True, 200, 1), (True, 199, 0), (False, 200, 0)])
def test_without_numba_one_line_is_logged_once_for_large_problems(missing, n, lines):
    if not missing:
        pytest.importorskip("numba")
    code = f"""
import sys
{'sys.modules["numba"] = None' if missing else ""}
import numpy as np, dcgev_cvx
for _ in range(2):
    dcgev_cvx.sparse_gev(np.diag(np.arange(1.0, {n} + 1.0)), rho=1.0, engine="native")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("numba is not installed; large problems are solved faster with it: pip") == lines
