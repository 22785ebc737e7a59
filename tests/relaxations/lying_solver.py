"""A solver whose answer is spoilt after it was found."""

import numpy as np
import pytest

from dcgev_cvx.relaxations import entrywise_sdp, homogeneous_sdp, literal_dual, literal_sdp, penalized_sdp, radius_for
from dcgev_cvx.steps import backend

FAULTS = {
    "random": lambda v: np.random.default_rng(np.size(v)).standard_normal(np.shape(v)),
    "nan": lambda v: np.full(np.shape(v), np.nan),
    "inf": lambda v: np.full(np.shape(v), np.inf),
    "zeros": lambda v: np.zeros(np.shape(v)),
    "huge": lambda v: 1e200 * np.asarray(v),
    "tiny": lambda v: 1e-200 * np.asarray(v),
    "sign": lambda v: -np.asarray(v),
    "single": lambda v: np.asarray(v, dtype=np.float32).astype(np.float64),
    "shape": lambda v: np.zeros(3),
    "none": lambda v: None,
}
ODD = {
    "complex": lambda v: np.asarray(v) * (1.0 + 1.0j),
    "largest": lambda v: np.full(np.shape(v), 1.7e308),
    "one": lambda v: 3.0,
}
"""Complex numbers, infinite products, a number for an array."""
FAST = ("random", "nan", "sign", "none")
EVERY_FAULT = [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in (*FAULTS, *ODD)]
"""The names of all faults, of which the fast tests try four."""
SDPS = {
    "homogeneous": lambda pencil, k: homogeneous_sdp(pencil, k),
    "entrywise": lambda pencil, k: entrywise_sdp(pencil, radius_for(pencil, k, "valid")),
    "penalised": lambda pencil, k: penalized_sdp(pencil, 0.1),
    "literal": lambda pencil, k: literal_sdp(pencil, float(k)),
    "literal dual": lambda pencil, k: literal_dual(pencil, float(k)),
}


def lie(monkeypatch, spoil):
    """Let spoil(problem) change what the solver left in the problem."""
    honest = backend.attempt

    def lying(problem, name, options, *, unfinished=False):
        out = honest(problem, name, options, unfinished=unfinished)
        spoil(problem)
        return out

    monkeypatch.setattr("dcgev_cvx.relaxations.solving.attempt", lying)
