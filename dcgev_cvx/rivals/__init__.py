"""The paper's rivals on sparse PCA, each from its own published formula: rival(pencil, k) → Solution (Section 4).

All take a Pencil with B = I and A ⪰ 0 and return a Solution whose value is computed from the data. Each docstring
says where the method starts, when it stops and how it is brought to k; "renormalized" always means the best loadings
on the support that the method chose.

Examples
--------
>>> from dcgev_cvx import datasets, rivals
>>> pencil = datasets.pitprops()
>>> {name: round(rivals.RIVALS[name](pencil, 3).value, 3) for name in ("gspca", "gpower")}
{'gspca': 2.475, 'gpower': 2.475}
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..solutions import Solution
from .dspca import dspca
from .gpower import gpower
from .gspca import gspca
from .scotlass import scotlass
from .spca import spca, spca_components
from .trimmed import trimmed_dc_pca

RIVALS: Mapping[str, Callable[..., Solution]] = MappingProxyType(
    {"scotlass": scotlass, "spca": spca, "dspca": dspca, "gspca": gspca, "gpower": gpower}
)
"""Every rival by name, in the order of the paper."""

__all__ = ["RIVALS", "dspca", "gpower", "gspca", "scotlass", "spca", "spca_components", "trimmed_dc_pca"]
