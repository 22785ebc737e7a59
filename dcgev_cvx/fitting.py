"""What the estimators share: scikit-learn's checks of the data, cardinalities per component, seeds, scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .checks import Matrix, Vector, as_flag, as_generator, as_real, listed, shown
from .deflation import Components, components
from .errors import InvalidParameter
from .pencils import Pencil
from .samples import Table, read_table


def checked_X(estimator: Any, X: Any, *, reset: bool, least: int = 2) -> Table:
    """X as scikit-learn accepts it, dense.

    Sparse input is accepted and made dense, since centring would fill it anyway. reset=True records the number
    and names of the columns on the estimator; reset=False compares with them.
    """
    return read_table(validated(estimator, X, reset=reset, ensure_min_samples=least), least=least)


def validated(estimator: Any, *data: Any, **settings: Any) -> Any:
    """scikit-learn's validate_data with our error in place of its ValueError; TypeErrors are part of its contract."""
    if np.ma.is_masked(data[0]):
        as_real(data[0], "X", InvalidParameter)  # scikit-learn would read what is under the mask
    try:
        return validate_data(estimator, *data, accept_sparse=["csr", "csc"], dtype=np.float64, **settings)
    except (ValueError, OverflowError) as cause:
        if hasattr(data[0], "iloc"):
            read_table(data[0], least=1)  # a frame's columns that are to blame have names
        raise InvalidParameter(" ".join(str(cause).split())) from cause


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
    view = y if hasattr(y, "toarray") or hasattr(y, "iloc") else as_real(y, "y", InvalidParameter)
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
        None, a number, or a sequence of n_components numbers; what each number may be is checked later, by
        `components`, where the size of the view is known.
    n_components
        A whole number between 1 and n; True is refused.

    Examples
    --------
    >>> from dcgev_cvx.fitting import per_component
    >>> per_component(None, 2, 25), per_component([3, 1], 2, 25)
    ([3, 3], [3, 1])
    """
    if (
        isinstance(n_components, bool)
        or not isinstance(n_components, (int, np.integer))
        or not 1 <= n_components <= n
    ):
        raise InvalidParameter(f"n_components = {shown(n_components)} must be a whole number between 1 and {n}.")
    count = int(n_components)
    if k is None:
        return [math.ceil(n / 10)] * count
    if isinstance(k, (Sequence, np.ndarray)):
        if len(listed(k)) != count:
            raise InvalidParameter(f"{what} = {shown(k)} must have {count} entries, one per component.")
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
