"""The exercises by name: what is asked, a hint, and the check of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .._numerics.checks import one_of
from . import answer_checks
from .verdicts import Verdict


@dataclass(frozen=True)
class Exercise:
    """An exercise with its hint and the check of an answer.

    Parameters
    ----------
    name, title : str
        The name by which it is called, and a heading.
    task, hint : str
        What is asked, and a push in the right direction.
    wants : str
        The form of an answer.
    judge : callable
        Returns the verdict on an answer.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> teach.EXERCISES["tau"].wants
    'a number'
    """

    name: str
    title: str
    task: str
    hint: str
    wants: str
    judge: Callable[[Any], Verdict]


def check(name: str, answer: Any) -> Verdict:
    """Check an answer; an exception in the answer's own code becomes part of the verdict.

    Parameters
    ----------
    name : str
        One of `EXERCISES`.
    answer : object
        What `EXERCISES[name].wants`: a function, a number, a vector, a matrix or a tuple.

    Returns
    -------
    Verdict
        True or not, with the number that shows why.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> print(teach.check("cardinality", 9.0))
    right: Algorithm 2 at ρ̃ = 9 ends with 5 nonzeros (converged)
    >>> bool(teach.check("tau", 0.0))
    False
    """
    exercise = named(name)
    if answer is None or answer is ...:
        return Verdict(False, f"no answer given. {exercise.task}")
    try:
        return exercise.judge(answer)
    except (Exception, SystemExit) as error:  # a student's code, even one that leaves: the lesson goes on
        return Verdict(False, f"{type(error).__name__}: {error} (wanted: {exercise.wants})")


def task(name: str) -> str:
    """Return what an exercise asks.

    Parameters
    ----------
    name : str
        One of `EXERCISES`.

    Returns
    -------
    str
        The task.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> teach.task("cardinality")
    'Find ρ̃ for which Algorithm 2 on pit props ends with exactly five nonzeros.'
    """
    return named(name).task


def hint(name: str) -> str:
    """Return the hint of an exercise.

    Parameters
    ----------
    name : str
        One of `EXERCISES`.

    Returns
    -------
    str
        The hint.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> teach.hint("cardinality")
    'More ρ̃, fewer nonzeros: path(pencil) shows where each number is reached.'
    """
    return named(name).hint


def named(name: object) -> Exercise:
    """The exercise of that name, or an error with the nearest one."""
    return EXERCISES[one_of(name, "exercise", EXERCISES)]


EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {
        exercise.name: exercise
        for exercise in (
            Exercise(
                "majoriser",
                "Write a majoriser",
                "Write g(A, x, y, rho_eps, eps, tau) that majorises f(x) = rho_eps Σ log(eps + |xᵢ|) − xᵀAx, touches "
                "it at y and is convex in x. A + τI ⪰ 0.",
                "Keep τ‖x‖², replace the convex xᵀ(A + τI)x by its tangent at y, and log(eps + |xᵢ|), concave "
                "in |xᵢ|, by its tangent in |xᵢ|.",
                "a function g(A, x, y, rho_eps, eps, tau) that returns a number",
                answer_checks.judge_majoriser,
            ),
            Exercise(
                "threshold",
                "One step of DC-PCA",
                "Write step(A, y, rho, eps) that returns the minimiser of (ALG) for B = I and τ = 0: (ALG-S).",
                "Soft-threshold Ay at ½ρ_ε wᵢ, then divide by the length. What if nothing is left?",
                "a function step(A, y, rho, eps) that returns x",
                answer_checks.judge_threshold,
            ),
            Exercise(
                "dcp",
                "Repair a problem that is not DCP",
                "min τ‖x‖² − xᵀ(A + τI)x + ρ_ε Σ log(ε + |xᵢ|) s.t. xᵀBx ≤ 1 is not DCP. Write problem(A, B, y, "
                'rho, eps, tau) → cp.Problem in cp.Variable(n, name="x") that is DCP and whose solution is the '
                "MM step from y.",
                "Two terms are concave. Replace each by its tangent at y: a linear function and a weighted ℓ1 norm.",
                "a function problem(A, B, y, rho, eps, tau) that returns a cp.Problem",
                answer_checks.judge_dcp,
            ),
            Exercise(
                "tau",
                "The smallest shift",
                "Give the smallest τ, to four digits, for which g majorises f on datasets.indefinite(7), whatever "
                "ρ̃ ≥ 0 is.",
                "g(x, y) − f(x) contains (x − y)ᵀ(A + τI)(x − y), and at ρ̃ = 0 nothing else.",
                "a number",
                answer_checks.judge_tau,
            ),
            Exercise(
                "stuck",
                "Stationary is not optimal",
                "Give x with two nonzeros that is stationary for pit props at ρ̃ = 4.84, ε at machine precision, but "
                "whose variables explain less variance than the best two.",
                "Zeros are absorbing: start MM (dc_pca with x0=…) on two variables of your choice.",
                "a vector of 13 numbers",
                answer_checks.judge_stuck,
            ),
            Exercise(
                "corollary",
                "A counterexample to Corollary 6",
                "Give (A, x0), A ⪰ 0 and x0 ≠ 0, such that Algorithm 1 at ρ̃ = 0 does not end at λmax(A).",
                "At ρ̃ = 0 the algorithm is the power method. Which starts does it never leave?",
                "a pair (A, x0)",
                answer_checks.judge_corollary,
            ),
            Exercise(
                "bound",
                "Prove an upper bound",
                "Give a symmetric 13 × 13 matrix U for which relaxations.bounds.homogeneous_bound(pencil, 3, U) on "
                "pit props closes at least half of the gap between λmax(A) and the best 3-sparse value.",
                "Any U is allowed. The dual variable of relaxations.homogeneous_sdp(pencil, 3) is a good one.",
                "a 13 × 13 matrix of numbers",
                answer_checks.judge_bound,
            ),
            Exercise(
                "cardinality",
                "From ρ̃ to k",
                "Find ρ̃ for which Algorithm 2 on pit props ends with exactly five nonzeros.",
                "More ρ̃, fewer nonzeros: path(pencil) shows where each number is reached.",
                "a number",
                answer_checks.judge_cardinality,
            ),
            Exercise(
                "suspect",
                "Find the wrong solver",
                "teach.SUSPECTS holds three steps of (ALG) with a general B. One is wrong. Give (letter, A, B, y, "
                "rho, eps, tau) on which its answer is not the minimiser.",
                "All three are right when B is the identity. verify.check(suspect, 'step') finds it too.",
                "a tuple (letter, A, B, y, rho, eps, tau)",
                answer_checks.judge_suspect,
            ),
        )
    }
)
"""Every exercise by name, from easy to hard."""
