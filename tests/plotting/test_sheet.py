"""A figure that is drawn again and again, the styles of curves, and what happens without Matplotlib."""

import sys
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from dcgev_cvx import Pencil, SparseGEV, plotting
from dcgev_cvx._numerics.canvas import STYLES
from dcgev_cvx.comparison import Comparison
from dcgev_cvx.errors import MissingPackage

LINE = SparseGEV(Pencil(np.ones((1, 1))), rho=0.5, eps=0.1, tau=3.0)
PLANE = SparseGEV(Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])), rho=0.6, eps=0.1, tau=4.0)


def test_a_sheet_is_drawn_again_and_again():
    """The same picture whatever was drawn before, also after a painter that failed."""
    sheet = plotting.Sheet(4.0, 3.0, (0.5, 0.5, 0.1, 0.2), dpi=50.0)

    def one(figure):
        plotting.plot_majoriser(LINE, [0.3], ax=figure.add_subplot())

    def two(figure):
        plotting.plot_majoriser(PLANE, [0.3, 0.3], ax=figure.subplots(1, 2)[1])
        raise KeyError

    first = sheet(one)
    with pytest.raises(KeyError):
        sheet(two)
    assert sheet(one) == first
    png = b64decode(first.removeprefix("data:image/png;base64,"))
    assert imread(BytesIO(png)).shape == (150, 200, 4)
    left, bottom, right, top = sheet.figure.axes[0].get_position().extents
    assert (4.0 * left, 3.0 * bottom, 4.0 * (1.0 - right), 3.0 * (1.0 - top)) == pytest.approx((0.5, 0.5, 0.1, 0.2))


def test_curves_are_told_apart_without_colour():
    assert len({style[1:] for style in STYLES}) == len(STYLES)
    grey = [np.dot(to_rgb(color), (0.2126, 0.7152, 0.0722)) for color, _, _ in STYLES]
    assert max(grey) < 0.75  # dark enough on white paper


def test_without_matplotlib_the_remedy_is_named(pitprops, result, monkeypatch):
    for name in ("matplotlib.pyplot", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (
        lambda: plotting.Sheet(4.0, 3.0, (0.5, 0.5, 0.1, 0.2)),
        lambda: plotting.plot_sandwich(result),
        lambda: plotting.plot_majoriser(LINE, [0.3]),
        lambda: plotting.plot_loadings(pitprops, result.x),
        lambda: plotting.comparison_plot([Comparison(pitprops, 3, (), 0.0)]),
    ):
        with pytest.raises(MissingPackage, match=r"pip install .dcgev-cvx\[plot\]"):
            draw()
