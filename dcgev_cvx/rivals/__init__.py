"""The paper's rivals on sparse PCA, each from its own published formula: rival(pencil, k) → Solution (Section 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..solutions import Solution
from .dspca import dspca
from .gpower import gpower
from .greedy import greedy
from .gspca import gspca
from .scotlass import scotlass
from .spca import spca

RIVALS: Mapping[str, Callable[..., Solution]] = MappingProxyType(
    {"scotlass": scotlass, "spca": spca, "dspca": dspca, "gspca": gspca, "greedy": greedy, "gpower": gpower}
)
"""Every rival by name, in the order of the paper."""

__all__ = ["RIVALS", "dspca", "gpower", "greedy", "gspca", "scotlass", "spca"]
