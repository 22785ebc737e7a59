"""The methods on the pit props: DC-PCA at every cardinality, and the shift after deflation."""

import numpy as np
import pytest
from dcgev_cvx.reproduction.pitprops_methods import (
    CARDINALITIES,
    component_by,
    components_task,
    dc_pca_at,
    semidefinite,
)

from dcgev_cvx import Pencil


def test_dc_pca_at_every_cardinality(pitprops):
    assert [np.count_nonzero(dc_pca_at(pitprops, k)) for k in (1, 4, 6, 12)] == [1, 4, 6, 12]


@pytest.mark.parametrize("method", CARDINALITIES)
def test_every_method_finds_six_loadings(pitprops, method):
    assert np.count_nonzero(component_by(method, pitprops, 6)) == 6


def test_components_have_the_printed_cardinalities():
    found = components_task("GPower", list(CARDINALITIES["GPower"]))
    assert [sum(entry != 0.0 for entry in row) for row in found["loadings"]] == [6, 2, 2, 1, 1, 1]
    assert found["projector"] == sorted(found["projector"])


def test_a_shift_only_where_it_is_needed(pitprops):
    assert semidefinite(pitprops) is pitprops
    shifted = semidefinite(Pencil(np.diag([2.0, -1.0])))
    assert np.linalg.eigvalsh(np.asarray(shifted.A))[0] >= 0.0
