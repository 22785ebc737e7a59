"""What the estimators share: scikit-learn's checks of the data, cardinalities per component, seeds, scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .checks import Matrix, Vector, as_number
from .deflation import Components, components
from .errors import InvalidParameter
from .pencils import Pencil
from .samples import Table, read_table


def checked_X(estimator: Any, X: Any, *, reset: bool, least: int = 2) -> Table:
    """X as scikit-learn accepts it, dense."""
    X = validate_data(
        estimator, X, reset=reset, accept_sparse=["csr", "csc"], dtype=np.float64, ensure_min_samples=least
    )
    return read_table(X, least=least)


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
    """The second view; one dimension is one variable."""
    view = y if hasattr(y, "toarray") or hasattr(y, "iloc") else np.asarray(y)
    return read_table(np.asarray(view)[:, None] if view.ndim == 1 else view, "y", least=1)


def location_scale(table: Table, scale: bool) -> tuple[Vector, Vector]:
    """The mean and the standard deviation by column, 1 where there is none or no scaling is wanted."""
    mean, deviation = table.spread()
    return mean, np.where(deviation > 0.0, deviation, 1.0) if scale else np.ones(table.n)


def per_component(k: Any, n_components: Any, n: int, what: str = "k") -> list[int]:
    """One cardinality per component: k itself, repeated, or a tenth of the variables."""
    if (
        isinstance(n_components, bool)
        or not isinstance(n_components, (int, np.integer))
        or not 1 <= n_components <= n
    ):
        raise InvalidParameter(f"n_components = {n_components!r} must be a whole number between 1 and {n}.")
    count = int(n_components)
    if k is None:
        return [math.ceil(n / 10)] * count
    if isinstance(k, (Sequence, np.ndarray)):
        if len(k) != count:
            raise InvalidParameter(f"{what} has {len(k)} entries for {count} component(s).")
        return list(k)
    return [k] * count


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
    """A seed from an integer, a NumPy generator, a RandomState, or None for a fresh one."""
    if isinstance(random_state, (int, np.integer)):
        return int(as_number(random_state, "random_state"))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    try:
        return int(np.random.default_rng(random_state).integers(2**31 - 1))
    except (TypeError, ValueError):
        raise InvalidParameter(f"random_state = {random_state!r} is neither a seed nor a NumPy generator.") from None


def view_weights(pencil: Pencil, found: Components) -> tuple[Matrix, Matrix]:
    """Both views' weights as columns, each of unit length in its own block of B."""
    views: list[Matrix] = []
    for rows in pencil.views:
        V = np.zeros_like(found.V)
        V[rows] = found.V[rows]
        norms = np.array([pencil.B_norm(v) for v in V.T])
        views.append(V[rows] / np.where(norms > 0.0, norms, 1.0))
    return views[0], views[1]


def correlation(u: Vector, v: Vector) -> float:
    """The correlation of two score vectors; 0 when one of them is constant."""
    u, v = u - u.mean(), v - v.mean()
    size = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(u @ v) / size if size > 0.0 else 0.0
