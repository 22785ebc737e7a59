"""The driver: stepped by hand, stopped by rule, and never wrong about how it ended."""

import pickle
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
import referee

from dcgev_cvx import (
    InvalidParameter,
    Pencil,
    SolverFailed,
    SparseGEV,
    Status,
    Stop,
    certify,
    iterate,
    minimize,
    sparse_gev,
)
from dcgev_cvx.certificates import Certificate
from dcgev_cvx.mm import Iterate, lost_digits, result_of
from dcgev_cvx.steps.accelerate import Accelerated
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.step import StepOutput


def output(program, y, x):
    return StepOutput(x, program.g(x, y), mu=0.0, seconds=0.0, residual=0.0, correction=0.0, solver="test")


@pytest.fixture
def program(pitprops):
    return SparseGEV(pitprops, 1.0, 1e-2)


# ---- iterate --------------------------------------------------------------------------------------


def test_a_generator_to_step_by_hand(program):
    steps = iterate(program, soft_threshold_step)
    first, second, third = next(steps), next(steps), next(steps)
    assert [first.l, second.l, third.l] == [0, 1, 2]
    assert np.array_equal(first.x, program.start())
    assert first.f == first.g == program.f(first.x)
    assert second.g == program.g(second.x, first.x)
    assert third.f == program.f(third.x)
    assert first.f >= second.g >= second.f >= third.g >= third.f
    assert np.array_equal(second.x, soft_threshold_step(program, first.x).x)
    assert not third.x.flags.writeable


def test_it_never_ends(program):
    *_, last = islice(iterate(program, soft_threshold_step), 500)
    assert last.l == 499


def test_the_start_is_copied(program):
    x0 = program.start() * 0.5
    kept = x0.copy()
    list(islice(iterate(program, soft_threshold_step, x0), 3))
    assert np.array_equal(x0, kept)
    assert x0.flags.writeable


# ---- statuses -------------------------------------------------------------------------------------


def test_statuses_are_sentences_and_only_two_converge():
    assert len({status.value for status in Status}) == len(Status) == 9
    converged = {status for status in Status if status.value.startswith("converged")}
    assert converged == {Status.SMALL_STEP, Status.SMALL_DECREASE}
    assert not any("optimal" in status.value for status in Status)


def test_small_step(program):
    result = minimize(program, soft_threshold_step, stop=Stop(step=1e-4, stationarity=1e-2))
    assert result.status is Status.SMALL_STEP
    assert result.converged
    assert result.certificate.passes(1e-2)
    before, after = result.history[-2:]
    assert np.linalg.norm(after.x - before.x) <= 1e-4
    assert np.linalg.norm(before.x - result.history[-3].x) > 1e-4


def test_a_fixed_point_is_a_small_step_even_of_tolerance_zero():
    program = SparseGEV(Pencil(np.diag([2.0, 1.0])), 0.0)
    result = minimize(program, soft_threshold_step, [1.0, 0.0], stop=Stop(step=0.0))
    assert (result.status, result.n_iter) == (Status.SMALL_STEP, 1)


def test_small_decrease(program):
    result = minimize(program, soft_threshold_step, stop=Stop(step=0.0, decrease=1e-6, stationarity=1e-2))
    assert result.status is Status.SMALL_DECREASE
    assert result.converged
    assert result.history[-2].f - result.f <= 1e-6 * program.size(result.x)


def test_a_small_step_is_not_convergence_while_the_certificate_fails(program):
    loose = minimize(program, soft_threshold_step, stop=Stop(step=1e-2, stationarity=1.0))
    strict = minimize(program, soft_threshold_step, stop=Stop(step=1e-2, stationarity=1e-7))
    assert strict.n_iter > loose.n_iter
    assert strict.certificate.stationarity <= 1e-7


def test_out_of_iterations(program):
    result = minimize(program, soft_threshold_step, stop=Stop(max_iter=3))
    assert result.status is Status.OUT_OF_ITERATIONS
    assert not result.converged
    assert result.n_iter == 3
    assert len(result.history) == 4


def test_collapsed(program):
    result = minimize(program.with_rho(1e4), soft_threshold_step)
    assert result.status is Status.COLLAPSED
    assert not result.converged
    assert not result.x.any()
    assert result.support == ()
    assert np.isfinite(result.f)


@pytest.mark.parametrize("engine", ["native", "cvxpy"])
@pytest.mark.parametrize("A", [-0.1 * np.diag(np.arange(1.0, 6.0)), -np.diag([1.0, 1.001, 1.0, 1.0, 1.002])])
def test_a_run_that_only_shrinks_x_ends_at_zero(A, engine):
    """A ≺ 0 and no penalty: x⁽ˡ⁾ → 0 by a factor a step, and squares of 1e-160 are no numbers."""
    result = sparse_gev(A, np.diag(np.arange(1.0, 6.0)), rho=0.0, engine=engine, shift="metric")
    assert result.status is Status.COLLAPSED
    assert not result.x.any()
    assert result.f == 0.0
    assert result.certificate.passes()
    assert result.n_iter < 200
    # only the last step begins elsewhere than at the iterate before it, unless it was accelerated
    assert not result.history[-1].origin.any()


def test_a_tiny_start_is_no_end(program):
    """From 1e-20 of the leading vector Algorithm 1 without a penalty still climbs to the boundary."""
    free = program.with_rho(0.0)
    result = minimize(free, soft_threshold_step, 1e-20 * program.pencil.leading_vector)
    assert result.converged
    assert program.pencil.B_norm(result.x) == pytest.approx(1.0)


def test_stopped_by_the_caller(program):
    seen = []

    def callback(it):
        seen.append(it.l)
        return it.l == 4

    result = minimize(program, soft_threshold_step, callback=callback)
    assert result.status is Status.STOPPED
    assert not result.converged
    assert seen == [0, 1, 2, 3, 4]
    assert result.n_iter == 4


@pytest.mark.parametrize("answer", [None, False, 0, 1, "stop", "yes", np.array([1.0, 2.0])])
def test_only_true_stops(program, answer):
    result = minimize(program, soft_threshold_step, callback=lambda it: answer)
    assert result.converged


def test_a_callback_does_not_hide_convergence(program):
    plain = minimize(program, soft_threshold_step)
    result = minimize(program, soft_threshold_step, callback=lambda it: it.l == plain.n_iter)
    assert result.status is plain.status


def test_an_error_in_the_callback_is_the_callers(program):
    class MineError(Exception):
        pass

    def callback(it):
        raise MineError

    with pytest.raises(MineError):
        minimize(program, soft_threshold_step, callback=callback)


def test_stalled(program):
    """A step that returns y: it does not move, and y is not stationary."""
    result = minimize(program, lambda program, y: output(program, y, y.copy()))
    assert result.status is Status.STALLED
    assert not result.converged
    assert result.n_iter == 1


def test_ascent(program):
    rng = np.random.default_rng(0)

    def worse(program, y):
        x = rng.standard_normal(13)
        return output(program, y, x / np.linalg.norm(x))

    result = minimize(program, worse)
    assert result.status is Status.ASCENT
    assert not result.converged
    assert result.history[-1].f > result.history[-2].f


@pytest.mark.parametrize("rise", [1e-12, 1e-9, 1e-3])
def test_even_a_tiny_ascent_is_seen(program, rise):
    """From a stationary point f rises quadratically: a step that long is no minimiser."""
    stationary = minimize(program, soft_threshold_step, stop=Stop(step=1e-14, stationarity=1e-12)).x
    direction = np.where(stationary != 0, np.arange(13.0), 0.0)
    direction -= (direction @ stationary) * stationary

    def uphill(program, y):
        x = y + np.sqrt(rise) * direction / np.linalg.norm(direction)
        return output(program, y, x / np.linalg.norm(x))

    result = minimize(program, uphill, stationary)
    assert result.f > result.history[0].f
    assert result.status is Status.ASCENT


def test_a_failure_keeps_the_history(program):
    calls = []

    def fails_third(program, y):
        calls.append(1)
        if len(calls) == 3:
            raise SolverFailed("no answer today")
        return soft_threshold_step(program, y)

    result = minimize(program, fails_third)
    assert result.status is Status.SOLVER_FAILED
    assert result.message == "step 3: no answer today"
    assert not result.converged
    assert len(result.history) == 3
    assert np.array_equal(result.x, result.history[-1].x)
    assert "no answer today" in str(result)


def test_a_failure_at_a_stationary_point_is_still_a_failure(program):
    stationary = minimize(program, soft_threshold_step, stop=Stop(stationarity=1e-12)).x

    def fails(program, y):
        raise SolverFailed("no answer")

    result = minimize(program, fails, stationary)
    assert result.certificate.passes()
    assert result.status is Status.SOLVER_FAILED
    assert not result.converged


def test_a_step_may_use_its_arrays_again(program):
    """Every iterate is a copy: a step that writes into one buffer changes no history."""
    buffer = np.zeros(2 * program.pencil.n)

    def economical(program, y):
        out = soft_threshold_step(program, y)
        buffer[: len(y)] = out.x
        return replace(out, x=buffer[: len(y)])

    clean, result = minimize(program, soft_threshold_step), minimize(program, economical)
    assert result.status is clean.status
    assert [point.x.tolist() for point in result.history] == [point.x.tolist() for point in clean.history]


@pytest.mark.parametrize("wrapper", [lambda step: step, Accelerated])
@pytest.mark.parametrize(
    "spoilt",
    [
        lambda out: None,
        lambda out: (out.x,),
        lambda out: replace(out, x=out.x.tolist()),
        lambda out: replace(out, x=out.x[:-1]),
        lambda out: replace(out, x=np.longdouble("1e400") * out.x.astype(np.longdouble)),
    ],
)
def test_what_is_no_step_ends_the_run(program, wrapper, spoilt):
    result = minimize(program, wrapper(lambda program, y: spoilt(soft_threshold_step(program, y))))
    assert result.status is Status.SOLVER_FAILED
    assert result.message.startswith("step 1: the step returned ")
    assert len(result.history) == 1


@pytest.mark.parametrize("spoilt", [lambda x: x.tolist(), lambda x: x[:-1], lambda x: np.nan * x])
def test_an_origin_that_is_none_ends_the_run(program, spoilt):
    def wrong(program, y):
        out = soft_threshold_step(program, y)
        return replace(out, origin=spoilt(out.x))

    for step in (wrong, Accelerated(wrong)):
        result = minimize(program, step)
        assert result.status is Status.SOLVER_FAILED
        assert len(result.history) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.longdouble])
def test_iterates_are_of_double_precision(program, dtype):
    def other(program, y):
        out = soft_threshold_step(program, y)
        return replace(out, x=out.x.astype(dtype))

    result = minimize(program, Accelerated(other), stop=Stop(max_iter=4))
    assert {point.x.dtype for point in result.history} == {np.dtype(np.float64)}


# ---- wrong steps are seen -------------------------------------------------------------------------


def test_a_step_that_minimises_half_way_is_seen_by_no_sandwich_but_ends_right(program):
    """Any step that lowers g keeps the sandwich: damped MM is slower, and still ends at a stationary point."""

    def damped(program, y):
        x = soft_threshold_step(program, y).x + y
        return output(program, y, x / np.linalg.norm(x))

    result = minimize(program, damped, stop=Stop(max_iter=3000))
    assert result.certificate.sandwich == 0.0
    assert result.converged == certify(program, result.x).passes()


def test_a_surrogate_above_f_is_seen(program):
    """f falls but g(x⁺, x) > f(x): no MM step, and the sandwich says so."""

    def leap(program, y):
        best = soft_threshold_step(program, soft_threshold_step(program, y).x).x
        x = best + 3.0 * (best - y)
        return output(program, y, x / np.linalg.norm(x))

    result = minimize(program, leap, stop=Stop(max_iter=50))
    assert result.certificate.sandwich > 1e-9
    assert not result.certificate.passes()
    assert not result.converged


@pytest.mark.parametrize(
    "wrong",
    [
        lambda program, y: -soft_threshold_step(program, y).x * 0.5,
        lambda program, y: soft_threshold_step(program.with_rho(0.0), y).x,
        lambda program, y: soft_threshold_step(program.with_rho(3 * program.rho), y).x,
        lambda program, y: y / np.linalg.norm(y),
        lambda program, y: np.roll(y, 1),
        lambda program, y: 2.0 * y,
        lambda program, y: np.full(13, np.nan),
        lambda program, y: np.full(13, np.inf),
    ],
    ids=["half and flipped", "no penalty", "triple penalty", "stale", "rolled", "infeasible", "nan", "inf"],
)
def test_no_wrong_step_converges_to_a_wrong_point(program, wrong):
    with np.errstate(all="ignore"):
        result = minimize(program, lambda p, y: output(p, y, wrong(p, y)), stop=Stop(max_iter=100))
    if result.converged:
        assert referee.stationarity(program.pencil.A, None, result.x, rho=1.0, eps=1e-2) <= 1e-6
        assert program.violation(result.x) <= 1e-9
    else:
        assert result.status not in (Status.SMALL_STEP, Status.SMALL_DECREASE)


# ---- the result -----------------------------------------------------------------------------------


def test_the_result_says_it_all(program):
    result = minimize(program, soft_threshold_step)
    assert result.solvers == {"closed form": result.n_iter}
    assert result.support == tuple(np.flatnonzero(result.x))
    assert result.f == program.f(result.x) == result.history[-1].f
    text = str(result)
    assert text.startswith("converged: ")
    assert "topdiam" in text
    assert "stationarity" in text
    many = minimize(SparseGEV(Pencil(referee.random_pencil(0, 15)[0]), 0.0), soft_threshold_step)
    assert " …" in str(many)


def test_results_pickle_to_the_same_bits(program):
    result = minimize(program, soft_threshold_step)
    copy = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copy.x, result.x)
    assert copy.status is result.status
    assert copy.certificate == result.certificate
    assert [it.f for it in copy.history] == [it.f for it in result.history]
    assert copy.program.f(copy.x) == result.f


def test_descent_along_many_runs():
    for seed in range(20):
        A = referee.random_pencil(seed, 7, indefinite=seed % 2 == 0)[0]
        for eps in (1.0, 1e-4, 2.2e-16):
            program = SparseGEV(Pencil(A), 0.5, eps)
            result = minimize(program, soft_threshold_step, referee.start(seed, None, 7, zeros=1))
            assert result.certificate.sandwich <= 1e-12
            assert result.status in (
                Status.SMALL_STEP,
                Status.SMALL_DECREASE,
                Status.COLLAPSED,
                Status.OUT_OF_ITERATIONS,
            )


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"max_iter": 0}, "max_iter = 0 must be a whole number of at least 1"),
        ({"max_iter": 2.5}, "max_iter = 2.5"),
        ({"max_iter": True}, "max_iter = True"),
        ({"max_iter": "10"}, "max_iter = '10'"),
        ({"step": -1.0}, "step = -1 is out of range"),
        ({"decrease": float("nan")}, "decrease = nan is not finite"),
        ({"stationarity": None}, "stationarity = None is not a real number"),
    ],
)
def test_bad_stop_rules(settings, text):
    with pytest.raises(InvalidParameter) as caught:
        Stop(**settings)
    assert text in str(caught.value)


def test_a_numpy_true_stops_the_run(pitprops):
    from dcgev_cvx import Status, dc_pca

    run = dc_pca(pitprops, rho=4.84, callback=lambda point: (point.x != 0).sum() <= 8)
    assert run.status is Status.STOPPED


def test_shrinking_changes_no_iterate(pitprops):
    program = SparseGEV(pitprops, 4.84)
    plain = minimize(program, soft_threshold_step, stop=Stop(max_iter=40))
    small = minimize(program, soft_threshold_step, stop=Stop(max_iter=40), shrink=True)
    assert (small.status, small.n_iter, small.support) == (plain.status, plain.n_iter, plain.support)
    for one, other in zip(plain.history, small.history, strict=True):
        assert (one.l, one.x.shape) == (other.l, other.x.shape)
        assert np.allclose(one.x, other.x, rtol=1e-9, atol=1e-12)
        assert (one.f, one.g) == (pytest.approx(other.f, rel=1e-12), pytest.approx(other.g, rel=1e-12))
    assert small.passes < plain.passes


def test_shrinking_at_the_first_point_keeps_the_start(pitprops):
    program = SparseGEV(pitprops, 4.84)
    x0 = np.where(np.arange(13) < 3, 0.5, 0.0)
    small = minimize(program, soft_threshold_step, x0, shrink=True)
    assert np.array_equal(small.history[0].x, x0)
    assert [point.l for point in small.history] == list(range(small.n_iter + 1))
    unit = minimize(program, soft_threshold_step, np.eye(13)[4], shrink=True)
    assert unit.support == (4,)


def test_the_defaults_of_the_stop_rule():
    assert (Stop().max_iter, Stop().step, Stop().decrease, Stop().stationarity) == (1000, 1e-10, 0.0, 1e-6)


def test_the_start_has_no_multiplier_and_took_no_time(program):
    start = next(iterate(program, soft_threshold_step))
    assert (start.mu, start.seconds, start.residual, start.work) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("step", [Accelerated, 3.0, None, "closed"], ids=str)
def test_what_is_no_step(program, step):
    with pytest.raises(InvalidParameter, match=r"step must be a function called as step\(program, y\)"):
        iterate(program, step)


def test_what_is_no_program(pitprops):
    with pytest.raises(InvalidParameter, match="program must be a SparseGEV, SparseFDA or DCProgram; got Pencil"):
        iterate(pitprops, soft_threshold_step)


@pytest.mark.parametrize(("n", "more"), [(12, False), (13, True)])
def test_twelve_names_are_printed(n, more):
    result = minimize(SparseGEV(Pencil(np.ones((n, n)) + np.eye(n)), 0.0), soft_threshold_step)
    assert len(result.support) == n
    assert ("x12 …" in str(result)) is more
    assert "x13" not in str(result)


def test_f_that_stays_exactly_the_same_has_stopped_decreasing(program):
    x = minimize(program, soft_threshold_step).x
    turned = minimize(program, lambda program, y: replace(output(program, -y, -y), origin=-y), x)
    assert (turned.status, turned.n_iter) == (Status.SMALL_DECREASE, 1)


def test_only_the_second_step_from_a_point_that_is_zero_up_to_rounding_ends_at_zero():
    program = SparseGEV(Pencil(-np.eye(2)), 0.0)
    start, first, last = islice(iterate(program, lambda program, y: output(program, y, y / 2), [1e-20, 0.0]), 3)
    assert [point.solver for point in (start, first, last)] == ["", "test", "none"]
    assert first.x[0] == 0.5e-20
    assert not last.x.any()
    assert (last.mu, last.seconds, last.f, last.g) == (0.0, 0.0, 0.0, 0.0)
    assert np.array_equal(last.origin, last.x)


def test_a_run_that_cannot_pass_says_that_b_has_lost_its_digits():
    B = np.array([[1.0, 1.0 - 1e-13], [1.0 - 1e-13, 1.0]])
    program = SparseGEV(Pencil(np.eye(2), B), 1e-3)
    along = np.array([1.0, -1.0]) / np.sqrt(2e-13) / 2
    ended = minimize(program, lambda program, y: output(program, y, y), along)
    assert ended.status is Status.STALLED
    assert "add a ridge to B" in ended.message
    assert (
        minimize(SparseGEV(Pencil(np.eye(2)), 1e-3), lambda program, y: output(program, y, y), [0.5, 0.1]).message == ""
    )


@pytest.mark.parametrize(("sandwich", "status"), [(1e-9, Status.SMALL_STEP), (1.01e-9, Status.ASCENT)])
def test_a_run_is_called_an_ascent_exactly_where_its_certificate_fails_by_the_sandwich(sandwich, status):
    certificate = Certificate(0.0, 0.0, 0.0, sandwich, 0)
    judged = SimpleNamespace(certify=lambda x, history: certificate)
    result = result_of(judged, [Iterate(0, np.ones(1), 0.0, 0.0, 0.0, 0.0)], Status.SMALL_STEP)
    assert result.status is status
    assert result.converged == certificate.passes()


def test_digits_are_called_lost_above_a_ten_millionth():
    for lost, words in ((1e-7, False), (1.5e-7, True)):
        assert bool(lost_digits(SimpleNamespace(rounding=lambda _, lost=lost: lost), None)) == words
