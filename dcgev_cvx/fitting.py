"""What the estimators share: scikit-learn's checks of the data, cardinalities per component, seeds, scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from ._numerics.checks import (
    Matrix,
    Vector,
    as_flag,
    as_generator,
    as_real,
    as_whole,
    attribute,
    is_whole,
    listed,
    one_of,
    refuse_objects,
    shown,
)
from ._numerics.samples import Table, frame_values, read_labels, read_table
from .errors import InvalidParameter
from .pencils import Pencil
from .search.deflation import Components, components, rule_of
from .search.supports import EFFORTS


class WrongType(InvalidParameter, TypeError):
    """Data that hold something else than numbers, where scikit-learn's contract asks for a TypeError."""


def checked_X(estimator: Any, X: Any, *, reset: bool, least: int = 2) -> Table:
    """X as scikit-learn accepts it, dense.

    Sparse input is accepted and made dense, since centring would fill it anyway. reset=True records the number
    and names of the columns on the estimator; reset=False compares with them.
    """
    return read_table(validated(estimator, X, reset=reset, ensure_min_samples=least), least=least)


def validated(estimator: Any, *data: Any, **settings: Any) -> Any:
    """scikit-learn's validate_data with our errors, which are the ValueErrors and TypeErrors of its contract too."""
    X, labels = data[0], data[1:]
    refuse_text(X)
    if labels and isinstance(labels[0], np.ma.MaskedArray) and np.ma.is_masked(labels[0]):
        read_labels(labels[0], labels[0].size)  # scikit-learn would read what is under the mask
    try:
        return validate_data(estimator, *data, accept_sparse=["csr", "csc"], dtype=np.float64, **settings)
    except TypeError as cause:
        raise WrongType(f"the data cannot be used: {' '.join(str(cause).split())}") from cause
    except Exception as cause:  # an object's own __array__ may raise anything
        if attribute(X, "iloc") is not None or "Input X contains" in str(cause):
            read_table(X, least=1)  # the columns that are to blame, by name, and how many entries of them
        if "Input y contains" in str(cause):
            read_labels(labels[0], len(labels[0]))  # how many are missing
        why = " ".join(str(cause).split())
        raise InvalidParameter(why if isinstance(cause, ValueError) else f"X cannot be used: {why}.") from cause


def refuse_text(X: Any) -> None:
    """Masked entries, text and dates, which scikit-learn would read as the numbers below, in or behind them."""
    if attribute(X, "iloc") is not None:
        frame_values(X, "X")
    raw: Any = X
    if isinstance(X, (list, tuple)):
        with suppress(ValueError):  # a ragged list is told as such later on
            raw = np.asarray(X)
    kind = attribute(attribute(raw, "dtype"), "kind")
    if (isinstance(raw, np.ma.MaskedArray) and np.ma.is_masked(raw)) or kind in ("U", "S", "M", "m"):
        as_real(raw, "X", InvalidParameter)
    if kind == "O" and isinstance(raw, np.ndarray):
        refuse_objects(raw, "X", InvalidParameter)


def checked_views(estimator: Any, X: Any, y: Any) -> tuple[Table, Table]:
    """Both views, with the same number of rows."""
    if y is None:
        raise InvalidParameter(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    x_table, y_table = checked_X(estimator, X, reset=True), second_view(y)
    if x_table.m != y_table.m:
        raise InvalidParameter(
            f"X has {x_table.m} rows but y has {y_table.m}: row i of both must be the same sample."
        )
    return x_table, y_table


def second_view(y: Any) -> Table:
    """The second view; one dimension is one variable.

    scikit-learn validates X only; y of CCA is a second table and is read like data of our own.
    """
    view = y if attribute(y, "iloc") is not None else as_real(y, "y", InvalidParameter)
    return read_table(np.asarray(view)[:, None] if view.ndim == 1 else view, "y", least=1)


def location_scale(table: Table, scale: bool) -> tuple[Vector, Vector]:
    """The mean and the standard deviation by column, 1 where there is none or no scaling is wanted.

    A constant column keeps scale 1, so that it is centred to zeros rather than divided by zero.
    """
    mean, deviation = table.spread()
    return mean, np.where(deviation > 0.0, deviation, 1.0) if as_flag(scale, "scale") else np.ones(table.n)


def per_component(k: Any, n_components: Any, n: int, what: str = "k") -> list[int]:
    """One cardinality per component: k itself, repeated, or a tenth of the variables.

    Parameters
    ----------
    k
        None, a number, or a sequence of n_components numbers, between 1 and n.
    n_components
        A whole number between 1 and n; True is refused.

    Examples
    --------
    >>> from dcgev_cvx.fitting import per_component
    >>> per_component(None, 2, 25), per_component([3, 1], 2, 25)
    ([3, 3], [3, 1])
    """
    if not is_whole(n_components) or not 1 <= n_components <= n:
        raise InvalidParameter(f"n_components = {shown(n_components)} must be a whole number between 1 and {n}.")
    count = int(n_components)
    if k is None:
        return [math.ceil(n / 10)] * count
    several = isinstance(k, (Sequence, np.ndarray)) and not isinstance(k, (str, bytes)) and getattr(k, "ndim", 1) > 0
    if several and len(listed(k)) != count:
        raise InvalidParameter(f"{what} = {shown(k)} must have {count} entries, one per component.")
    return [as_whole(each, what, high=n) for each in (k if several else [k] * count)]


def check_search(estimator: Any) -> None:
    """The settings of the search, also where there is nothing to search: a wrong one is a mistake in any case."""
    rule_of(estimator.deflation)
    one_of(estimator.effort, "effort", EFFORTS)
    if estimator.random_state is not None and not isinstance(estimator.random_state, np.random.RandomState):
        as_generator(estimator.random_state)


def search(pencil: Pencil, ks: Sequence[Any], estimator: Any) -> Components:
    """The components, with the estimator's settings."""
    return components(
        pencil,
        ks,
        deflation=estimator.deflation,
        effort=estimator.effort,
        random_state=seed_of(estimator.random_state),
    )


def seed_of(random_state: Any) -> int:
    """A seed from an integer, a NumPy generator, a RandomState, or None for a fresh one.

    A generator or RandomState is advanced by one draw, so that two fits with the same object differ and the
    sequence of fits is reproducible.
    """
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    generator = np.random.default_rng() if random_state is None else as_generator(random_state)
    return int(generator.integers(2**31 - 1)) if generator is random_state or random_state is None else random_state


def view_weights(pencil: Pencil, found: Components) -> tuple[Matrix, Matrix]:
    """Both views' weights as columns, each of unit length in its own block of B.

    Each column of `found.V` carries half its B norm in each view at an eigenvector; here both halves are brought
    to one, so that scores have unit variance (with ridge 0).
    """
    views: list[Matrix] = []
    for rows in pencil.views:
        V = np.zeros_like(found.V)
        V[rows] = found.V[rows]
        norms = np.array([pencil.B_norm(v) for v in V.T])
        views.append(V[rows] / np.where(norms > 0.0, norms, 1.0))
    return views[0], views[1]


def correlation(u: Vector, v: Vector) -> float:
    """The correlation of two score vectors; 0 when one of them is constant.

    Between −1 and 1 up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx.fitting import correlation
    >>> round(correlation(np.arange(3.0), 2 * np.arange(3.0)), 12), correlation(np.ones(3), np.arange(3.0))
    (1.0, 0.0)
    """
    u, v = u - u.mean(), v - v.mean()
    size = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(u @ v) / size if size > 0.0 else 0.0
