"""The driver: stepped by hand, stopped by rule, never wrong about how it ended, and open to anyone's program."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import referee

from dcgev_cvx import (
    Certificate,
    DCGEVError,
    InvalidParameter,
    Pencil,
    SolverFailed,
    SparseGEV,
    Status,
    Stop,
    certify,
    iterate,
    minimize,
    mm,
    sparse_gev,
)
from dcgev_cvx.certificates import sandwich_violation
from dcgev_cvx.steps.accelerate import Accelerated
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.step import StepOutput


def output(program, y, x):
    return StepOutput(x, program.g(x, y), solver="test")


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
    assert first.f >= second.g >= second.f >= third.g >= third.f
    assert np.array_equal(second.x, soft_threshold_step(program, first.x).x)
    assert not third.x.flags.writeable


def test_the_start_is_copied(program):
    x0 = program.start() * 0.5
    kept = x0.copy()
    list(islice(iterate(program, soft_threshold_step, x0), 3))
    assert np.array_equal(x0, kept)
    assert x0.flags.writeable


def test_a_step_may_use_its_arrays_again(program):
    """Every iterate is a copy: a step that writes into one buffer changes no history."""
    buffer = np.zeros(program.pencil.n)

    def economical(program, y):
        out = soft_threshold_step(program, y)
        buffer[:] = out.x
        return replace(out, x=buffer)

    clean, result = minimize(program, soft_threshold_step), minimize(program, economical)
    assert [point.x.tolist() for point in result.history] == [point.x.tolist() for point in clean.history]


def test_a_step_may_return_the_minimiser_alone(program):
    full = minimize(program, soft_threshold_step)
    bare = minimize(program, lambda program, y: soft_threshold_step(program, y).x)
    assert [(point.f, point.g) for point in bare.history] == [(point.f, point.g) for point in full.history]
    assert bare.solvers == {"<lambda>": full.n_iter}


# ---- how a run ends -------------------------------------------------------------------------------


def test_statuses_are_sentences_and_only_stationary_points_converge():
    assert len({status.value for status in Status}) == len(Status)
    converged = {status for status in Status if status.value.startswith("converged")}
    assert converged == {Status.SMALL_STEP, Status.SMALL_DECREASE, Status.D_STATIONARY, Status.D_STATIONARY_TRIED}
    assert not any("optimal" in status.value for status in Status)


def test_small_step(program):
    result = minimize(program, soft_threshold_step, stop=Stop(step=1e-4, stationarity=1e-2))
    assert result.status is Status.SMALL_STEP
    assert result.converged
    assert result.certificate.passes(1e-2)
    before, after = result.history[-2:]
    assert np.linalg.norm(after.x - before.x) <= 1e-4 < np.linalg.norm(before.x - result.history[-3].x)


def test_small_decrease(program):
    result = minimize(program, soft_threshold_step, stop=Stop(step=0.0, decrease=1e-6, stationarity=1e-2))
    assert result.status is Status.SMALL_DECREASE
    assert result.history[-2].f - result.f <= 1e-6 * program.size(result.x)


def test_a_small_step_is_not_convergence_while_the_certificate_fails(program):
    loose = minimize(program, soft_threshold_step, stop=Stop(step=1e-2, stationarity=1.0))
    strict = minimize(program, soft_threshold_step, stop=Stop(step=1e-2, stationarity=1e-7))
    assert strict.n_iter > loose.n_iter
    assert strict.certificate.stationarity <= 1e-7


def test_out_of_iterations(program):
    result = minimize(program, soft_threshold_step, stop=Stop(max_iter=3))
    assert (result.status, result.converged, result.n_iter) == (Status.OUT_OF_ITERATIONS, False, 3)


def test_collapsed(program):
    result = minimize(program.with_rho(1e4), soft_threshold_step)
    assert (result.status, result.converged, result.support) == (Status.COLLAPSED, False, ())
    assert not result.x.any()


@pytest.mark.parametrize("engine", ["native", "cvxpy"])
def test_a_run_that_only_shrinks_x_ends_at_zero(engine):
    """A ≺ 0 and no penalty: x⁽ˡ⁾ → 0 by a factor a step, and squares of 1e-160 are no numbers."""
    A = -0.1 * np.diag(np.arange(1.0, 6.0))
    result = sparse_gev(A, np.diag(np.arange(1.0, 6.0)), rho=0.0, engine=engine, shift="metric")
    assert (result.status, result.f) == (Status.COLLAPSED, 0.0)
    assert not result.x.any()
    assert result.certificate.passes()


def test_a_tiny_start_is_no_end(program):
    """From 1e-20 of the leading vector Algorithm 1 without a penalty still climbs to the boundary."""
    free = program.with_rho(0.0)
    result = minimize(free, soft_threshold_step, 1e-20 * program.pencil.leading_vector)
    assert result.converged
    assert program.pencil.B_norm(result.x) == pytest.approx(1.0)


def test_stalled(program):
    """A step that returns y: it does not move, and y is not stationary."""
    result = minimize(program, lambda program, y: output(program, y, y.copy()))
    assert (result.status, result.converged, result.n_iter) == (Status.STALLED, False, 1)


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
    assert (result.status, result.message) == (Status.SOLVER_FAILED, "step 3: no answer today")
    assert not result.converged
    assert len(result.history) == 3
    assert "no answer today" in str(result)


def test_a_failure_at_a_stationary_point_is_still_a_failure(program):
    stationary = minimize(program, soft_threshold_step, stop=Stop(stationarity=1e-12)).x

    def fails(program, y):
        raise SolverFailed("no answer")

    result = minimize(program, fails, stationary)
    assert result.certificate.passes()
    assert result.status is Status.SOLVER_FAILED


def test_a_run_that_cannot_pass_says_that_b_has_lost_its_digits():
    B = np.array([[1.0, 1.0 - 1e-13], [1.0 - 1e-13, 1.0]])
    along = np.array([1.0, -1.0]) / np.sqrt(2e-13) / 2
    program = SparseGEV(Pencil(np.eye(2), B), 1e-3)
    ended = minimize(program, lambda program, y: output(program, y, y), along)
    assert ended.status is Status.STALLED
    assert "add a ridge to B" in ended.message


# ---- stop rules and callbacks are values ----------------------------------------------------------


def test_a_callback_stops_the_run(program):
    seen = []

    def callback(point):
        seen.append(point.l)
        return np.True_ if point.l == 4 else None

    result = minimize(program, soft_threshold_step, callback=callback)
    assert (result.status, result.converged, seen) == (Status.STOPPED, False, [0, 1, 2, 3, 4])


@pytest.mark.parametrize("answer", [None, False, 0, 1, "stop", np.array([1.0, 2.0])])
def test_only_true_stops(program, answer):
    assert minimize(program, soft_threshold_step, callback=lambda point: answer).converged


def test_any_function_is_a_stop_rule(program):
    def at_eight_nonzeros(program, before, after):
        return Status.STOPPED if np.count_nonzero(after.x) <= 8 < np.count_nonzero(before.x) else None

    result = minimize(program, soft_threshold_step, stop=at_eight_nonzeros)
    assert result.status is Status.STOPPED
    assert len(result.support) <= 8


def test_a_rule_that_never_stops_ends_where_x_repeats(program):
    def never(program, before, after):
        return None

    result = minimize(program, soft_threshold_step, stop=never)
    assert result.status is Status.SMALL_STEP
    assert np.array_equal(result.x, result.history[-2].x)
    idle = minimize(program, lambda program, y: output(program, y, y.copy()), stop=never)
    assert (idle.status, idle.n_iter) == (Status.STALLED, 1)


def test_a_rule_cannot_declare_convergence(program):
    early = minimize(program, soft_threshold_step, stop=lambda program, before, after: Status.SMALL_STEP)
    assert (early.status, early.converged, early.n_iter) == (Status.STOPPED, False, 1)


def test_a_rule_that_never_stops_has_a_last_step(program, monkeypatch):
    monkeypatch.setattr(mm, "MOST_STEPS", 20)
    flip = minimize(program, lambda program, y: output(program, y, -y), stop=lambda program, before, after: None)
    assert (flip.status, flip.n_iter) == (Status.OUT_OF_ITERATIONS, 20)


@pytest.mark.parametrize(
    "stop", [3, "soon", Stop, lambda program, before, after: "soon"], ids=["number", "word", "class", "words"]
)
def test_what_is_no_stop_rule(program, stop):
    with pytest.raises(InvalidParameter, match=r"stop must be a Stop|the stop rule must return a Status"):
        minimize(program, soft_threshold_step, stop=stop)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"max_iter": 0}, "max_iter = 0 must be a whole number of at least 1"),
        ({"max_iter": 2.5}, "max_iter = 2.5"),
        ({"step": -1.0}, "step = -1 is out of range"),
        ({"decrease": float("nan")}, "decrease = nan is not finite"),
        ({"stationarity": None}, "stationarity = None is not a real number"),
    ],
)
def test_bad_settings_of_the_stop_rule(settings, text):
    with pytest.raises(InvalidParameter) as caught:
        Stop(**settings)
    assert text in str(caught.value)


# ---- wrong steps are seen -------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", [lambda step: step, Accelerated])
@pytest.mark.parametrize(
    "spoilt",
    [
        lambda out: None,
        lambda out: (out.x,),
        lambda out: replace(out, x=out.x.tolist()),
        lambda out: replace(out, x=out.x[:-1]),
        lambda out: out.x * np.nan,
        lambda out: replace(out, origin=out.x[:-1]),
    ],
)
def test_what_is_no_step_ends_the_run(program, wrapper, spoilt):
    result = minimize(program, wrapper(lambda program, y: spoilt(soft_threshold_step(program, y))))
    assert result.status is Status.SOLVER_FAILED
    assert result.message.startswith("step 1: the step returned ")
    assert len(result.history) == 1


def test_a_damped_step_ends_at_a_stationary_point_too(program):
    """Any step that lowers g keeps the sandwich: damped MM is slower, and still ends at a stationary point."""

    def damped(program, y):
        x = soft_threshold_step(program, y).x + y
        return output(program, y, x / np.linalg.norm(x))

    result = minimize(program, damped, stop=Stop(max_iter=3000))
    assert result.certificate.sandwich == 0.0
    assert result.converged == certify(program, result.x).passes()


def test_a_leap_over_the_minimiser_is_seen(program):
    """f falls but g(x⁺, x) > f(x): no MM step, and the sandwich says so."""

    def leap(program, y):
        best = soft_threshold_step(program, soft_threshold_step(program, y).x).x
        x = best + 3.0 * (best - y)
        return output(program, y, x / np.linalg.norm(x))

    result = minimize(program, leap, stop=Stop(max_iter=50))
    assert result.certificate.sandwich > 1e-9
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
        lambda program, y: np.full(13, np.inf),
    ],
    ids=["half and flipped", "no penalty", "triple penalty", "stale", "rolled", "infeasible", "inf"],
)
def test_no_wrong_step_converges_to_a_wrong_point(program, wrong):
    with np.errstate(all="ignore"):
        result = minimize(program, lambda p, y: output(p, y, wrong(p, y)), stop=Stop(max_iter=100))
    if result.converged:
        assert referee.stationarity(program.pencil.A, None, result.x, rho=1.0, eps=1e-2) <= 1e-6
        assert program.violation(result.x) <= 1e-9


@pytest.mark.parametrize("step", [Accelerated, 3.0, None, "closed"], ids=str)
def test_what_is_no_step(program, step):
    with pytest.raises(InvalidParameter, match=r"step must be a function called as step\(program, y\)"):
        iterate(program, step)


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


def test_descent_along_many_runs():
    for seed in range(8):
        A = referee.random_pencil(seed, 7, indefinite=seed % 2 == 0)[0]
        for eps in (1.0, 1e-4, 2.2e-16):
            program = SparseGEV(Pencil(A), 0.5, eps)
            result = minimize(program, soft_threshold_step, referee.start(seed, None, 7, zeros=1))
            assert result.certificate.sandwich <= 1e-12
            ends = (Status.SMALL_STEP, Status.SMALL_DECREASE, Status.COLLAPSED, Status.OUT_OF_ITERATIONS)
            assert result.status in ends


# ---- programs of others ---------------------------------------------------------------------------


class Capped:
    """min Σ min((xᵢ − bᵢ)², 1) + ½‖x‖²: the documented methods and nothing else."""

    b = np.array([0.4, -0.3, 2.0, 9.0])

    def start(self, x0=None):
        return np.zeros(4) if x0 is None else np.asarray(x0, dtype=float)

    def f(self, x):
        return float(np.minimum((x - self.b) ** 2, 1.0).sum() + 0.5 * x @ x)

    def g(self, x, y):
        near = np.abs(y - self.b) < 1.0  # the tangent of t ↦ min(t, 1) at t = (yᵢ − bᵢ)²
        return float(np.where(near, (x - self.b) ** 2, 1.0).sum() + 0.5 * x @ x)

    def size(self, x):
        return self.f(x)

    def certify(self, x, history=()):
        near = np.abs(x - self.b) < 1.0
        gradient = np.where(near, 2.0 * (x - self.b), 0.0) + x
        return Certificate(0.0, float(np.abs(gradient).max()), 0.0, sandwich_violation(self, history), 0)


def step_of_capped(program, y):
    near = np.abs(y - program.b) < 1.0
    return np.where(near, 2.0 * program.b / 3.0, 0.0)


class Whole(Capped):
    """With every optional method too."""

    def __init__(self, kept=range(4)):
        self.kept = list(kept)
        self.b = Capped.b[self.kept]

    def start(self, x0=None):
        return np.ones(4) if x0 is None else np.asarray(x0, dtype=float)

    def project(self, x):
        return x

    def restrict(self, support):
        return Whole([self.kept[i] for i in support])

    def zeros_stay(self, y):
        return bool(np.all(np.abs(self.b[y == 0.0]) > 1.0))

    def norm(self, x):
        return float(np.abs(x).max())

    def name(self, i):
        return "abcd"[self.kept[i]]


@pytest.mark.parametrize("wrap", [lambda step: step, Accelerated])
def test_a_program_with_the_documented_methods_and_nothing_else(wrap):
    first, second = islice(iterate(Capped(), wrap(step_of_capped)), 2)
    assert (first.l, second.x[0]) == (0, pytest.approx(0.8 / 3.0))
    result = minimize(Capped(), wrap(step_of_capped))
    assert result.converged
    assert result.certificate.passes()
    assert result.x == pytest.approx([0.8 / 3.0, -0.2, 0.0, 0.0])
    assert "2 nonzeros: x1, x2" in str(result)


def test_with_the_optional_methods_it_extrapolates_shrinks_and_has_names():
    halfway = minimize(Whole(), lambda program, y: 0.5 * (y + step_of_capped(program, y)), stop=Stop(step=1e-6))
    plain, small = minimize(Whole(), step_of_capped), minimize(Whole(), step_of_capped, shrink=True)
    assert np.array_equal(small.x, plain.x)
    assert [point.f for point in small.history] == pytest.approx([point.f for point in plain.history], rel=1e-15)
    assert small.certificate == plain.certificate
    assert [point.work for point in small.history] == [0.0, 1.0, 1.0, 0.5]
    assert "a, b" in str(small)
    quick = minimize(Whole(), Accelerated(lambda program, y: 0.5 * (y + step_of_capped(program, y))))
    assert quick.converged
    assert quick.n_iter < halfway.n_iter
    assert any(point.origin is not None for point in quick.history)


def test_shrinking_needs_its_methods():
    with pytest.raises(InvalidParameter, match=r"shrink=True needs a program with the method restrict\(support\)"):
        minimize(Capped(), step_of_capped, shrink=True)


def test_a_surrogate_that_does_not_majorise_is_no_convergence():
    """g lies below f, so that its minimiser is no minimiser of f: the sandwich shows it, and the status says so."""

    class Below(Capped):
        def g(self, x, y):
            return super().g(x, y) - 0.1 * float(np.sum((x - y) ** 2))

    class Silent(Below):
        def certify(self, x, history=()):
            return super().certify(x)

    for program in (Below(), Silent()):
        result = minimize(program, step_of_capped)
        assert result.status is Status.NOT_MAJORISED
        assert not result.converged
        assert sandwich_violation(program, result.history) > 1e-3


@pytest.mark.parametrize("method", ["start", "f", "g", "size", "certify"])
def test_a_missing_method_is_named(method):
    class Mine(Capped):
        pass

    setattr(Mine, method, None)
    for run in (iterate, minimize):
        with pytest.raises(InvalidParameter, match=rf"got Mine without {method}\("):
            run(Mine(), step_of_capped)


@pytest.mark.parametrize(
    ("method", "answer", "text"),
    [
        ("start", np.array([0.0, np.nan]), "Mine.start(x0) must return a finite vector; got array([ 0., nan])"),
        ("start", np.eye(2), "Mine.start(x0) must return a finite vector"),
        ("start", "x", "Mine.start(x0) must return a finite vector; got 'x'"),
        ("f", np.nan, "Mine.f(x) must return a number; got nan"),
        ("f", np.zeros(4), "Mine.f(x) must return a number; got array"),
        ("f", None, "Mine.f(x) must return a number; got None"),
        ("g", np.nan, "Mine.g(x, y) must return a number; got nan"),
        ("size", None, "Mine.size(x) must return a number; got None"),
        ("certify", None, "Mine.certify(x, history) must return a Certificate; got None"),
        ("certify", True, "Mine.certify(x, history) must return a Certificate; got True"),
    ],
)
def test_a_method_that_returns_something_else_is_named(method, answer, text):
    Mine = type("Mine", (Capped,), {method: lambda self, *given: answer})
    with pytest.raises(InvalidParameter) as caught:
        minimize(Mine(), step_of_capped, stop=Stop(decrease=1e-9))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("method", "answer", "text"),
    [
        ("norm", np.nan, "Mine.norm(x) must return a number; got nan"),
        ("collapsed", np.nan, "Mine.collapsed(x) must return True or False; got nan"),
        ("zeros_stay", None, "Mine.zeros_stay(x) must return True or False; got None"),
        ("restrict", None, "Mine.restrict(support) must return a program; got None"),
        ("project", None, "Mine.project(x) must return a vector like x; got None"),
        ("project", np.ones(2), "Mine.project(x) must return a vector like x; got array([1., 1.])"),
    ],
)
def test_an_optional_method_that_returns_something_else_is_named(method, answer, text):
    Mine = type("Mine", (Whole,), {method: lambda self, x: answer})
    slow = Accelerated(lambda program, y: 0.5 * (y + step_of_capped(program, y)))
    with pytest.raises(InvalidParameter) as caught:
        minimize(Mine(), slow if method == "project" else step_of_capped, shrink=method != "project")
    assert text in str(caught.value)


@pytest.mark.parametrize("value", [np.nan, None])
def test_a_step_with_a_value_that_is_no_number_fails(value):
    result = minimize(Capped(), lambda program, y: StepOutput(step_of_capped(program, y), value))
    assert result.status is Status.SOLVER_FAILED
    assert "instead of g(x, y), a number" in result.message


@pytest.mark.parametrize("program", [SparseGEV, Pencil(np.eye(2)), None, 3.0], ids=repr)
def test_what_is_no_program(program):
    for run in (iterate, minimize):
        with pytest.raises(InvalidParameter, match="program must be a SparseGEV, SparseFDA, DCProgram or an object"):
            run(program, soft_threshold_step)


def test_an_error_in_the_users_code_is_the_users(program):
    class MineError(Exception):
        pass

    def raises(*given):
        raise MineError

    assert not issubclass(MineError, DCGEVError)
    for settings in ({"callback": raises}, {"stop": raises}):
        with pytest.raises(MineError):
            minimize(program, soft_threshold_step, **settings)


def test_shrinking_at_the_first_point_keeps_the_start(pitprops):
    program = SparseGEV(pitprops, 4.84)
    x0 = np.where(np.arange(13) < 3, 0.5, 0.0)
    small = minimize(program, soft_threshold_step, x0, shrink=True)
    assert np.array_equal(small.history[0].x, x0)
    assert [point.l for point in small.history] == list(range(small.n_iter + 1))
