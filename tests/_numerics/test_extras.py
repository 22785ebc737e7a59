"""Optional packages are imported on use; a missing one is named with the command that installs it."""

import json

import pytest

from dcgev_cvx import MissingPackage
from dcgev_cvx._numerics.extras import require


def test_an_installed_package_is_returned():
    assert require("json", "reproduce") is json


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    with pytest.raises(MissingPackage, match=r"needs the package absent: pip install 'dcgev-cvx\[reproduce\]'") as e:
        require("absent.part", "reproduce")
    assert e.value.name == "absent"
