"""Sparse PCA, CCA and FDA with scikit-learn manners: thin layers over components and fisher_solve.

Data are checked the way scikit-learn checks them, then handed to the builders. A cardinality
left at None is a tenth of the variables, rounded up.

All three follow scikit-learn's contract: constructor arguments are stored as given and checked in fit,
fitted attributes end in an underscore, clone, pipelines and grid searches work, and random_state makes a
fit reproducible. Errors are the package's and at the same time the ValueError or TypeError that scikit-learn's
contract asks for; an estimator that is not fitted says so by scikit-learn's NotFittedError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._numerics.checks import (
    UNIT_ROUNDOFF,
    Matrix,
    Vector,
    as_flag,
    as_generator,
    as_number,
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
from .pencils import Gram, Pencil, cca_pencil, class_means, pca_pencil, within
from .programs import SparseFDA
from .search.deflation import Components, Deflation, components, rule_of
from .search.fisher import fisher_solve
from .search.supports import EFFORTS

if TYPE_CHECKING:
    from .search.paths import Effort


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
    >>> from dcgev_cvx.estimators import per_component
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
    >>> from dcgev_cvx.estimators import correlation
    >>> round(correlation(np.arange(3.0), 2 * np.arange(3.0)), 12), correlation(np.ones(3), np.arange(3.0))
    (1.0, 0.0)
    """
    u, v = u - u.mean(), v - v.mean()
    size = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(u @ v) / size if size > 0.0 else 0.0


class DCPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sparse PCA: n_components directions with k nonzeros each that explain X's variance (Algorithm 2, Section 4).

    Parameters
    ----------
    n_components : how many components are sought, one after the other.
    k : nonzeros of each: one number, one per component, or None for a tenth of the variables.
    center, scale : subtract each column's mean; divide by its standard deviation.
    deflation : how A loses a component before the next search. With more variables than samples
        "projection" and "schur" keep the factor form, the default forms an n × n matrix.
    effort : "quick", "normal" or "high", time for quality. random_state : seed of the random starts.

    Attributes
    ----------
    components_ : the loadings as rows, unit length, exact zeros.
    values_ : xᵀAx of each component in the undeflated covariance (divided by m).
    projector_trace_, adjusted_, plain_sum_ : what the first 1, 2, … components explain, each by its
        own definition (see `dcgev_cvx.search.explained`).
    mean_, scale_, n_components_, solutions_ : what was subtracted and divided; how many; the full records.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.estimators import DCPCA
    >>> X, _, _ = datasets.two_gaussians(8, 2)
    >>> model = DCPCA(n_components=1, k=2, effort="quick").fit(X)
    >>> model.components_.round(2) + 0.0
    array([[0.  , 0.  , 0.  , 0.  , 0.  , 0.79, 0.  , 0.62]])
    >>> model.transform(X).shape
    (200, 1)
    """

    def __init__(
        self,
        n_components: int = 1,
        k: int | Sequence[int] | None = None,
        *,
        center: bool = True,
        scale: bool = False,
        deflation: Deflation = "orthogonalized-hotelling",
        effort: Effort = "normal",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.k = k
        self.center = center
        self.scale = scale
        self.deflation = deflation
        self.effort = effort
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of X (samples × variables, dense or sparse).

        y is not looked at; it is there for pipelines. Raises InvalidParameter for cardinalities out of range or,
        with scale=True, for constant columns.
        """
        table = checked_X(self, X, reset=True)
        pencil = pca_pencil(table.X, center=self.center, scale=self.scale)
        ks = per_component(self.k, self.n_components, table.n)
        found = search(pencil, ks, self)
        mean, deviation = table.spread()
        self.mean_ = mean if self.center else np.zeros(table.n)
        self.scale_ = deviation if self.scale else np.ones(table.n)
        self.components_: Matrix = np.ascontiguousarray(found.V.T)
        self.values_ = np.array(found.values)
        self.projector_trace_ = found.projector_trace()
        self.adjusted_ = found.adjusted()
        self.plain_sum_ = found.plain_sum()
        self.solutions_ = found.solutions
        self.n_components_ = self._n_features_out = len(ks)
        return self

    def transform(self, X: Any) -> Matrix:
        """The scores (X − mean)V.

        Sparse components are not orthogonal, so the scores are correlated and are not coordinates in an orthogonal
        basis; inverse_transform accounts for that.
        """
        return self._standardized(X) @ self.components_.T

    def inverse_transform(self, Z: Any) -> Matrix:
        """Z(VᵀV)⁻¹Vᵀ + mean, the least-squares reconstruction: for transform's scores, X projected on the span."""
        check_is_fitted(self)
        scores = read_table(Z, "Z", least=1)
        if scores.n != self.n_components_:
            raise InvalidParameter(f"Z has {scores.n} columns but there are {self.n_components_} components.")
        return (scores.X @ np.linalg.pinv(self.components_.T)) * self.scale_ + self.mean_

    def score(self, X: Any, y: Any = None) -> float:
        """The share of X's variance about the training mean that lies in the span of the components.

        On the training data this is projector_trace_[-1]; on new data it may be larger or smaller. It lies in
        [0, 1], which makes it fit for cross-validation.
        """
        Z = self._standardized(X)
        total = float(np.sum(Z**2))
        if total == 0.0:
            raise InvalidParameter("X does not differ from the training mean: it has no variance to explain.")
        return float(np.sum((Z @ np.linalg.qr(self.components_.T)[0]) ** 2)) / total

    def _standardized(self, X: Any) -> Matrix:
        check_is_fitted(self)
        return (checked_X(self, X, reset=False, least=1).X - self.mean_) / self.scale_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class DCCCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sparse CCA: pairs of directions with kx and ky nonzeros whose scores correlate most (Eq:CCA, Section 5).

    Parameters
    ----------
    n_components : how many pairs. kx, ky : nonzeros in each view, as k of DCPCA.
    ridge : added to the variances; a share of a variable's variance when scale is True.
    scale : divide columns by their standard deviation, so that the answer does not depend on units.
    deflation, effort, random_state : as in DCPCA; both views are deflated.

    Attributes
    ----------
    x_weights_, y_weights_ : the pairs as columns; with ridge 0 their scores have unit variance.
    values_ : the (ridged) correlations in training.
    x_mean_, x_scale_, y_mean_, y_scale_, n_components_, solutions_ : as in DCPCA.

    The ridge is what stands between few samples and correlations of one: with m ≤ p + q and none, some pair of dense
    directions correlates perfectly, whatever the data.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx.estimators import DCCCA
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal(100)
    >>> X, Y = rng.standard_normal((100, 5)), rng.standard_normal((100, 4))
    >>> X[:, 1] += 3 * shared
    >>> Y[:, 2] += 3 * shared
    >>> model = DCCCA(kx=1, ky=1, effort="quick").fit(X, Y)
    >>> np.flatnonzero(model.x_weights_), np.flatnonzero(model.y_weights_)
    (array([1]), array([2]))
    """

    def __init__(
        self,
        n_components: int = 1,
        kx: int | Sequence[int] | None = None,
        ky: int | Sequence[int] | None = None,
        *,
        ridge: float = 0.1,
        scale: bool = True,
        deflation: Deflation = "orthogonalized-hotelling",
        effort: Effort = "normal",
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.kx = kx
        self.ky = ky
        self.ridge = ridge
        self.scale = scale
        self.deflation = deflation
        self.effort = effort
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the pairs for two views of the same samples; a y of one dimension is one variable.

        Constant columns are kept with scale 1; the ridge alone gives them a variance. Raises InvalidParameter
        when y is None or has another number of rows.
        """
        x_table, y_table = checked_views(self, X, y)
        self.x_mean_, self.x_scale_ = location_scale(x_table, self.scale)
        self.y_mean_, self.y_scale_ = location_scale(y_table, self.scale)
        pencil = cca_pencil(
            (x_table.X - self.x_mean_) / self.x_scale_, (y_table.X - self.y_mean_) / self.y_scale_, ridge=self.ridge
        )
        kx = per_component(self.kx, self.n_components, x_table.n, "kx")
        ky = per_component(self.ky, self.n_components, y_table.n, "ky")
        found = search(pencil, list(zip(kx, ky, strict=True)), self)
        self.x_weights_, self.y_weights_ = view_weights(pencil, found)
        self.values_ = np.array(found.values)
        self.solutions_ = found.solutions
        self.n_components_ = self._n_features_out = len(kx)
        return self

    def transform(self, X: Any, y: Any = None) -> Any:
        """The scores of X, or (scores of X, scores of y) when y is given.

        Weights are applied to standardised columns; the training means and deviations are used for new data too.
        """
        check_is_fitted(self)
        table = checked_X(self, X, reset=False, least=1)
        x_scores = (table.X - self.x_mean_) / self.x_scale_ @ self.x_weights_
        if y is None:
            return x_scores
        other = second_view(y)
        if other.m != table.m or other.n != len(self.y_mean_):
            raise InvalidParameter(f"y is {other.m}×{other.n} where {table.m}×{len(self.y_mean_)} is expected.")
        return x_scores, (other.X - self.y_mean_) / self.y_scale_ @ self.y_weights_

    def score(self, X: Any, y: Any) -> float:
        """The correlation of the two views' scores, averaged over the pairs; 0 for scores that do not vary.

        The sign counts: pairs whose scores anticorrelate on new data lower the mean.
        """
        if y is None:
            raise InvalidParameter("y is None: a score compares two views.")
        x_scores, y_scores = self.transform(X, y)
        return float(np.mean([correlation(u, v) for u, v in zip(x_scores.T, y_scores.T, strict=True)]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = True
        return tags


class DCFDA(ClassNamePrefixFeaturesOutMixin, ClassifierMixin, TransformerMixin, BaseEstimator):
    """Sparse Fisher discriminant analysis: k variables, or a penalty ν, that tell classes apart (Eq:FDA, Section 6).

    Columns are centred and divided by their standard deviation. Predictions are those of Gaussian
    classes with one covariance in the space of the scores, predict_proba included: honest as far
    as that model is.

    Parameters
    ----------
    k : nonzeros, as in DCPCA. nu : for two classes, the ν of sparse_fda instead of k.
    n_components : discriminants; None takes as many as there are, classes less one.
    ridge : added to the within-class variances, as a share of a variable's variance.
    deflation, effort, random_state : as in DCPCA; used with more than two classes, checked in any case.

    Attributes
    ----------
    classes_, priors_ : the labels and their shares of the samples.
    components_ : the discriminants as rows. means_, precision_ : the classes in the space of the scores.
    mean_, scale_, n_components_ : as in DCPCA.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.estimators import DCFDA
    >>> X, y, support = datasets.two_gaussians(8, 2)
    >>> model = DCFDA(k=2).fit(X, y)
    >>> tuple(model.components_[0].nonzero()[0]) == support, model.score(X, y) > 0.8
    (True, True)
    """

    def __init__(
        self,
        k: int | Sequence[int] | None = None,
        *,
        nu: float | None = None,
        n_components: int | None = None,
        ridge: float = 0.01,
        deflation: Deflation = "orthogonalized-hotelling",
        effort: Effort = "normal",
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.nu = nu
        self.n_components = n_components
        self.ridge = ridge
        self.deflation = deflation
        self.effort = effort
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the discriminants of labelled samples.

        Raises InvalidParameter when k and nu are both given, when nu meets more than two classes, when more
        discriminants are asked for than classes less one, or for an unknown deflation or effort.
        """
        X, y = validated(self, X, y, ensure_min_samples=2)
        table = read_table(X)
        try:
            check_classification_targets(y)
            self.classes_ = np.unique(y)
        except ValueError as cause:
            raise InvalidParameter(str(cause)) from cause
        except TypeError as cause:
            read_labels(y, table.m)  # missing labels are told as such
            raise InvalidParameter(f"y has labels that cannot be put in order, use one type: {cause}.") from cause
        labels = read_labels(y, table.m)
        self.mean_, self.scale_ = location_scale(table, True)
        scaled = Table((table.X - self.mean_) / self.scale_, None)
        self.priors_ = labels.counts / table.m
        # the pooled covariance is both the metric of the search and the model of the classes
        within_class = within(scaled, labels, self.priors_, as_number(self.ridge, "ridge"))
        means = class_means(scaled, labels)
        V = self._directions(means, within_class, scaled.n)
        self.components_: Matrix = np.ascontiguousarray(V.T)
        self.means_: Matrix = means @ V
        # two sparse discriminants may be one vector: such scores count once
        self.precision_: Matrix = np.linalg.pinv(V.T @ within_class @ V, hermitian=True).astype(np.float64)
        self.n_components_ = self._n_features_out = V.shape[1]
        return self

    def transform(self, X: Any) -> Matrix:
        """The scores on the discriminants."""
        check_is_fitted(self)
        return (checked_X(self, X, reset=False, least=1).X - self.mean_) / self.scale_ @ self.components_.T

    def decision_function(self, X: Any) -> Matrix:
        """zᵀS⁻¹μ_c − ½μ_cᵀS⁻¹μ_c + log π_c of each class; for two classes the difference, positive for the second.

        The logarithm of π_c times the Gaussian density of class c at z, up to a term that all classes share. With
        two classes it is a number per sample, the logarithm of the odds.
        """
        Z = self.transform(X)
        pull = self.means_ @ self.precision_
        scores = Z @ pull.T
        scores += np.log(self.priors_) - 0.5 * np.einsum("cj,cj->c", pull, self.means_)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """The class with the largest decision value.

        With two classes a value of exactly 0 goes to the first.
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else np.argmax(values, axis=1)]

    def predict_proba(self, X: Any) -> Matrix:
        """The posterior probabilities of the Gaussian model in the space of the scores.

        Rows sum to one; columns are in the order of classes_. Calibrated only if the classes are Gaussian with one
        covariance in the space of the scores.
        """
        from scipy.special import softmax

        values = self.decision_function(X)
        return softmax(np.column_stack([np.zeros_like(values), values]) if values.ndim == 1 else values, axis=1)

    def predict_log_proba(self, X: Any) -> Matrix:
        """The logarithms of predict_proba, exact for small probabilities too."""
        from scipy.special import log_softmax

        values = self.decision_function(X)
        return log_softmax(np.column_stack([np.zeros_like(values), values]) if values.ndim == 1 else values, axis=1)

    def _directions(self, means: Matrix, B: Matrix, n: int) -> Matrix:
        """The discriminants as columns."""
        check_search(self)
        if self.k is not None and self.nu is not None:
            both = f"k = {shown(self.k)} and nu = {shown(self.nu)}"
            raise InvalidParameter(f"{both} were both given: each fixes the sparsity.")
        if len(means) == 2:
            return self._two_class(means[1] - means[0], B, n)
        if self.nu is not None:
            raise InvalidParameter(f"nu = {shown(self.nu)} is for two classes; with {len(means)} give k instead.")
        between = np.sqrt(self.priors_)[:, None] * (means - self.priors_ @ means)
        if float(np.max(np.abs(between))) <= UNIT_ROUNDOFF * n * len(means):  # of columns with deviation one
            raise InvalidParameter(f"the means of the {len(means)} classes coincide: nothing tells them apart.")
        rank = int(np.linalg.matrix_rank(between))  # classes less one, or less where means lie on a line
        count = rank if self.n_components is None else as_whole(self.n_components, "n_components", high=10**9)
        if count > rank:
            raise InvalidParameter(
                f"n_components = {count}: the means of {len(means)} classes have at most {rank} discriminant(s)."
            )
        ks = per_component(self.k, count, n)
        return search(Pencil(Gram(between), B), ks, self).V

    def _two_class(self, a: Vector, B: Matrix, n: int) -> Matrix:
        """The one direction, by k or by ν."""
        if self.n_components is not None and as_whole(self.n_components, "n_components", high=10**9) != 1:
            raise InvalidParameter(f"n_components = {self.n_components}: two classes have one discriminant.")
        if self.nu is None:
            (k,) = per_component(self.k, 1, n)
            return fisher_solve(a, B, k).x[:, None]
        from .mm import minimize
        from .steps.backend import Backend
        from .steps.conic import FisherStep

        return minimize(SparseFDA(a, B, self.nu), FisherStep(Backend())).x[:, None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


__all__ = ["DCCCA", "DCFDA", "DCPCA"]
