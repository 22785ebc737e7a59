"""DSPCA: a relaxation with the valid radius, rounded."""

import numpy as np
from numpy.testing import assert_allclose

from dcgev_cvx import relaxations, rivals

EXACT = (1.0, 1.9540)


def test_dspca_on_pit_props_is_exact_where_the_relaxation_is_tight(pitprops):
    assert_allclose([rivals.dspca(pitprops, k).value for k in (1, 2)], EXACT, atol=5e-5)


def test_dspca_takes_the_valid_radius(pitprops, monkeypatch):
    """‖x‖₀ ≤ k and ‖x‖₂ = 1 give ‖x‖₁ ≤ √k, not k."""

    class Relaxed:
        X = np.eye(13)

    asked = []
    monkeypatch.setattr(relaxations, "entrywise_sdp", lambda pencil, radius: asked.append(radius) or Relaxed)
    rivals.dspca(pitprops, 4)
    assert asked == [2.0]
