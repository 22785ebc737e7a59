"""Every public function and class is documented as numpydoc's validator wants it."""

import importlib
import inspect
from enum import Enum

import pytest
from numpydoc.validate import validate

import dcgev_cvx
from dcgev_cvx import models

CHECKS = {"GL08", "RT01", "PR01", "PR02", "PR03", "PR04", "SS03", "EX01"}
MODULES = ["steps", "relaxations", "exact", "rivals", "verify", "teach", "datasets", "plotting"]


def public() -> list[str]:
    """The dotted homes of the package's public functions and classes, as far as they have parameters."""
    found = {f"dcgev_cvx.{name}": getattr(dcgev_cvx, name) for name in dcgev_cvx.__all__}
    for module in MODULES:
        room = importlib.import_module(f"dcgev_cvx.{module}")
        found |= {f"dcgev_cvx.{module}.{name}": getattr(room, name) for name in room.__all__}
    kinds = {name: item for name, item in found.items() if inspect.isfunction(item) or inspect.isclass(item)}
    return sorted({f"{i.__module__}.{i.__qualname__}" for i in kinds.values() if not takes_no_parameters(i)})


def takes_no_parameters(item: object) -> bool:
    """Exceptions, enums and protocols are not called with parameters of their own."""
    return inspect.isclass(item) and (issubclass(item, (Exception, Enum)) or getattr(item, "_is_protocol", False))


@pytest.mark.parametrize("name", models.__all__)
def test_models_have_a_summary_and_a_formula(name):
    """Their letters are explained once, at the top of the file, so that each problem stays in sight."""
    found = validate(f"dcgev_cvx.models.{name}")
    assert not {code for code, _ in found["errors"]} & {"GL08", "SS03"}
    assert name == "show" or ".. math::" in found["docstring"]


@pytest.mark.parametrize("name", public())
def test_the_validator_has_no_complaint(name):
    problems = {code: text for code, text in validate(name)["errors"] if code in CHECKS}
    assert not problems
