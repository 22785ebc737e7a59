"""The pencils of the library of instances: where each comes from, and for which k it is an instance."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from ..pencils import Pencil
from . import integer_pencils as recipes
from .known_answers import pitprops
from .public_matrices import cory_wright, gene_scores, li_xie, sklearn_data

CountOrCounts: TypeAlias = int | tuple[int, ...]
Family: TypeAlias = Literal["pca", "cca", "fda", "indefinite", "ill-conditioned", "ties"]

OWN = "Apache-2.0 (made by a recipe of this package)"
MIT = "MIT (downloaded, not part of the package)"
BSD = "BSD-3-Clause (comes with scikit-learn)"
SKLEARN = "scikit-learn"
LI_XIE = "Li and Xie, INFORMS J. Comput. 2024"
CORY_WRIGHT = "Cory-Wright and Pauphilet, Sparse PCA with multiple components"
VIEW_RIDGE = 1.0 / 16.0
"""Of data that are split into views."""


@dataclass(frozen=True)
class Source:
    """A pencil of the library: how it is made, and its values of k.

    `needs` is "" for a recipe, the name of a file to download, or "scikit-learn".
    """

    name: str
    family: Family
    origin: str
    licence: str
    ks: tuple[CountOrCounts, ...]
    build: Callable[[], Pencil]
    needs: str = ""


def pencil_sources() -> Iterator[Source]:
    """Every pencil."""
    ks = (4, 5, 6, 7, 8, 9, 10)
    yield Source("pitprops", "pca", "correlations of Jeffers (1967)", "facts", ks, pitprops)
    yield from published_covariances()
    yield from published_correlations()
    yield from covariance_halves()
    yield from sklearn_views()
    yield from sklearn_scores()
    yield from genes()
    yield from factors()
    yield from indefinite_and_singular()
    yield from graphs()


def published_covariances() -> Iterator[Source]:
    """Li and Xie's covariances."""
    few, some, many = (5, 10), (5, 15), (10, 20)
    ks = {"housing": few, "keggdirected": some, "pol": some, "wdbc": some, "dermatology": some, "spambase": many}
    ks |= {"digits": many, "buzz": many, "Eisen1": many, "song": many, "Eisen2": many, "gas": (5, 10, 15, 20)}
    for name, of in ks.items():
        yield Source(
            name.lower(),
            "pca",
            f"covariance {name}, {LI_XIE}",
            MIT,
            of,
            partial(covariance_pencil, name),
            f"{name}.csv",
        )


def published_correlations() -> Iterator[Source]:
    """Cory-Wright and Pauphilet's correlations."""
    tables = {"ionosphere": "normionosphere", "lung": "normlung", "geography": "normGeographic", "gait": "normgait"}
    tables |= {"communities": "normCommunities", "voice": "normvoice", "gastro": "normgastro"}
    tables |= {"arrhythmia": "arrhythmia"}  # its correlations have entries that are not numbers
    for name, of in tables.items():
        slug, origin = f"{name}-correlations", f"correlations {name}, {CORY_WRIGHT}"
        yield Source(slug, "pca", origin, MIT, (5, 10, 20), partial(correlation_table, name, of), f"{name}.jld")


def covariance_halves() -> Iterator[Source]:
    """Sparse CCA: the correlations of Li and Xie in two halves."""
    for name in ("pol", "wdbc", "dermatology", "spambase", "digits", "buzz", "Eisen1", "song", "Eisen2", "gas"):
        slug, origin = f"{name.lower()}-halves", f"two halves of the correlations {name}, {LI_XIE}"
        yield Source(slug, "cca", origin, MIT, ((5, 5), (10, 10)), partial(two_halves, name), f"{name}.csv")


def sklearn_views() -> Iterator[Source]:
    """Sparse CCA of data that come with scikit-learn."""
    ks = ((1, 1, 1), (2, 2, 2), (4, 4, 4))
    origin = "means, errors and extremes of the breast cancer data of scikit-learn"
    yield Source("breast-cancer-views", "cca", origin, BSD, ks, cancer_views, SKLEARN)
    origin = "left and right halves of the digits of scikit-learn"
    yield Source("digits-views", "cca", origin, BSD, ((4, 4), (8, 8)), digit_views, SKLEARN)


def sklearn_scores() -> Iterator[Source]:
    """PCA, and FDA of the first class against the others."""
    for name, ks in {"wine": (3, 6), "breast_cancer": (4, 8, 12), "digits": (8, 16)}.items():
        slug, origin = name.replace("_", "-"), f"{name} data of scikit-learn, standardised"
        yield Source(f"{slug}-scores", "pca", origin, BSD, ks, partial(sklearn_covariance, name), SKLEARN)
        yield Source(f"{slug}-classes", "fda", origin, BSD, ks, partial(first_class, name), SKLEARN)


def genes() -> Iterator[Source]:
    """The genes of largest variance, standardised."""
    for name, n, file in (("colon", 500, "Colon.rda"), ("colon", 2000, "Colon.rda"), ("leukemia", 1000, "golub.RData")):
        licence = "GPL ≥ 2 (downloaded, not part of the package)" if name == "colon" else MIT
        origin = f"the {n} genes of largest variance of the {name} data, standardised"
        yield Source(f"{name}-{n}", "pca", origin, licence, (5, 10), partial(gene_covariance, name, n), file)


def factors() -> Iterator[Source]:
    """PCA, CCA and FDA of noise, with and without a sparse factor."""
    sizes_of_noise = {(20, 80): (4, 6), (30, 60): (5, 10), (60, 120): (5, 10), (100, 400): (5, 10)}
    sizes_of_noise |= {(100, 50): (5, 10), (200, 100): (5, 10)}  # of low rank
    for (n, m), ks in sizes_of_noise.items():
        origin = f"the covariance of {m} samples of noise"
        yield Source(f"noise-{n}-{m}", "pca", origin, OWN, ks, partial(recipes.noise, n, m, n + m))
    for n, k, m in ((40, 5, 80), (100, 5, 100), (200, 8, 200), (500, 10, 300), (1000, 10, 400), (2000, 10, 500)):
        origin = f"{m} samples of noise with one factor on {k} variables"
        yield Source(f"factor-{n}", "pca", origin, OWN, (k, k + 3), partial(recipes.one_factor, n, k, m, n))
    for seed, (sizes, k) in enumerate({(8, 8): 2, (15, 15): 3, (25, 25): 4, (40, 60): 5, (100, 100): 5}.items()):
        origin, m = "noise with a factor that both views share", 3 * sum(sizes)
        build = partial(recipes.shared_factor, sizes, k, m, seed, VIEW_RIDGE)
        yield Source(f"views-{sizes[0]}-{sizes[1]}", "cca", origin, OWN, ((k, k), (k, 2 * k)), build)
    build = partial(recipes.shared_factor, (10, 10, 10, 10), 2, 90, 50, VIEW_RIDGE)
    origin = "noise with a factor that four views share"
    yield Source("views-10-10-10-10", "cca", origin, OWN, ((2, 2, 2, 2), (1, 2, 3, 4)), build)
    for n, k, m in ((20, 3, 60), (40, 4, 80), (80, 5, 160), (150, 6, 300)):
        origin = f"two classes whose means differ in {k} of {n} variables"
        yield Source(f"classes-{n}", "fda", origin, OWN, (k, k + 3), partial(recipes.shifted_classes, n, k, m, n))


def indefinite_and_singular() -> Iterator[Source]:
    """A with eigenvalues of both signs, and B nearly singular."""
    for n in (16, 30, 60, 100):
        origin = "a symmetric matrix of noise"
        yield Source(f"symmetric-{n}", "indefinite", origin, OWN, (4, 8), partial(recipes.symmetric_noise, n, n))
        build = partial(recipes.symmetric_noise, n, n + 1, metric=True)
        yield Source(f"symmetric-metric-{n}", "indefinite", f"{origin}, B a covariance", OWN, (4, 8), build)
    for n, power in ((15, 8), (20, 16), (30, 24), (50, 16), (80, 12)):
        build = partial(recipes.nearly_singular, n, n // 2, power, n)
        yield Source(f"singular-{n}", "ill-conditioned", f"B of rank {n // 2} plus 2⁻{power}·I", OWN, (3, 6), build)


def graphs() -> Iterator[Source]:
    """Matrices with so many symmetries that many supports share the optimum."""
    for q in (13, 17, 29, 37, 61):
        yield Source(f"paley-{q}", "ties", f"the Paley graph on {q} vertices", OWN, (4, 6), partial(recipes.paley, q))
    for d in (4, 5, 6):
        yield Source(
            f"cube-{d}", "ties", f"the graph of the {d}-dimensional cube", OWN, (4, 7), partial(recipes.cube, d)
        )
    for groups, size in ((4, 5), (5, 12)):
        build, origin = partial(recipes.alike, groups, size), f"{groups} groups of {size} variables, all alike"
        yield Source(f"alike-{groups}-{size}", "ties", origin, OWN, (size - 2, size + 1), build)


# Pencils of data


def covariance_pencil(name: str) -> Pencil:
    """A covariance of Li and Xie."""
    return Pencil(li_xie(name))


def correlation_table(name: str, table: str) -> Pencil:
    """A table of correlations of Cory-Wright and Pauphilet, or those of a table of covariances."""
    matrix = cory_wright(name, table)
    return Pencil(recipes.correlations(matrix) if table == name else matrix)


def two_halves(name: str) -> Pencil:
    """CCA of the first and the second half of the variables that vary."""
    R = recipes.correlations(li_xie(name))
    first = len(R) // 2
    return recipes.split_views(R, (first, len(R) - first), VIEW_RIDGE)


def cancer_views() -> Pencil:
    """CCA of three views of ten columns."""
    return recipes.across_views(np.split(recipes.whole_scores(sklearn_data("breast_cancer")[0]), 3, axis=1), VIEW_RIDGE)


def digit_views() -> Pencil:
    """CCA of the left and the right columns of the images, without pixels that never vary."""
    X = sklearn_data("digits")[0].reshape(-1, 8, 8)
    left, right = (recipes.whole_scores(half.reshape(len(X), -1)) for half in (X[:, :, :4], X[:, :, 4:]))
    return recipes.across_views([left, right], VIEW_RIDGE)


def sklearn_covariance(name: str) -> Pencil:
    """PCA of a data set."""
    return Pencil(recipes.gram(recipes.whole_scores(sklearn_data(name)[0])))


def first_class(name: str) -> Pencil:
    """FDA of the first class against the others."""
    X, y = sklearn_data(name)
    return recipes.class_pencil(recipes.whole_scores(X), y != y.min(), VIEW_RIDGE)


def gene_covariance(name: str, n: int) -> Pencil:
    """PCA of the genes of largest variance."""
    return Pencil(recipes.gram(gene_scores(name, n)))
