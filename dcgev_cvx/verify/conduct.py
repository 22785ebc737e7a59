"""What is seen beside the numbers: arguments written to, precision, repetition, noise; the value as information."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .._numerics.checks import Vector
from .measures import share
from .outcomes import NO_ANSWER, NO_BASE, Check, Finding, Kind, Outcome, Trial, outcome
from .pairs import Pair, resolved
from .reference import optimum
from .session import Answer, vector_of


def unchanged_check() -> Check:
    """No argument is written to: by no call of the trial, whatever the layout of its arrays, nor by a later one.

    LAPACK overwrites what it is allowed to, and that is often an array in Fortran order alone: three layouts and
    float32 are asked here whether or not their own checks have run.
    """
    about = ("inputs unchanged", "", "the arguments stay as they were, whatever is called after", "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            if trial.session.ask(case).asked:
                yield Finding(case, 0.0, 0.5)
        pairs = trial.suite.pairs
        for pair in (*pairs.get("memory layout", ())[:3], *pairs.get("float32 data", ())[:1]):
            trial.session.call(pair.asked, pair.deliver(pair.asked))
        for case, note in trial.session.written:
            yield Finding(case, 1.0, 0.5, None, note)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def double_check() -> Check:
    """Answers that claim double precision are not all float32 numbers.

    Five telling answers at least: a vector with one nonzero may be exact in single precision by chance.
    """
    about = ("double precision", "", "not every answer is a float32 number in disguise", "contract")

    def run(trial: Trial) -> Outcome:
        answered = [(case, a) for case in trial.suite.battery if (a := trial.session.ask(case)).x is not None]
        # an open float32 answer has its own tolerance; single entries and zeros tell nothing
        telling = [a.x for _, a in answered if a.x is not None and not a.single and np.count_nonzero(a.x) >= 2]
        guilty = len(telling) >= 5 and all(bool(np.all(x == x.astype(np.float32))) for x in telling)
        findings = [Finding(case, float(guilty), 0.5, a.x, "single precision inside") for case, a in answered]
        return outcome(about, findings, NO_ANSWER)

    return Check(*about, run)


def last_digits_check() -> Check:
    """x(θ) and x(θ(1 − 1e-12)) differ: an argument rounded on the way, to float32 or to fit a cache, shows.

    Bits are compared, so that a right answer of any accuracy passes; an argument is said to be rounded if the answer
    stands still in half of its cases or more. Answers that are rounded themselves (a float32
    array, 13 decimal digits or fewer) need not move, and are not held to it.
    """
    about = ("last digits", "", "a change of an argument in its twelfth digit reaches the answer", "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        asked: dict[str, list[tuple[Pair, Answer, bool]]] = {}
        for pair in trial.suite.pairs.get("last digits", ()):
            first = trial.session.ask(pair.base)
            if not trial.right(pair.base) or first.x is None or not resolved(pair.base, pair.asked, first.x):
                continue  # nothing is learnt where x does not move; a run may end at another limit than the printed
            second = trial.session.call(pair.asked, pair.asked.arguments())
            still = second.x is not None and np.array_equal(first.x, second.x)
            asked.setdefault(pair.how, []).append((pair, second, still and not (first.single or few_digits(first.x))))
        for name, pairs in asked.items():
            rounded = 2 * sum(still for _, _, still in pairs) >= len(pairs)
            for pair, second, still in pairs:
                if second.x is None:
                    yield Finding(pair.asked, np.inf, 1.0, None, second.problem)
                else:
                    note = f"{name} was moved by 1e-12 of itself, and no bit of the answer moved" if still else ""
                    yield Finding(pair.asked, float(still and rounded), 0.5, second.x, note)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_BASE))


def few_digits(x: Vector) -> bool:
    """Are all entries numbers of 13 decimal digits, as a program prints them?"""
    return all(float(f"{value:.13g}") == value for value in x.tolist())


def kept_check() -> Check:
    """An answer is not overwritten by a later call: buffers that are handed out again show, however many take turns.

    Runs late: by then every case of the battery has been followed by others of its size.
    """
    about = ("answers kept", "", "an answer stays what it was when the solver is called again", "contract")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            first = trial.session.ask(case)
            if first.x is not None:
                now = vector_of(first.raw, case.n)[0]
                same = now is not None and np.array_equal(now, first.x)
                yield Finding(case, float(not same), 0.5, first.x, "" if same else "a later call overwrote it")

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def observed_check(about: tuple[str, str, str, Kind], notice: Callable[[Answer], str]) -> Check:
    """What was seen on the side of every call of the battery.

    For what is not in the answer but beside it: printing, warnings, arguments written to.
    """

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            answer = trial.session.ask(case)
            if answer.asked:
                note = notice(answer)
                yield Finding(case, float(bool(note)), 0.5, answer.x, note)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def same_bits_check() -> Check:
    """The same call gives the same bits.

    A manner and not a contract: warm starts and threads make bits differ without making answers wrong.
    """
    about = ("same bits", "", "the same call twice gives the same bits", "manner")

    def findings(trial: Trial) -> Iterator[Finding]:
        for pair in trial.suite.pairs.get("the same call twice", ()):
            first, second = trial.session.ask(pair.base), trial.session.call(pair.base, pair.base.arguments())
            if first.x is not None and second.x is not None:
                same = np.array_equal(first.x, second.x)
                yield Finding(pair.base, 0.0 if same else float(np.max(np.abs(first.x - second.x))), 0.0, second.x)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


def exact_zeros_check() -> Check:
    """Zeros are zeros, not dust."""
    return observed_check(
        ("exact zeros", "", "what is zero is 0.0 and not dust", "manner"),
        lambda answer: dust_note(answer.x),
    )


def dust_note(x: Vector | None) -> str:
    """How many entries are dust, in words.

    Below 1e-9 of the largest entry, which is no size that a penalty leaves on purpose.
    """
    if x is None or not x.any():
        return ""
    dust = int(np.count_nonzero((x != 0.0) & (np.abs(x) < 1e-9 * np.max(np.abs(x)))))
    return f"{dust} entries below 1e-9 of the largest" if dust else ""


def value_check() -> Check:
    """How much of the exact optimum the vector reaches: information.

    A heuristic need not be optimal, so this never fails; it is printed because a user wants to know.
    """
    about = ("value against the optimum", "SGEV-P", "information: (optimum − xᵀAx)/max |λ|, worst case", "manner")

    def findings(trial: Trial) -> Iterator[Finding]:
        for case in trial.suite.battery:
            x = trial.session.ask(case).x
            if x is not None:
                best = optimum(case)
                yield Finding(case, share(best.value - float(x @ case.data["A"] @ x), best.radius), np.inf, x)

    return Check(*about, lambda trial: outcome(about, findings(trial), NO_ANSWER))


MANNERS: tuple[tuple[tuple[str, str, str, Kind], Callable[[Answer], str]], ...] = (
    (("plain answers", "", "a float64 array of shape (n,)", "manner"), lambda a: "; ".join(a.oddities)),
    (("silent", "", "nothing is printed", "manner"), lambda a: "printed to stdout" if a.printed else ""),
    (("no warnings", "", "no warning is raised", "manner"), lambda a: a.warned),
)
