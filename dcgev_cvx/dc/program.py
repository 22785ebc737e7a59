"""Any d.c. program written in CVXPY, minimised by the same MM as the paper's: replace v by its tangent and solve.

    minimise u(x) − v(x)  subject to convex constraints and uⱼ(x) ≤ vⱼ(x),   with u, v, uⱼ, vⱼ convex.

A step from y minimises the surrogate g(·, y), in which v and vⱼ are replaced by their tangents at y. Tangents lie
below, so that g lies above f = u − v and touches it at y. CVXPY compiles the surrogate once; only the tangents
change from step to step. Algorithm 1 is the case

    u = τ‖x‖²,   v = xᵀ(A + τI)x − ρ_ε Σ log(tᵢ + ε),   xᵀBx ≤ 1,   |x| ≤ t.

Three words for a point (Pang, Razaviyayn, Alvarado 2017). It is *critical* when it minimises the surrogate of one
tangent of v. It is *d-stationary*, f has no direction of descent, when it minimises the surrogates of all tangents,
which differ where v has a kink. Where the pieces of v are too many, it is d-stationary *in the pieces tried*.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from time import perf_counter
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import Vector, as_callback, as_vector, shown
from .._numerics.deadline import Deadline
from ..certificates import Certificate, ratio
from ..errors import Infeasible, InvalidParameter, SolverFailed, Unbounded
from ..mm import Callback, Iterate, Stop, expect_stop
from ..steps.backend import Backend
from ..steps.step import StepOutput
from .cvxpy_internals import flat
from .kinks import Kink, NoSubgradient, put
from .splitting import as_convex, as_list, split, split_constraints, variables_of
from .surrogate import Answer, Point, Scales, Surrogate, entry_name
from .tangents import Chooser, restored

if TYPE_CHECKING:
    from .lower_bounds import LowerBound
    from .many_starts import DCResult

CLOSE = 1e-4
"""Pieces within this share of the lengths count as meeting: iterates reach a kink only in the limit, and a gap of 1e-6
leaves x open to about the root of that."""
ENUMERATED, SAMPLED = 2**12, 512
"""With more combinations of pieces than the first, so many are drawn at random as the second says."""
FEASIBLE = 1e-6
"""A violation of this share of a constraint's own size counts as none; conic solvers reach about 1e-8."""
FALL = 1e-9
"""A step from another piece of v is taken where f falls by this share of its size."""
STEEP = 1e-1
"""The weight of a slope of the surrogate beside its gap: a gap of 1e-6 or a slope of 1e-5 is the limit."""
SHORT = 1e-4
"""Slopes are measured over at least this share of the lengths, so that a solver's last digits are no slope."""
EDGE = 1e-7
"""Entries of a solver's answer that are a smaller share of the lengths are 0 but for its last digits."""
SMALL = 2.0**-6
"""Lengths are never a smaller share of those at the start."""
NEAR = 8.0
"""The bound of a certificate holds for all points within so many lengths of x; g is convex, so that these tell."""


class DCProgram:
    """A d.c. program: minimise u(x) − v(x) subject to constraints, with u and v convex CVXPY expressions.

    Parameters
    ----------
    u : cp.Expression
        Real, scalar and convex by CVXPY's rules.
    v : cp.Expression
        Real, scalar and convex by CVXPY's rules.
    constraints : sequence of cp.Constraint
        Each one convex by CVXPY's rules, or an inequality or equality whose sides are sums of convex and concave
        terms, such as cp.norm(x) >= 1.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from dcgev_cvx import DCProgram
    >>> x = cp.Variable(name="x", value=0.5)
    >>> result = DCProgram(x**4, 3 * x**2 + x, [x >= 0, x <= 2]).minimize()
    >>> result.converged, round(result.f, 4), round(float(x.value), 3)
    (True, -3.5139, 1.301)
    """

    def __init__(self, u: Any, v: Any, constraints: Sequence[Any] = ()) -> None:
        self.u: Any = as_convex(u, "u")
        self.v: Any = as_convex(v, "v")
        constraints = as_list(constraints)
        convex, pairs = split_constraints(constraints)
        self.constraints: list[Any] = convex
        self.dc_constraints: list[tuple[Any, Any]] = pairs
        self.variables: list[cp.Variable] = variables_of([self.u, self.v, *constraints])
        self.n: int = sum(variable.size for variable in self.variables)
        self.mu: float = 0.0
        self.weights: Vector = np.zeros(sum(u.size for u, _ in self.dc_constraints))
        self.reference: Vector = np.zeros(0)
        self._counts: Any = np.array([variable.size for variable in self.variables])
        self._begins: Any = np.cumsum([0, *self._counts[:-1]])
        self._shared: Surrogate | None = None
        self._last: Any = None
        self._examined: Any = None
        self._sized: tuple[int, Vector, Vector] = -1, np.zeros(0), np.zeros(0)
        self._constraints_sized: tuple[int, Vector, list[Vector]] = -1, np.zeros(0), []

    @classmethod
    def from_problem(cls, problem: cp.Problem) -> DCProgram:
        """The d.c. program of a CVXPY problem whose objective and constraints are sums of convex and concave terms.

        Problems that follow the rules of DCCP are of this kind. f is the objective of a minimisation, and minus
        the objective of a maximisation.

        Parameters
        ----------
        problem : cp.Problem
            The problem; the program has the same variables.

        Returns
        -------
        DCProgram
            The problem with its objective and constraints split.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from dcgev_cvx import DCProgram
        >>> x = cp.Variable(2, value=[0.2, 0.1])
        >>> problem = cp.Problem(cp.Maximize(cp.norm(x)), [cp.abs(x) <= 1])
        >>> result = DCProgram.from_problem(problem).minimize()
        >>> round(result.f, 6), round(float(problem.objective.value), 6)
        (-1.414214, 1.414214)
        """
        if not isinstance(problem, cp.Problem):
            raise InvalidParameter(f"problem must be a cvxpy.Problem; got {shown(problem)}.")
        objective: Any = problem.objective
        cost = objective.expr if isinstance(objective, cp.Minimize) else -objective.expr
        return cls(*split(cost), problem.constraints)

    def minimize(
        self,
        *,
        solver: Any = "CLARABEL",
        stop: Stop | None = None,
        callback: Callback | None = None,
        starts: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
    ) -> DCResult:
        """Run MM from the variables' values until no tangent of v gives a step down.

        The last iterate is left in the variables. From a start outside the constraints, phase one looks for a
        feasible point: each step minimises the surrogate plus a penalty on the violations, which grows
        until they vanish; where they do not, a few random starts are tried. Variables that stand in no vⱼ and not
        in v need no value to start from.

        Parameters
        ----------
        solver : str or Backend
            A CVXPY solver's name, or a Backend with options and fallbacks. CLARABEL is the fastest by far.
        stop : Stop, optional
            When to stop; Stop(step=1e-8, decrease=1e-6) by default, since a conic solver leaves about eight digits.
        callback : callable, optional
            Called with each Iterate after phase one; returning True stops the run.
        starts : int or sequence, optional
            Run from so many random starts, the variables' values first where they have them; or from these vectors of
            stacked variables. The best result has the table of all in `.starts`.
        random_state : int or numpy.random.Generator, optional
            Chooses the random starts; 0 by default.
        n_jobs : int, optional
            The number of processes that share the starts, as in joblib; 1 by default.
        time_limit : float, optional
            Seconds after which no further step is begun.

        Returns
        -------
        DCResult
            Its status and certificate say which word was earned; `bound` and `gap` say how far from the optimum it is.

        Raises
        ------
        InvalidParameter
            A variable of v has no value, or v has no subgradient there.
        Infeasible
            The convex constraints have no common point.
        Unbounded
            f falls for ever; the message names a direction.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from dcgev_cvx import DCProgram
        >>> x = cp.Variable(value=0.0)
        >>> result = DCProgram(x**2, cp.abs(x)).minimize()
        >>> result.converged, round(abs(float(x.value)), 6)
        (True, 0.5)
        """
        from .many_starts import best_of_starts, run_from_values

        backend = solver if isinstance(solver, Backend) else Backend(solver)
        rule = expect_stop(Stop(step=1e-8, decrease=1e-6) if stop is None else stop)
        deadline, call = Deadline.after(time_limit, "time_limit"), as_callback(callback, "callback")
        if starts is None:
            result = run_from_values(self, backend, rule, call, deadline, random_state)
        else:
            result = best_of_starts(self, backend, rule, call, deadline, starts, random_state, n_jobs)
        put(self.variables, result.x)
        return result

    def lower_bound(self, *, below: float | None = None) -> LowerBound:
        """A number below the minimum of f, from a convex relaxation; see `lower_bounds.lower_bound`.

        Parameters
        ----------
        below : float, optional
            The value of a known feasible point; the bound may then leave out points that are worse.

        Returns
        -------
        LowerBound
            value, how it was found, and the box that it used; the value is −∞ where there is no such box.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from dcgev_cvx import DCProgram
        >>> x = cp.Variable(value=0.3)
        >>> bound = DCProgram(x**2, cp.abs(x), [cp.abs(x) <= 1]).lower_bound()
        >>> bound.value <= -0.25
        True
        """
        from .lower_bounds import lower_bound

        return lower_bound(self, below)

    def certify(self, x: Any, history: Sequence[Iterate] = ()) -> DCCertificate:
        """The certificate of a point: x is d-stationary exactly when it minimises the surrogate of every tangent.

        Parameters
        ----------
        x : array_like
            The stacked variables, as in MMResult.x.
        history : sequence of Iterate
            The iterates whose descent is checked.

        Returns
        -------
        DCCertificate
            Feasibility, stationarity, the duality gap of its bound, the descent along the history, and the word.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from dcgev_cvx import DCProgram
        >>> x = cp.Variable()
        >>> program = DCProgram(x**2, cp.abs(x))
        >>> program.certify([0.5]).word, program.certify([0.0]).word, program.certify([0.3]).word
        ('d-stationary', 'critical', 'not critical')
        """
        x = as_vector(x, self.n, "x")
        self._surrogate.refresh()
        if not self.dc_constraints or self.mu > 0.0:
            return self._certificate(x, history)
        # with penalties that are large enough, what is stationary is so without them
        found = (self.with_penalty(mu, x)._certificate(x, history) for mu in (1.0, 30.0, 1e3, 3e4))
        best = next(found)
        for other in found:
            if best.passes():
                break
            best = min(best, other, key=lambda certificate: certificate.stationarity)
        return best

    def _certificate(self, x: Vector, history: Sequence[Iterate]) -> DCCertificate:
        size, violation = self.size(x), self.violation(x)
        judged = self.examine(x, Backend(), only_one=not violation <= FEASIBLE)
        return DCCertificate(
            feasibility=violation,
            stationarity=judged.measure,
            complementarity=ratio(judged.duality_gap, size),
            sandwich=max((self.rise(before, after) for before, after in pairwise(history)), default=0.0),
            snapped=0,
            gap=judged.gap,
            critical=judged.plain,
            pieces=judged.pieces,
            complete=judged.complete,
            checked=judged.checked,
        )

    # What the driver asks of a program

    def start(self, x0: Any = None) -> Vector:
        """The variables' values, or x0; Infeasible where a constraint is violated that no penalty weighs."""
        x = self.values()[0] if x0 is None else as_vector(x0, self.n, "x0")
        self._surrogate.refresh()
        worst = self.convex_violation(x) if self.mu > 0.0 else self.violation(x)
        if not worst <= FEASIBLE:
            raise Infeasible(
                f"the start violates a constraint by {worst:.2g} of its size. Call program.minimize(), which looks for "
                "a feasible point first, or start inside the constraints."
            )
        return x

    def f(self, x: Vector) -> float:
        """u(x) − v(x), plus the weighted sum of the violations of uⱼ(x) ≤ vⱼ(x)."""
        at = self.point(x)
        return self._objective(at.u - at.v)

    def g(self, x: Vector, y: Vector) -> float:
        """f(x) with v and vⱼ replaced by tangents at y: it majorises f and touches it at y.

        Where kinks meet at y, the tangents are those that are highest at x: g is the lowest such majoriser.
        """
        tangent, kinks = self.point(y), self._kinks(y)
        if kinks:
            tangent = self._surrogate.piece(y, kinks, lambda _, kink, w: kink.highest(w), x)
        return self._objective(self._surrogate.left(x) - tangent.v - tangent.slopes @ (x - y))

    def _objective(self, difference: Vector) -> float:
        return float(difference[0] + self.weights @ np.maximum(difference[1:], 0.0))

    def violation(self, x: Vector) -> float:
        """The largest violation of a constraint, relative to its size."""
        return max(self.dc_violation(x), self.convex_violation(x))

    def dc_violation(self, x: Vector) -> float:
        """The largest of uⱼ(x) − vⱼ(x) relative to its size, or 0."""
        if not self.dc_constraints:
            return 0.0
        at = self.point(x)
        return float(np.max((at.u[1:] - at.v[1:]) / self.sizes(x)[1:], initial=0.0))

    def convex_violation(self, x: Vector) -> float:
        """The largest relative violation of a convex constraint, or of an attribute of a variable such as nonneg."""
        here = self._terms(x)
        worst = float(np.max(np.abs(self._projected(x) - x) / self.lengths(x)))
        if any((residual > 0.0).any() for residual, _, _ in here):
            for (residual, _, _), size in zip(here, self._constraint_sizes(x), strict=True):
                worst = max(worst, float(np.max(residual / size, initial=0.0)))
        return worst if worst == worst else math.inf

    def _constraint_sizes(self, x: Vector) -> list[Vector]:
        """The sizes of the convex constraints, by entry."""
        before, y, sizes = self._constraints_sized
        if before != self._surrogate.version or self._moved(x, y):
            sizes = self._constraint_sizes_at(x)
            self._constraints_sized = self._surrogate.version, x, sizes
        return sizes

    def _moved(self, x: Vector, y: Vector) -> bool:
        """Are sizes at y too old for x?"""
        return bool(np.max(np.abs(x - y) / self.lengths(x)) > 0.5 / PROBES)

    def _constraint_sizes_at(self, x: Vector) -> list[Vector]:
        shares = (1.0, -1.0, PROBES, -PROBES)
        moved = [(share, self._terms(self._projected(x + share * self._probe(x)))) for share in shares]
        sizes = list[Vector]()
        for k, (_, size, difference) in enumerate(self._terms(x)):
            slopes = np.array([np.abs(terms[k][2] - difference) * PROBES / abs(share) for share, terms in moved])
            sizes.append(constraint_size(size, np.max(np.where(np.isfinite(slopes), slopes, 0.0), axis=0)))
        return sizes

    def _terms(self, x: Vector) -> list[tuple[Vector, Vector, Vector]]:
        with restored(self.variables), np.errstate(all="ignore"):
            put(self.variables, x)
            return [constraint_terms(constraint) for constraint in self.constraints]

    def lengths(self, x: Vector) -> Vector:
        """A length for each entry: the largest in its variable, at x or, where that is small, at the start."""
        if not self.reference.size:
            self.refer_to(x)
        return np.repeat(np.maximum.reduceat(np.maximum(np.abs(x), SMALL * self.reference), self._begins), self._counts)

    def refer_to(self, start: Vector, *, level: bool = False) -> None:
        """Take the lengths of this start; where it is 0, or level, those at which f and the constraints bend."""
        largest = np.repeat(np.maximum.reduceat(np.abs(start), self._begins), self._counts)
        self.reference, self._sized = largest, (-1, np.zeros(0), np.zeros(0))
        self._constraints_sized = -1, np.zeros(0), []
        if level or not largest.all():
            zero = (largest == 0.0) | level
            self.reference = np.where(zero, largest.max() or 1.0, np.where(start == 0.0, largest, np.abs(start)))
            self.reference = np.where(zero, self._bend(start, zero) / SMALL, self.reference)

    def _bend(self, start: Vector, moved: Any) -> float:
        """The median of the powers of two at which the growth of a term becomes faster, as from 1 to 1 + x."""
        direction, at = np.where(moved, self._signs, 0.0), self.point(start)
        terms = self._terms(start)
        fixed = [np.abs(at.u) + np.abs(at.v), *(size for _, size, _ in terms)]
        profile = list[Vector]()
        for k in range(-100, 101, 5):
            z = self._projected(start + 2.0**k * direction)
            moves = [
                self._change(at, z),
                *(np.abs(d - e) for (_, _, d), (_, _, e) in zip(self._terms(z), terms, strict=True)),
            ]
            profile.append(np.concatenate([a + b for a, b in zip(fixed, moves, strict=True)]))
        with np.errstate(all="ignore"):
            degrees = np.diff(np.log2(np.array(profile)), axis=0) / 5.0
        found = list[float]()
        for degree in degrees.T:
            known = np.flatnonzero(np.isfinite(degree))
            faster = known[degree[known] > degree[known].min(initial=0.0 if not known.size else math.inf) + 0.5]
            if faster.size:
                found.append(2.0 ** (-100.0 + 5.0 * float(faster[0])))
        return statistics.median(found) if found else SMALL * float(self.reference.max())

    @property
    def _signs(self) -> Vector:
        return np.random.default_rng(0).uniform(0.5, 1.5, self.n) * (-1.0) ** np.arange(self.n)

    def _probe(self, x: Vector) -> Vector:
        return self._signs * self.lengths(x) / PROBES

    def _change(self, at: Point, z: Vector) -> Vector:
        """|u(z) − u(x)| + |v(z) − v(x)|, and so for the constraints; 0 outside the domain."""
        try:
            u, v = self._surrogate.values(z)
        except NoSubgradient:
            return np.zeros(len(at.u))
        moved = np.abs(u - at.u) + np.abs(v - at.v)
        return np.where(np.isfinite(moved), moved, 0.0)

    def _projected(self, x: Vector) -> Vector:
        """The nearest point with the attributes of the variables, such as symmetry."""
        with restored(self.variables):
            put(self.variables, x)
            return np.concatenate([flat(w.project(w.value)) for w in self.variables])

    def size(self, x: Vector) -> float:
        """How much the terms of f vary over the lengths of x: conic solvers are accurate to a share of this."""
        return float(self.sizes(x)[0])

    def sizes(self, x: Vector) -> Vector:
        """The sizes of the objective and of the d.c. constraints at x.

        The objective's is the change of u and v over the lengths of x, in which constants have no part. A
        constraint's is |uⱼ| + |vⱼ|, but no more than their change, and no less than a thousandth of it.
        """
        at, version = self.point(x), self._surrogate.version
        before, y, sizes = self._sized
        if before != version or self._moved(x, y):
            step = self._probe(x)
            change = np.zeros(len(at.u))
            for share in (1.0, -1.0, 2.0**-10, -(2.0**-10), 2.0**-20, -(2.0**-20)):
                moved = self._change(at, self._projected(x + share * step)) * PROBES / abs(share)
                change = np.maximum(change, moved)
                if share < 0.0 and change[0] > 0.0:
                    break  # the smaller steps are for the edges of domains
            terms = np.nan_to_num(np.abs(at.u) + np.abs(at.v), nan=1.0, posinf=1.0)
            found = change.copy()
            if self.dc_constraints:
                wide = (self._change(at, self._projected(x + sign * PROBES * step)) for sign in (1.0, -1.0))
                # no constraint is violated by more than its size: v may be level where x is
                found = np.maximum(constraint_size(terms, np.maximum(change, np.maximum(*wide))), at.u - at.v)
            found[0] = max(change[0], 1e-9 * terms[0]) or 1.0
            self._sized, sizes = (version, x, found), found
        return sizes

    def rounding(self, size: float, x: Vector) -> float:
        """What f and g may lose to rounding inside CVXPY's expressions."""
        at = self.point(x)
        terms = np.nan_to_num(np.abs(at.u) + np.abs(at.v), nan=0.0, posinf=0.0)
        return 1e-12 * (size + float(terms[0] + self.weights @ terms[1:]))

    def norm(self, x: Vector) -> float:
        """‖x‖."""
        return float(np.linalg.norm(x))

    def collapsed(self, x: Vector) -> bool:
        """False: 0 is a point like any other."""
        return False

    def name(self, i: int) -> str:
        """The name of entry i of the stacked variables, such as x[0] or X[1, 2]."""
        return entry_name(self.variables, i)

    def rise(self, before: Iterate, after: Iterate) -> float:
        """By how much a step breaks f(x⁺) ≤ g(x⁺, y) ≤ f(y), relative to the size of f (Eq:sandwich)."""
        x, y = after.x, before.x if after.origin is None else after.origin
        f, g, size = self.f(x), self.g(x, y), max(self.size(x), self.size(y))
        lost = self.rounding(size, x) + self.rounding(size, y)
        return ratio(max(0.0, f - g - lost, g - self.f(y) - lost, self.f(y) - self.f(before.x) - lost), size)

    # The surrogates at y, one for each piece of v

    def point(self, x: Vector) -> Point:
        """The values of u, v, uⱼ, vⱼ at x and subgradients of v and vⱼ, or NoSubgradient."""
        return self._surrogate.point(x)

    def minimum(self, y: Vector, backend: Backend) -> Answer:
        """The minimiser of g(·, y), with CVXPY's subgradient, over the convex constraints."""
        at, key = self.point(y), (y.tobytes(), self.weights.tobytes(), backend, self._surrogate.version)
        if self._last is None or self._last[0] != key:
            self._last = key, self.minimum_of(at, y, backend)
        return self._last[1]

    def minimum_of(self, at: Point, y: Vector, backend: Backend) -> Answer:
        """The minimiser of the surrogate with these tangents."""
        if not self._surrogate.measured:
            self._surrogate.measure(self.sizes(y), self._constraint_sizes(y))
        scales = Scales(self.lengths(y), self.sizes(y)[1:], NEAR)
        try:
            return self._surrogate.minimum(at, y, self.weights, scales, backend)
        except SolverFailed as failure:
            direction = getattr(failure, "direction", None)
            if direction is None:
                raise
            raise Unbounded(
                f"the surrogate falls for ever as {self.towards(direction)}. Add constraints that bound it, or add the "
                "same convex term, such as cp.sum_squares(x), to u and to v."
            ) from failure

    def towards(self, direction: Vector) -> str:
        """A direction in words: the entries that move most."""
        steps = direction / max(float(np.max(np.abs(direction))), 1e-300)
        far = [int(i) for i in np.argsort(-np.abs(steps), kind="stable")[:5] if abs(steps[i]) > 1e-3]
        return ", ".join(f"{self.name(i)} → {'+' if steps[i] > 0 else '−'}∞" for i in far)

    def _active(self, x: Vector) -> Any:
        """The objective, and the d.c. constraints that hold with equality or are violated: only their kinks matter."""
        if not self.dc_constraints:
            return np.zeros(1, dtype=np.intp)
        at = self.point(x)
        near = (self.weights > 0.0) & (at.u[1:] - at.v[1:] >= -FEASIBLE * self.sizes(x)[1:])
        return np.concatenate([[0], 1 + np.flatnonzero(near)])

    def examine(self, x: Vector, backend: Backend, *, only_one: bool = False) -> Examination:
        """Does x minimise the surrogates of all pieces of v and vⱼ that meet there? If not, a way down.

        With only_one=True the tangent at x alone is tried.
        """
        self._surrogate.refresh()
        key = (x.tobytes(), self.weights.tobytes(), backend, only_one, self._surrogate.version)
        if self._examined is None or self._examined[0] != key:
            self._examined = key, self._examination(x, backend, only_one)
        return self._examined[1]

    def _examination(self, x: Vector, backend: Backend, only_one: bool) -> Examination:
        try:
            judged = self._judge(x, self.minimum(x, backend))
        except (SolverFailed, Unbounded):
            return Examination(math.inf, math.inf, math.inf, math.inf, 1, complete=False, checked=False)
        for number, (at, complete) in enumerate([] if only_one else self._pieces(x)):
            try:
                other = self._judge(x, self.minimum_of(at, x, backend), near=True)
            except (SolverFailed, Unbounded):
                judged = replace(judged, complete=False)
                continue
            judged = judged.worse(other, number + 1, complete)
            if judged.escape is not None:
                return judged
        return judged

    def _kinks(self, x: Vector) -> list[Kink]:
        """The kinks of v, and of the active vⱼ, that meet at x."""
        return self._surrogate.tangent.kinks(x, CLOSE * self.lengths(x), self._active(x))

    def _pieces(self, x: Vector) -> Iterator[tuple[Point, bool]]:
        """(the values and slopes of a piece, whether all pieces are enumerated) for each piece that meets at x."""
        kinks = self._kinks(x)
        counts = [len(kink.options) for kink in kinks]
        if math.prod(counts) <= ENUMERATED:
            complete, combinations = all(kink.complete for kink in kinks), product(*map(range, counts))
        else:
            complete, combinations = False, np.random.default_rng(0).integers(0, counts, (SAMPLED, len(counts)))
        for chosen in combinations if kinks else []:
            yield self._surrogate.piece(x, kinks, chosen_pieces(chosen), x), complete

    def _judge(self, x: Vector, answer: Answer, *, near: bool = False) -> Examination:
        """How far g(·, x) falls below f(x), to the bound and to the minimiser, and the minimiser if f falls too.

        near: g is the surrogate of a piece that meets another near x, and may lie above f(x).
        """
        here, size, lengths = self.f(x), self.size(x), self.lengths(x)
        z = self.inside(answer.x, x, back=1e-3)
        value = self.g(z, x)
        fall = here - self.f(z)
        # min g ≤ g(x, x) = f(x): where the bound lies above f(x), the solver failed by this much
        gap = max(0.0, here - answer.lowest) if near else abs(here - answer.lowest)
        far = max(float(np.max(np.abs(z - x) / lengths)), SHORT)
        slope = max(0.0, here - value) / far if z is answer.x else 0.0  # infinite on the edge of the domain of v
        escapes = fall > FALL * size and value <= here and self.convex_violation(z) <= FEASIBLE
        # on the edge slopes are nearly infinite, and a solver's last digits make a gap
        measure = max(ratio(gap, size) * (1.0 if z is answer.x else 0.1), STEEP * ratio(slope, size))
        return Examination(
            gap, measure, measure, abs(answer.value - answer.lowest), 1, True, answer.checked, z if escapes else None
        )

    @property
    def _surrogate(self) -> Surrogate:
        if self._shared is None:
            self._shared = Surrogate([(self.u, self.v), *self.dc_constraints], self.constraints, self.variables)
        return self._shared

    def refresh(self) -> None:
        """Check the values of the user's parameters, and forget what was computed for others."""
        self._surrogate.refresh()

    def near(self) -> Vector:
        """The variables' values, 0 where they have none."""
        return np.concatenate([np.zeros(w.size) if w.value is None else flat(w.value) for w in self.variables])

    def scaled(self) -> tuple[Vector, list[Any]]:
        """(the units of the objective and the d.c. constraints, the convex constraints in theirs)."""
        if not self._surrogate.measured:
            x = self.near()
            try:
                self._surrogate.measure(self.sizes(x), self._constraint_sizes(x))
            except NoSubgradient:  # x does not lie in the domain of v
                return np.ones(1 + len(self.weights)), self.constraints
        return self._surrogate.units, self._surrogate.scaled_constraints

    def is_empty(self) -> bool:
        """Does a solver prove that the convex constraints have no common point?"""
        return self._surrogate.is_empty()

    @property
    def domain(self) -> list[Any]:
        """The domains of v and vⱼ, as constraints."""
        return self._surrogate.domain

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the compiled problem."""
        return vars(self) | {
            "_shared": None,
            "_last": None,
            "_examined": None,
            "_sized": (-1, np.zeros(0), np.zeros(0)),
            "_constraints_sized": (-1, np.zeros(0), []),
        }

    def inside(self, x: Vector, y: Vector, back: float) -> Vector:
        """x, or a point nearby where v has a subgradient, as it has none on the edge of its domain.

        Entries that are 0 but for the solver's last digits are moved a little towards y, else the whole of x is.
        """
        lengths = self.lengths(y)
        zero = np.abs(x) <= EDGE * lengths
        for z in (
            x,
            *(np.where(zero, np.sign(y) * share * lengths, x) for share in (1e-11, 1e-9)),
            *(x + share * (y - x) for share in (*(back * 10.0**k for k in range(5)), 0.1)),
        ):
            try:
                self.point(z)
            except NoSubgradient:
                continue
            return z
        return y

    def with_penalty(self, mu: float, at: Vector) -> DCProgram:
        """The same program with the violations of uⱼ ≤ vⱼ weighted; it shares what is compiled.

        μ = 1 weighs a violation of a constraint's size at a point like the objective's size there.
        """
        other = copy(self)
        other._shared, other.mu = self._surrogate, mu
        size, *others = self.sizes(at)
        other.weights = mu * (size if self.u.variables() or self.v.variables() else 1.0) / np.array(others)
        return other

    @property
    def needed(self) -> list[cp.Variable]:
        """The variables of v and vⱼ, which need a value to start from."""
        ids = {w.id for _, v in [(0, self.v), *self.dc_constraints] for w in v.variables()}
        return [variable for variable in self.variables if variable.id in ids]

    def values(self) -> tuple[Vector, bool]:
        """(the variables' values, stacked, with 0 for those that need none; whether every variable had one)."""
        for variable in self.needed:
            if variable.value is None:
                raise InvalidParameter(
                    f"variable {variable.name()} stands in v and has no value to start from. Set {variable.name()}"
                    ".value, for example to rng.standard_normal(shape), or call minimize(starts=10)."
                )
        known = all(w.value is not None for w in self.variables)
        x = self.near()
        if not np.isfinite(x).all():
            raise InvalidParameter(
                f"{self.name(int(np.argmin(np.isfinite(x))))} starts at a value that is NaN or infinite. Set it anew."
            )
        try:
            self.point(x)
        except NoSubgradient as failure:
            raise InvalidParameter(f"{failure} Start from a point inside the domain of v.") from failure
        return x, known


def chosen_pieces(numbers: Sequence[int]) -> Chooser:
    """Takes the piece of this number at each kink."""
    return lambda i, kink, w: int(numbers[i])


PROBES = 64.0
"""Sizes are measured by steps of a 64th of the lengths."""


def constraint_terms(constraint: Any) -> tuple[Vector, Vector, Vector]:
    """(violations, sizes of the terms, left less right) of a convex constraint at the variables' values, by entry."""
    residual = np.atleast_1d(np.asarray(constraint.violation(), dtype=float)).ravel()
    sides = [flat(argument.value) for argument in constraint.args]
    if len(sides) == 2 and all(len(side) == len(residual) for side in sides):
        return residual, np.abs(sides[0]) + np.abs(sides[1]), sides[0] - sides[1]
    size = max(float(np.max(np.abs(side), initial=0.0)) for side in sides)
    return residual, np.full(len(residual), size), np.full(len(residual), size)


def constraint_size(terms: Vector, change: Vector) -> Vector:
    """The size of a constraint from that of its terms and from their change over the lengths of x; 1 for 0."""
    found = np.maximum(np.minimum(terms, change), 1e-3 * change)
    found = np.where(found > 0.0, found, terms)
    return np.where(found > 0.0, found, 1.0)


@dataclass(frozen=True)
class Examination:
    """Of all pieces that were tried at x: the largest gap and measure, and a minimiser at which f is lower."""

    gap: float
    measure: float
    plain: float
    duality_gap: float
    pieces: int
    complete: bool
    checked: bool
    escape: Vector | None = None

    def worse(self, other: Examination, pieces: int, complete: bool) -> Examination:
        """The larger numbers of two."""
        return Examination(
            max(self.gap, other.gap),
            max(self.measure, other.measure),
            self.plain,
            max(self.duality_gap, other.duality_gap),
            pieces,
            self.complete and complete,
            self.checked and other.checked,
            other.escape,
        )


@dataclass(frozen=True)
class TangentStep:
    """x⁽ˡ⁺¹⁾ = argmin g(·, x⁽ˡ⁾), for `iterate` and `minimize` of a DCProgram.

    Where that does not lower f, the other pieces of v that meet at x⁽ˡ⁾ are tried, and the step that does is taken.

    Parameters
    ----------
    backend : Backend
        The solver, its options and its fallbacks.
    deadline : Deadline
        After it no other pieces are tried.

    Examples
    --------
    >>> from itertools import islice
    >>> import cvxpy as cp
    >>> from dcgev_cvx import DCProgram, iterate
    >>> from dcgev_cvx.dc import TangentStep
    >>> x = cp.Variable(value=1.0)
    >>> [round(point.f, 4) for point in islice(iterate(DCProgram(x**4, 2 * x**2), TangentStep()), 4)]
    [-1.0, -1.0, -1.0, -1.0]
    """

    backend: Backend = field(default_factory=Backend)
    deadline: Deadline = field(default_factory=Deadline)

    def __call__(self, program: DCProgram, y: Vector) -> StepOutput:
        """argmin g(·, y), of the tangent at y or of another piece."""
        begin = perf_counter()
        answer = program.minimum(y, self.backend)
        x = program.inside(answer.x, y, back=1e-3)
        value, here = program.g(x, y), program.f(y)
        lower = value < here and program.f(x) <= here  # f(x) ≤ g(x, y) but for rounding
        if (not lower or here - program.f(x) <= 1e-6 * program.size(y)) and not self.deadline.passed:
            escape = program.examine(y, self.backend).escape
            if escape is not None and program.f(escape) < program.f(x):
                x, value, lower = escape, program.g(escape, y), True
        x, value = (x, value) if lower else (y.copy(), here)
        return StepOutput(x, value, program.mu, perf_counter() - begin, 0.0, 0.0, answer.solver)


@dataclass(frozen=True)
class DCCertificate(Certificate):
    """What can be said about a point of a general d.c. program; zero is perfect, nothing depends on the scale.

    feasibility      largest violation of a constraint, relative to the constraint's own size
    stationarity     the largest f(x) − min g(·, x) over the pieces of v that meet at x, relative to the size of f,
                     or a hundredth of the slope at which g falls, where that is more
    complementarity  the largest gap between the value of g at its minimiser and the bound, relative to the same
    sandwich         worst violation of f(x⁺) ≤ g(x⁺, y) ≤ f(y) along the history

    gap is the largest f(x) − min g(·, x) itself, and `critical` the stationarity for the first tangent alone. The
    bound on the minimum is computed from data that were checked where `checked` is true. A point that passes has no
    direction of descent to the tolerance; it need not be optimal.
    """

    gap: float
    critical: float
    pieces: int
    complete: bool
    checked: bool

    @property
    def word(self) -> str:
        """Which of the words the point has earned."""
        if not self.feasibility <= FEASIBLE:
            return "not feasible"
        if self.stationarity <= 1e-6:
            return "d-stationary" if self.complete else f"d-stationary in the {self.pieces} pieces tried"
        return "critical" if self.critical <= 1e-6 else "not critical"

    def __str__(self) -> str:
        trust = (
            f"the bound is checked for all points within {NEAR:g} lengths of x"
            if self.checked
            else "as far as the solver's residuals can be trusted"
        )
        return f"{self.word}: {super().__str__()}; {trust}"
