"""The scripts of the paper can be imported, as `python examples/paper` imports them."""

import sys
from pathlib import Path

import pytest

PAPER = Path(__file__).parents[2] / "examples" / "paper"
sys.path.append(str(PAPER))


@pytest.fixture(scope="session")
def paper_scripts():
    return PAPER


@pytest.fixture(scope="session")
def corpus():
    from dcgev_cvx.datasets import planted_translations

    return planted_translations(documents=150, rng=0)


@pytest.fixture(scope="session")
def halves(corpus):
    return corpus.split(100, 50, seed=1)


@pytest.fixture(scope="session")
def views(halves):
    from retrieval import kernel_views

    return kernel_views(halves[0])


@pytest.fixture(scope="session")
def components(views):
    from retrieval import sparse_cca

    return sparse_cca(*views, 8, zeros=0.85)
