"""Sparse PCA, CCA and FDA as scikit-learn estimators.

With a cardinality k the components are found one after another by `components` (the search of `solve`, with deflation
between), or by `fisher_solve` for the one discriminant of two classes. DCPCA(rho=…) runs Algorithm 2 and DCFDA(nu=…)
the sequence of QPs of Section 6 instead.

Constructor arguments are stored as given and checked in fit. Errors are the package's InvalidParameter, which is also
the ValueError that scikit-learn's conventions ask for.
"""

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.special import log_softmax, softmax

from ._numerics import checks
from ._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector
from ._numerics.data_tables import Table, class_means, in_row_order, read_labels, read_table, within
from ._numerics.extras import require
from ._numerics.gram import is_large, large_table, spread, standardized_factor
from ._numerics.text_tables import printable
from .algorithms import sparse_fda
from .builders import cca_pencil_of_tables, pca_pencil
from .errors import InvalidParameter
from .penalties import Penalty
from .pencils import Gram, Pencil
from .search.components import components, components_by_penalty
from .search.deflation import Deflation, rule_of
from .search.fisher import fisher_solve
from .search.solve import EFFORTS, Effort, constructed
from .solutions import Solution, solution_of

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.metrics import accuracy_score
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    require("sklearn", "estimators")
    raise

RIDGES = ("auto", (0.1, 0.1), (0.98, 0.98))
"""What DCCCA chooses from: the analytic shares, and shares that keep or ignore the correlations within a view."""
FOLDS, SCORED = 3, 300
"""Of cross-validation: the parts of the samples; they are divided anew until so many samples were scored.

With five parts, or one division, the choice is worse on average over 23 families of data at seeds 700–706.
"""


@dataclass(eq=False, repr=False)
class SparseEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the three estimators share. Sparse matrices are accepted; DCPCA alone does not make them dense."""

    _: KW_ONLY
    deflation: Deflation = "orthogonalized-hotelling"
    effort: Effort = "normal"
    random_state: Any = 0

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """As in scikit-learn, and how many nonzeros there will be where nothing was said about them."""
        text = str(super().__repr__(N_CHAR_MAX))
        given = self.get_params(deep=False)
        missing = [name for name in ("k", "kx", "ky") if name in given and given[name] is None]
        if not missing or any(given.get(name) is not None for name in ("rho", "nu")):
            return text
        default = ", ".join(f"{name}=⌈n_features/10⌉" for name in missing)
        return f"{text[:-1]}{'' if text.endswith('()') else ', '}{default})"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _search_settings(self) -> Any:
        """The settings of `components`, checked also where they are not used."""
        rule_of(self.deflation)
        effort = checks.one_of(self.effort, "effort", EFFORTS)
        return {"deflation": self.deflation, "effort": effort, "random_state": seed_of(self.random_state)}


@dataclass(eq=False, repr=False)
class DCPCA(SparseEstimator):
    """Sparse PCA: directions with few nonzeros that explain X's variance (Section 4).

    With k, each component has exactly k nonzeros and is the best that the search of `dcgev_cvx.solve` finds: every
    support for small problems, else MM steps and exchanges of variables from several starts. With rho, each
    component is the limit of Algorithm 2 (`dc_pca`) from the leading eigenvector, with loadings as the algorithm
    leaves them; where deflation makes A indefinite, of Algorithm 1 (`sparse_gev`). A is deflated between components.

    Parameters
    ----------
    n_components : int, optional
        The number of components; as many as k lists, or one, if None.
    k : int or sequence of int, optional
        The number of nonzeros: one for all components, or one for each. If neither k nor rho is given, a tenth of the
        variables, rounded up: few enough to read, and no more than a start. Choose k by what the components are for,
        from `dcgev_cvx.path`, or by cross-validation, for instance with scikit-learn's GridSearchCV.
    deflation : {"orthogonalized-hotelling", "hotelling", "projection", "schur"}
        How a component is removed from A. With more variables than samples "projection" and "schur" keep the factor
        form; the others form an n × n matrix.
    effort : {"quick", "normal", "high"}
        How long to search; not used with rho.
    random_state : int, Generator, RandomState or None
        The seed of the search's random starts; not used with rho.
    rho : float, optional
        The price ρ̃ of one nonzero in Algorithm 2, instead of k.
    penalty : Penalty, optional
        With rho, another concave penalty in the place of the paper's log, such as MCP() or SCAD().
    center : bool
        Subtract each column's mean.
    scale : bool
        Divide each column by its standard deviation.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The loadings, of unit length, with exact zeros.
    values_ : ndarray
        xᵀAx of each component in the undeflated covariance (divided by m).
    explained_variance_ratio_ : ndarray
        What each component adds to projector_trace_: with k = n_features, scikit-learn's PCA has the same.
    explained_variance_ : ndarray
        The same times the variance of all columns, divided by m, not m − 1.
    projector_trace_ : ndarray
        The share of the variance in the span of the first 1, 2, … components, the paper's measure.
    adjusted_ : ndarray
        Zou's adjusted variance of the first 1, 2, … components.
    plain_sum_ : ndarray
        Σ xᵀAx/tr(A) of the first 1, 2, … components.
    solutions_ : tuple of Solution
        The full records; `method` says how each was found.
    mean_ : ndarray
        What was subtracted from the columns.
    scale_ : ndarray
        What the columns were divided by.
    n_components_ : int
        The number of components.

    Examples
    --------
    >>> from dcgev_cvx import DCPCA, datasets
    >>> X, _, _ = datasets.two_gaussians(8, 2)
    >>> model = DCPCA(n_components=1, k=2, effort="quick").fit(X)
    >>> model.components_.round(2) + 0.0
    array([[0.  , 0.  , 0.  , 0.  , 0.  , 0.79, 0.  , 0.62]])
    >>> DCPCA(rho=0.2).fit(X).solutions_[0].method
    'Algorithm 2 (dc_pca)'
    """

    n_components: int | None = None
    k: int | Sequence[int] | None = None
    _: KW_ONLY
    rho: float | None = None
    penalty: Penalty | None = None
    center: bool = True
    scale: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components of X (samples × variables); y is not used."""
        data = validated(self, X, reset=True, ensure_min_samples=2)
        data = large_table(data, "X", InvalidParameter) if is_large(data) else data
        # a frame has names, which the solutions show
        pencil = pca_pencil(X if checks.is_frame(X) else data, center=self.center, scale=self.scale)
        check_one_given(k=self.k, rho=self.rho)
        check_price_given(self.penalty, rho=self.rho)
        settings, ks = self._search_settings(), per_component(self.k, self.n_components, pencil.n)
        if self.rho is None:
            found = components(pencil, ks, **settings)
        else:
            found = components_by_penalty(pencil, len(ks), self.rho, self.deflation, self.penalty)
        mean, scale = location_scale(data if is_large(data) else read_table(data).X, self.scale)
        self.scale_: Vector = scale
        self.mean_: Vector = mean if self.center else np.zeros(pencil.n)
        self.components_: Matrix = np.ascontiguousarray(found.V.T)
        self.values_: Vector = np.array(found.values)
        self.projector_trace_: Vector = found.projector_trace()
        self.explained_variance_ratio_: Vector = np.diff(self.projector_trace_, prepend=0.0)
        self.explained_variance_: Vector = self.explained_variance_ratio_ * pencil.trace
        self.adjusted_: Vector = found.adjusted()
        self.plain_sum_: Vector = found.plain_sum()
        self.solutions_: tuple[Solution, ...] = found.solutions
        self.n_components_: int = len(ks)
        self._n_features_out = len(ks)
        return self

    def transform(self, X: Any) -> Matrix:
        """The scores (X − mean)V. Sparse components are not orthogonal, so that the scores are correlated."""
        check_is_fitted(self)
        if is_large(X):
            data = large_table(validated(self, X, reset=False), "X", InvalidParameter)
            return standardized_factor(data, self.mean_, 1.0 / self.scale_).dot(self.components_.T)
        return as_in_training(self, X) @ self.components_.T

    def inverse_transform(self, Z: Any) -> Matrix:
        """The least-squares reconstruction Z(VᵀV)⁻¹Vᵀ + mean: for transform's scores, X projected on the span."""
        check_is_fitted(self)
        scores = read_table(Z, "Z", least=1)
        if scores.n != self.n_components_:
            raise InvalidParameter(f"Z has {scores.n} columns but there are {self.n_components_} components.")
        return (scores.X @ np.linalg.pinv(self.components_.T)) * self.scale_ + self.mean_

    def score(self, X: Any, y: Any = None) -> float:
        """The share of X's variance about the training mean that lies in the span of the components."""
        Z = as_in_training(self, X)
        total = float(np.sum(Z**2))
        if total == 0.0:
            raise InvalidParameter("X does not differ from the training mean: it has no variance to explain.")
        return float(np.sum((Z @ np.linalg.qr(self.components_.T)[0]) ** 2)) / total


@dataclass(eq=False, repr=False)
class DCCCA(SparseEstimator):
    """Sparse CCA: pairs of directions with kx and ky nonzeros whose scores correlate most (Eq:CCA, Section 5).

    Each pair is found by `dcgev_cvx.components` on the pencil of `cca_pencil`, with kx and ky nonzeros in the two
    views; both views are deflated before the next pair.

    Parameters
    ----------
    n_components : int, optional
        The number of pairs; as many as kx or ky lists, or one, if None.
    kx : int or sequence of int, optional
        Nonzeros in the first view: one for all pairs, or one for each. If None, a tenth of its variables, rounded up:
        few enough to read, and no more than a start. Choose it by cross-validation, for instance with GridSearchCV.
    ky : int or sequence of int, optional
        Nonzeros in the second view.
    deflation : {"orthogonalized-hotelling", "hotelling", "projection", "schur"}
        How a pair is removed from A.
    effort : {"quick", "normal", "high"}
        How long to search.
    random_state : int, Generator, RandomState or None
        The seed of the search's random starts.
    ridge : float, pair of float, or "auto"
        A number is added to the variances, and is a share of each variable's variance when scale is True. With fewer
        samples than variables and no ridge some pair of directions correlates perfectly, whatever the data. A pair of
        shares shrinks the correlations within each view (`cca_pencil`). "auto" takes, of the shares of Schäfer and
        Strimmer, 0.1 and 0.98, those that give the first pair the largest correlation on samples left out of its fit
        (3-fold cross-validation, repeated if there are few samples); with fewer than ten samples, the first.
    scale : bool
        Divide columns by their standard deviation, so that the answer does not depend on units.

    Attributes
    ----------
    x_weights_ : ndarray of shape (p, n_components)
        The directions of the first view as columns; with ridge 0 their scores have unit variance.
    y_weights_ : ndarray of shape (q, n_components)
        The directions of the second view.
    values_ : ndarray
        The correlations of the training scores, with the ridge counted as variance; `score` gives them without it.
    shrinkage_ : tuple of float or None
        The share by which the correlations within each view were shrunk; None if ridge is a number.
    solutions_ : tuple of Solution
        The full records.
    x_mean_, x_scale_, y_mean_, y_scale_ : ndarray
        What was subtracted from the columns, and what they were divided by.
    y_names_ : tuple of str or None
        The columns of the second view, if it is a pandas frame.
    n_components_ : int
        The number of pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import DCCCA
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.standard_normal(100)
    >>> X, Y = rng.standard_normal((100, 5)), rng.standard_normal((100, 4))
    >>> X[:, 1] += 3 * shared
    >>> Y[:, 2] += 3 * shared
    >>> model = DCCCA(kx=1, ky=1, effort="quick").fit(X, Y)
    >>> np.flatnonzero(model.x_weights_), np.flatnonzero(model.y_weights_)
    (array([1]), array([2]))
    """

    n_components: int | None = None
    kx: int | Sequence[int] | None = None
    ky: int | Sequence[int] | None = None
    _: KW_ONLY
    ridge: float | tuple[float, float] | Literal["auto"] = "auto"
    scale: bool = True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the pairs for two views of the same samples; y may have one dimension, and is then one variable."""
        if y is None:
            raise InvalidParameter("DCCCA requires y to be passed, but the target y is None.")
        x_table, y_table = checked_X(self, X, reset=True), second_view(X, y)
        self.y_names_: tuple[str, ...] | None = y_table.names
        (x_mean, x_scale), (y_mean, y_scale) = (location_scale(table.X, self.scale) for table in (x_table, y_table))
        X, y = standardized(x_table, x_mean, x_scale), standardized(y_table, y_mean, y_scale)
        count = max(len(checks.listed(self.kx)), len(checks.listed(self.ky))) or 1
        count = count if self.n_components is None else self.n_components
        kx, ky = (
            per_component(k, count, n, what) for k, n, what in ((self.kx, x_table.n, "kx"), (self.ky, y_table.n, "ky"))
        )
        settings = self._search_settings()
        tables = Table(X, x_table.names), Table(y, y_table.names)
        ridge = chosen_ridge(self.ridge, *tables, (kx[0], ky[0]), settings["random_state"])
        pencil = cca_pencil_of_tables(*tables, ridge)
        found = components(pencil, list(zip(kx, ky, strict=True)), **settings)
        x_weights, y_weights = view_weights(pencil, found.V)
        self.x_mean_: Vector = x_mean
        self.x_scale_: Vector = x_scale
        self.y_mean_: Vector = y_mean
        self.y_scale_: Vector = y_scale
        self.x_weights_: Matrix = x_weights
        self.y_weights_: Matrix = y_weights
        self.values_: Vector = np.array(found.values)
        self.shrinkage_: tuple[float, ...] | None = pencil.shrinkage
        self.solutions_: tuple[Solution, ...] = found.solutions
        self.n_components_: int = len(kx)
        self._n_features_out = len(kx)
        return self

    def transform(self, X: Any, y: Any = None) -> Any:
        """The scores of X, or (scores of X, scores of y) when y is given, standardised as in training."""
        check_is_fitted(self)
        table = checked_X(self, X, reset=False, least=1)
        x_scores = standardized(table, self.x_mean_, self.x_scale_) @ self.x_weights_
        if y is None:
            return x_scores
        other = second_view(X, y)
        if other.m != table.m or other.n != len(self.y_mean_):
            raise InvalidParameter(f"y is {other.m}×{other.n} where {table.m}×{len(self.y_mean_)} is expected.")
        checks.check_order(self.y_names_, other.names, "the columns of y in fit", "those of y now", InvalidParameter)
        return x_scores, standardized(other, self.y_mean_, self.y_scale_) @ self.y_weights_

    def score(self, X: Any, y: Any) -> float:
        """The correlation of the two views' scores, averaged over the pairs; 0 for scores that do not vary."""
        if y is None:
            raise InvalidParameter("y is None: a score compares two views.")
        x_scores, y_scores = (scores - scores.mean(axis=0) for scores in self.transform(X, y))
        size = np.linalg.norm(x_scores, axis=0) * np.linalg.norm(y_scores, axis=0)
        return float(np.mean(np.sum(x_scores * y_scores, axis=0) / np.where(size > 0.0, size, 1.0)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


@dataclass(eq=False, repr=False)
class DCFDA(ClassifierMixin, SparseEstimator):
    """Sparse Fisher discriminant analysis: few variables that separate the classes (Eq:FDA, Section 6).

    Columns are centred and divided by their standard deviation. For two classes the discriminant is found by
    `fisher_solve` (k nonzeros) or by `sparse_fda` (penalty nu); for more by `dcgev_cvx.components` on the scatter
    matrices. Predictions are those of linear discriminant analysis: Gaussian classes with one covariance, by default
    on the variables that the discriminants use.

    Parameters
    ----------
    k : int or sequence of int, optional
        The number of nonzeros of each discriminant: one for all, or one for each. If neither k nor nu is given, a
        tenth of the variables, rounded up: few enough to read, and no more than a start. Choose k by cross-validation.
    deflation : {"orthogonalized-hotelling", "hotelling", "projection", "schur"}
        How a discriminant is removed; used with more than two classes.
    effort : {"quick", "normal", "high"}
        How long to search; used with more than two classes.
    random_state : int, Generator, RandomState or None
        The seed of the search's random starts; used with more than two classes.
    nu : float, optional
        For two classes, the price ν of one nonzero in `sparse_fda`, instead of k.
    penalty : Penalty, optional
        With nu, another concave penalty in the place of the paper's log, such as MCP() or SCAD().
    n_components : int, optional
        The number of discriminants; if None as many as k lists, or as the class means span, at most classes less one.
    ridge : float
        Added to the within-class variances, as a share of each variable's variance.
    refit : bool
        Whether to classify by all chosen variables. False for the scores of the discriminants alone, as the paper has
        them: less accurate, as several sparse discriminants rarely span what separates the classes.

    Attributes
    ----------
    classes_ : ndarray
        The labels in sorted order.
    priors_ : ndarray
        The share of the samples in each class.
    components_ : ndarray of shape (n_components, n_features)
        The discriminants, of unit within-class variance.
    values_ : ndarray
        The between-class variance of each, in units of the within-class variance.
    solutions_ : tuple of Solution
        The full records; `method` says how each was found.
    coef_ : ndarray of shape (n_classes, n_features)
        The weights of the standardised variables in the logarithms of the classes' densities.
    intercept_ : ndarray
        The constants in them.
    mean_ : ndarray
        What was subtracted from the columns.
    scale_ : ndarray
        What the columns were divided by.
    n_components_ : int
        The number of discriminants.

    Examples
    --------
    >>> from dcgev_cvx import DCFDA, datasets
    >>> X, y, support = datasets.two_gaussians(8, 2)
    >>> model = DCFDA(k=2).fit(X, y)
    >>> tuple(model.components_[0].nonzero()[0]) == support, model.score(X, y) > 0.8
    (True, True)
    """

    k: int | Sequence[int] | None = None
    _: KW_ONLY
    nu: float | None = None
    penalty: Penalty | None = None
    n_components: int | None = None
    ridge: float = 0.01
    refit: bool = True

    def fit(self, X: Any, y: Any) -> Self:
        """Find the discriminants of labelled samples."""
        names = checks.column_names(X)
        X, y = validated(self, X, in_row_order(X, y, "X", "y"), ensure_min_samples=2)
        table = read_table(X)
        with suppress(TypeError), our_errors():  # of labels that cannot be sorted read_labels knows more
            check_classification_targets(y)
        labels = read_labels(y, table.m)
        self.classes_: Any = np.unique(y)
        mean, scale = location_scale(table.X, True)
        self.mean_: Vector = mean
        self.scale_: Vector = scale
        scaled = Table(standardized(table, mean, scale), names)
        self.priors_: Vector = labels.counts / table.m
        ridge = checks.as_number(self.ridge, "ridge")
        B = within(scaled, labels, self.priors_, ridge)
        means = class_means(scaled, labels)
        self.solutions_: tuple[Solution, ...] = self._discriminants(means, B, names)
        self.values_: Vector = np.array([solution.value for solution in self.solutions_])
        V = np.column_stack([solution.x for solution in self.solutions_])
        self.components_: Matrix = np.ascontiguousarray(V.T)
        basis, covariance = V, B
        if checks.as_flag(self.refit, "refit"):
            basis = np.eye(len(V))[:, V.any(axis=1)]
            # as many variables as the samples can tell apart need no ridge
            covariance = B - ridge * np.eye(len(B)) if basis.shape[1] <= table.m - len(means) else B
        # two sparse discriminants may be one vector, and two variables the same: they count once
        inverse = np.linalg.pinv(basis.T @ covariance @ basis, rcond=1e-8, hermitian=True)
        self.coef_: Matrix = means @ basis @ inverse @ basis.T
        self.intercept_: Vector = np.log(self.priors_) - 0.5 * np.einsum("cj,cj->c", self.coef_, means)
        self.n_components_: int = V.shape[1]
        self._n_features_out = V.shape[1]
        return self

    def transform(self, X: Any) -> Matrix:
        """The scores on the discriminants."""
        return as_in_training(self, X) @ self.components_.T

    def decision_function(self, X: Any) -> Matrix:
        """The logarithm of each class's prior times its Gaussian density, up to a term that all classes share.

        zᵀS⁻¹μ_c − ½μ_cᵀS⁻¹μ_c + log π_c at z, the chosen variables or the scores; for two classes the second less the
        first, the log odds.
        """
        values = self._log_densities(X)
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> Any:
        """The class with the largest decision value; the first of those that tie."""
        best = np.argmax(self._log_densities(X), axis=1)  # first: it checks that the estimator is fitted
        return self.classes_[best]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples that are predicted right; a Series y is matched to a frame X by its labels."""
        truth, predicted = in_row_order(X, y, "X", "y"), self.predict(X)
        with our_errors():
            return float(accuracy_score(truth, predicted, sample_weight=sample_weight))

    def predict_proba(self, X: Any) -> Matrix:
        """The posterior probabilities of the Gaussian model, columns in the order of classes_."""
        return softmax(self._log_densities(X), axis=1)

    def predict_log_proba(self, X: Any) -> Matrix:
        """The logarithms of predict_proba, accurate for small probabilities too."""
        return log_softmax(self._log_densities(X), axis=1)

    def _log_densities(self, X: Any) -> Matrix:
        return as_in_training(self, X) @ self.coef_.T + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.nu is None
        return tags

    def _discriminants(self, means: Matrix, B: Matrix, names: Any) -> tuple[Solution, ...]:
        """The discriminants, leading eigenvectors of the scatter between the classes in the metric of that within."""
        settings, many = self._search_settings(), len(means)
        check_one_given(k=self.k, nu=self.nu)
        check_price_given(self.penalty, nu=self.nu)
        between = np.sqrt(self.priors_)[:, None] * (means - self.priors_ @ means)
        # classes less one, or less where means lie on a line; columns have standard deviation one
        rank = int(np.linalg.matrix_rank(between, tol=UNIT_ROUNDOFF * between.size))
        if rank == 0:
            raise InvalidParameter(f"the means of the {many} classes coincide: no direction separates them.")
        what = f"n_components with {many} classes"
        count = len(checks.listed(self.k)) or rank if self.n_components is None else self.n_components
        count = checks.as_whole(count, what, high=rank)
        ks = per_component(self.k, count, len(B))
        if many > 2 and self.nu is not None:
            given = f"with nu = {checks.shown(self.nu)}, but y has {many} classes"
            raise InvalidParameter(f"Only binary classification is supported {given}: give k instead.")
        pencil = Pencil(Gram(between), B, names)
        if many > 2:
            return components(pencil, ks, **settings).solutions
        a = means[1] - means[0]
        if self.nu is None:
            best = fisher_solve(a, pencil, ks[0])
            return (solution_of(pencil, best.x, best.method, best.seconds),)
        run = sparse_fda(a, pencil, nu=self.nu, penalty=self.penalty)
        seconds = run.history[-1].seconds
        return (solution_of(pencil, run.x, "sparse_fda", seconds, certificate=run.certificate),)


class WrongType(InvalidParameter, TypeError):
    """Data that are not numbers, where scikit-learn's conventions ask for a TypeError."""


@contextmanager
def our_errors() -> Generator[None]:
    """Turn scikit-learn's errors about data into the package's."""
    try:
        yield
    except (TypeError, ValueError, ArithmeticError, RuntimeError) as cause:  # RuntimeError: another library's arrays
        kind = WrongType if isinstance(cause, TypeError) else InvalidParameter
        raise kind(f"the data cannot be used: {printable(' '.join(str(cause).split()))}") from cause


def validated(estimator: Any, *data: Any, **settings: Any) -> Any:
    """scikit-learn's validate_data with the package's errors; `read_table` checks afterwards that X is finite."""
    X, names = data[0], checks.column_names(data[0])
    for what, part in zip("Xy", data, strict=False):
        checks.check_masks(part, what)  # which scikit-learn would ignore
    if checks.is_frame(X):
        checks.as_real(X, "X", InvalidParameter)  # scikit-learn takes the dates of polars for numbers
    if isinstance(X, np.ndarray) and X.dtype.kind == "O" and checks.holds_other(X.flat):
        raise WrongType("X holds text, dates or complex numbers: convert them to real numbers, or drop them.")
    with our_errors():
        found = validate_data(estimator, *data, accept_sparse=["csr", "csc"], ensure_all_finite=False, **settings)
    known = names if settings.get("reset", True) else estimator._columns  # scikit-learn compares text alone
    checks.check_order(known, names, "the columns of X in fit", "those of X now", InvalidParameter)
    estimator._columns = known
    return found


def checked_X(estimator: Any, X: Any, *, reset: bool, least: int = 2) -> Table:
    """X as scikit-learn accepts it; reset=True records its columns, reset=False compares with them."""
    names = checks.column_names(X)
    table = read_table(validated(estimator, X, reset=reset, ensure_min_samples=least), least=least)
    return Table(table.X, checks.checked_names(names, table.n))


def second_view(X: Any, y: Any) -> Table:
    """The second view of CCA as a table, its rows in the order of X's; one dimension is one variable."""
    y = in_row_order(X, y, "X", "y")
    view = y if hasattr(y, "ndim") else checks.as_real(y, "y", InvalidParameter)
    return read_table(np.asarray(view)[:, None] if view.ndim == 1 else view, "y", least=1)


def as_in_training(estimator: Any, X: Any) -> Matrix:
    """X shifted and scaled as the training data were."""
    check_is_fitted(estimator)
    return standardized(checked_X(estimator, X, reset=False, least=1), estimator.mean_, estimator.scale_)


def standardized(table: Table, mean: Vector, scale: Vector) -> Matrix:
    """The table with its columns shifted and scaled."""
    return (table.X - mean) / scale


def location_scale(X: Any, scale: bool) -> tuple[Vector, Vector]:
    """Each column's mean and standard deviation; 1 for the latter in constant columns and without scaling."""
    mean, deviation = spread(X)
    return mean, np.where(deviation > 0.0, deviation, 1.0) if checks.as_flag(scale, "scale") else np.ones_like(mean)


def check_one_given(**settings: Any) -> None:
    """Raise if two settings that both determine the sparsity are given."""
    given = [f"{name} = {checks.shown(value)}" for name, value in settings.items() if value is not None]
    if len(given) > 1:
        raise InvalidParameter(f"{' and '.join(given)} were both given: each determines the sparsity. Pass one.")


def check_price_given(penalty: Any, **price: Any) -> None:
    """Raise for a penalty without a price, which would not be used."""
    for name, value in price.items():
        if penalty is not None and value is None:
            raise InvalidParameter(f"penalty = {checks.shown(penalty)} is used with {name} only: pass {name} as well.")


def per_component(k: Any, n_components: Any, n: int, what: str = "k") -> list[int]:
    """One cardinality per component: k itself, k repeated, or a tenth of the variables for None.

    >>> from dcgev_cvx.estimators import per_component
    >>> per_component(None, 2, 25), per_component([3, 1], None, 25)
    ([3, 3], [3, 1])
    """
    several = checks.listed(k)
    count = checks.as_whole(len(several) or 1 if n_components is None else n_components, "n_components")
    if several and len(several) != count:
        raise InvalidParameter(f"{what} = {checks.shown(k)} must have {count} entries, one per component.")
    ks = [checks.as_whole(each, what) for each in several or [math.ceil(n / 10) if k is None else k] * count]
    if max(count, *ks) > n:
        raise InvalidParameter(
            f"n_components = {count} and {what} = {checks.shown(k)} must be at most n_features = {n}: ask for fewer."
        )
    return ks


def seed_of(random_state: Any) -> int:
    """A seed from an integer, Generator, RandomState, or None for a fresh one; generators advance by one draw."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    generator = np.random.default_rng() if random_state is None else checks.as_generator(random_state)
    return int(generator.integers(2**31 - 1)) if generator is random_state or random_state is None else random_state


def chosen_ridge(ridge: Any, X: Table, Y: Table, k: tuple[int, int], seed: int) -> Any:
    """ridge itself, or for "auto" the one of RIDGES with the largest correlation on held-out samples.

    Where several are equal but for rounding it is the first: two ridges often find the same pair.
    """
    if not isinstance(ridge, str) or ridge != "auto" or not 10 <= X.m == Y.m:
        return ridge  # `cca_pencil` checks it, and that the views have as many rows
    rng = np.random.default_rng(seed)
    divisions = math.ceil(SCORED / X.m) if X.n + Y.n <= 1000 else 1
    folds = [rng.permutation(X.m) % FOLDS for _ in range(divisions)]
    scores = [sum(held_out_correlation(X, Y, each, k, fold) for fold in folds) for each in RIDGES]
    return next(each for each, score in zip(RIDGES, scores, strict=True) if score >= max(scores) - 1e-6 * divisions)


def held_out_correlation(X: Table, Y: Table, ridge: Any, k: tuple[int, int], fold: Any) -> float:
    """The correlation of the scores of the first pair, each sample scored by a pair that was found without its fold."""
    scores = np.zeros((2, X.m))
    for out in (fold == i for i in range(FOLDS)):
        parts = Table(X.X[~out], None), Table(Y.X[~out], None)
        if not all(spread(part.X)[1].any() for part in parts):
            continue  # nothing can be found, and the scores are 0
        pencil = cca_pencil_of_tables(*parts, ridge)
        x = constructed(pencil, k)
        for score, view, w in zip(scores, (X, Y), view_weights(pencil, x[:, None]), strict=True):
            score[out] = (view.X[out] - view.X[~out].mean(axis=0)) @ w[:, 0]
    size = np.linalg.norm(scores[0]) * np.linalg.norm(scores[1])
    return float(scores[0] @ scores[1] / size) if size > 0.0 else 0.0


def view_weights(pencil: Pencil, V: Matrix) -> list[Matrix]:
    """The weights of each view as columns, of unit length in its block of B."""
    views = [(V[rows], pencil.B_sub(rows)) for rows in pencil.views]
    norms = [np.sqrt(np.einsum("ij,ij->j", W, B @ W)) for W, B in views]
    return [W / np.where(norm > 0.0, norm, 1.0) for (W, _), norm in zip(views, norms, strict=True)]
