"""compare: both sides, honest rows, failures that stay in their row, and a page that escapes every name."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from functools import cached_property
from html.parser import HTMLParser
from time import perf_counter, sleep

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, Pencil, SolverFailed, compare, dc_pca
from dcgev_cvx.comparison import METHODS, Comparison, Interrupted, Row, html_report
from dcgev_cvx.comparison.game import Game, mm_run, rho_for
from dcgev_cvx.comparison.guests import GUESTS
from dcgev_cvx.comparison.report import png
from dcgev_cvx.datasets import pitprops, planted_cca
from dcgev_cvx.exact import Progress, brute_force
from dcgev_cvx.plotting import comparison_plot

QUICK = ("dc-pca", "solve", "greedy", "rounded", "homogeneous", "no-sdp", "exact")


@pytest.fixture(scope="module")
def six():
    return compare(pitprops(), 6)


def row_of(comparison, method, side="lower"):
    return next(row for row in comparison.rows if row.method == method and row.side == side)


def test_pit_props_with_every_method(six):
    guests = {METHODS[name][0] for name in GUESTS}
    assert {row.method for row in six.rows} - guests == {title for title, _, _ in METHODS.values()} - guests
    assert six.gap.closed
    assert six.best_lower == pytest.approx(3.77096, abs=1e-5)
    assert all(row.value <= six.best_upper * (1 + 1e-12) for row in six.lower if row.valid)
    assert all(row.value >= six.best_lower * (1 - 1e-12) for row in six.upper if row.valid)
    assert row_of(six, "homogeneous SDP", "upper").value == pytest.approx(3.8137, abs=1e-4)
    assert row_of(six, "homogeneous SDP", "upper").percent == pytest.approx(90.40, abs=0.01)
    assert row_of(six, "literal SDP (Section 3)", "upper").value == pytest.approx(4.2186, abs=1e-4)
    closed, cvxpy = row_of(six, "DC-PCA (closed form)"), row_of(six, "DC (CVXPY)")
    assert closed.value == pytest.approx(cvxpy.value, rel=1e-9)
    assert closed.stationarity < 1e-6
    assert closed.iterations > 1
    assert closed.support == ("topdiam", "length", "ringbut", "bowmax", "bowdist", "whorls")


def test_a_cardinality_that_is_not_on_the_path_is_said():
    four = compare(pitprops(), 4, ("dc-pca", "exact"))
    row = row_of(four, "DC-PCA (closed form)")
    assert row.cardinality == 3
    assert row.status.startswith("no ρ̃ found gives 4 nonzeros; the nearest has 3")
    assert row.valid
    assert four.gap.closed


def test_cca_with_a_dense_metric_leaves_out_what_needs_the_identity():
    pencil = planted_cca(7, 7, 2, samples=60, ridge=0.01).pencil
    found = compare(pencil, 4, QUICK)
    assert row_of(found, "DC-PCA (closed form)", "lower").status == "left out: needs B = I and A ⪰ 0"
    assert found.best_lower == pytest.approx(brute_force(pencil, 4).value, rel=1e-12)
    assert found.gap.closed


def test_the_papers_budget_is_marked_where_it_is_no_bound():
    pencil = Pencil(np.diag([3.0, 2.0, 1.0]), 0.01 * np.eye(3))
    found = compare(pencil, 1, ("entrywise-paper", "entrywise-valid", "exact"))
    paper = row_of(found, "entrywise SDP, paper (k²)", "upper")
    assert not paper.valid
    assert "not a valid bound" in paper.status
    assert paper.value < found.best_lower
    assert math.isnan(paper.gap)
    assert found.gap.closed


def test_a_failing_method_is_a_row_and_the_others_stay(monkeypatch):
    def broken(*args, **kwargs):
        raise SolverFailed("SCS failed: <out of> memory")

    monkeypatch.setattr("dcgev_cvx.relaxations.homogeneous_sdp", broken)
    found = compare(pitprops(), 3, QUICK)
    row = row_of(found, "homogeneous SDP", "upper")
    assert row.status == "failed: SCS failed: <out of> memory"
    assert math.isnan(row.value)
    assert found.gap.closed
    assert "&lt;out of&gt;" in html_report([found])


@pytest.mark.parametrize("name", sorted(GUESTS))
def test_guests_play_when_installed(name, capfd):
    pytest.importorskip(GUESTS[name])
    for pencil, k in ((pitprops(), 4), (planted_cca(5, 5, 2, samples=60, ridge=0.1).pencil, 4)):
        found = compare(pencil, k, (name, "exact"))
        assert found.gap.closed
        row = row_of(found, METHODS[name][0], "lower")
        assert row.value <= found.best_upper or row.status == "left out: needs A ⪰ 0"
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name", sorted(GUESTS))
def test_who_is_missing_says_so_when_asked_for_by_name(name, monkeypatch):
    """An empty table would leave the user wondering; by default nobody is told of what was not asked for."""
    monkeypatch.setattr("dcgev_cvx.comparison.guests.find_spec", lambda package: None)
    found = compare(pitprops(), 3, [name])
    assert [row.status for row in found.rows] == [f"left out: needs {GUESTS[name]} (pip install {GUESTS[name]})"]
    assert found.verdict == "k = 3: nothing is known of the optimum: no method gave a number"
    assert METHODS[name][0] not in [row.method for row in compare(Pencil(np.eye(2)), 1, time_limit=1e-6).rows]
    metric = compare(Pencil(np.eye(2), np.diag([1.0, 2.0])), 1, ["dc-pca", "greedy"])
    assert [row.valid for row in metric.rows] == [False, True]


def test_negative_spectra():
    found = compare(Pencil(-np.diag([5.0, 4.0, 3.0]) - 0.1), 2, QUICK)
    assert found.best_lower < 0.0
    assert found.gap.closed
    assert all(math.isnan(row.percent) for row in found.rows)
    assert "λmax(A,B) ≤ 0" in html_report([found])
    literal = compare(found.pencil, 2, ["literal"]).rows[0]
    assert literal.value == 0.0
    assert literal.status.startswith("valid, and always 0, as λmax(A,B) < 0 and X = 0 is allowed: it ignores k")


def test_sizes_that_an_sdp_refuses():
    C = np.random.default_rng(0).standard_normal((30, 260))
    found = compare(Pencil(C.T @ C), 3, ("homogeneous", "no-sdp", "solve"))
    assert "force=True" in row_of(found, "homogeneous SDP", "upper").status
    assert math.isfinite(found.gap.relative)


def test_a_refused_sdp_does_not_load_cvxpy():
    """Which takes longer than many a time limit."""
    words = (
        "import sys, numpy; from dcgev_cvx import Pencil, compare; from dcgev_cvx.comparison.methods import SDPS; "
        "found = compare(Pencil(numpy.eye(251)), 3, SDPS); "
        "sys.exit('cvxpy' in sys.modules or not all('force=True' in row.status for row in found.rows))"
    )
    assert subprocess.run([sys.executable, "-c", words], check=False).returncode == 0


def test_a_time_limit_reports_what_is_there():
    found = compare(pitprops(), 6, time_limit=1e-6)
    assert all(row.status == "not run: the time limit was reached" for row in found.rows)
    assert found.best_lower == -math.inf
    assert found.gap.relative == math.inf
    json.dumps(found.to_dict(), allow_nan=False)


def test_tables_and_dictionaries(six):
    made = json.loads(json.dumps(six.to_dict(), allow_nan=False))
    assert made["proved"] is True
    assert made["k"] == 6
    assert len(made["rows"]) == len(six.rows)
    frame = six.to_frame()
    assert list(frame["method"]) == [row.method for row in six.rows]
    text = str(six)
    assert text.startswith("k = 6: the optimum is 3.77096, proved")
    assert "homogeneous SDP" in text


def test_an_open_interval_in_words():
    rows = (Row("a", "lower", 1.0, "", True), Row("b", "upper", 2.0, "", True), Row("c", "upper", 0.5, "", False))
    found = Comparison(pitprops(), 3, rows, 0.0)
    assert found.verdict == "k = 3: the optimum lies in [1, 2], gap 50 %"
    below, above = (Comparison(pitprops(), 3, (row,), 0.0) for row in rows[:2])
    assert below.verdict == "k = 3: the optimum is at least 1; no bound was proved"
    assert above.verdict == "k = 3: the optimum is at most 2; no vector was found"


class Names(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_the_page_escapes_every_name_and_loads_nothing():
    evil = '<script>alert("x")</script>'
    pencil = Pencil(pitprops().A, names=[evil, "a&b", *(f"v{i}" for i in range(11))])
    page = html_report([compare(pencil, 13, ("solve", "no-sdp"))], title=evil, command=f"dcgev compare '{evil}'")
    seen = Names()
    seen.feed(page)
    assert "script" not in seen.tags
    assert "http" not in page
    assert any(evil in text for text in seen.text)
    assert "a&amp;b" in page
    assert page.count("data:image/png;base64,") == 1


@pytest.mark.parametrize("make", [html_report, comparison_plot])
def test_pages_and_pictures_of_what_is_no_comparison(six, make):
    for wrong in ([], six, None, 3, "six"):
        with pytest.raises(InvalidParameter, match=r"comparisons = .* must list what compare returned"):
            make(wrong)
    with pytest.raises(InvalidParameter, match="must be a Comparison, got int: see compare"):
        make([six, 3])
    other = compare(Pencil(np.eye(4)), 2, ["greedy"])
    with pytest.raises(InvalidParameter, match=r"one pencil, got n = 13, λmax\(A,B\) = 4.21863 and n = 4"):
        make([six, other])


def test_the_texts_of_a_page_are_text(six):
    for name in ("title", "command"):
        with pytest.raises(InvalidParameter, match=f"{name} must be a str, got list"):
            html_report([six], **{name: ["dcgev"]})


def test_pictures_of_one_and_of_several_k(six):
    pytest.importorskip("matplotlib")
    assert png([six])[:4] == b"\x89PNG"
    assert png([six, compare(pitprops(), 7, ("solve", "no-sdp"))])[:4] == b"\x89PNG"
    axes = six.plot()
    assert len(axes.get_yticklabels()) == len(six.rows)


def test_bad_input():
    with pytest.raises(InvalidParameter, match="did you mean 'homogeneous'"):
        compare(pitprops(), 3, ("homogenous",))
    with pytest.raises(InvalidParameter, match="no method was given"):
        compare(pitprops(), 3, ())
    with pytest.raises(InvalidParameter, match="k = 0 is out of range"):
        compare(pitprops(), 0)
    with pytest.raises(InvalidParameter, match="use Pencil"):
        compare(np.eye(3), 2)
    with pytest.raises(InvalidParameter, match="time_limit = 0 is out of range"):
        compare(pitprops(), 3, time_limit=0)


@pytest.mark.parametrize("A", [[[-2.0]], np.zeros((3, 3)), -np.diag([1.0, 2.0, 3.0])])
def test_no_positive_eigenvalue(A):
    """λmax(A, B) ≤ 0: the optimum is zero or negative, found and bounded, and nothing divides by it."""
    pencil = Pencil(A)
    found = compare(pencil, 1)
    assert found.best_lower == pytest.approx(pencil.lambda_max, abs=1e-9)
    assert found.best_upper >= found.best_lower - 1e-12


def test_the_search_for_rho_keeps_the_time_limit():
    runs = []

    def slow(rho):
        sleep(0.05)
        runs.append(rho)
        return dc_pca(pitprops(), rho=rho)

    rho_for(slow, pitprops(), 4, perf_counter() + 0.12)
    assert len(runs) <= 4  # 24 halvings without a limit: no ρ̃ gives four
    assert mm_run(pitprops(), 1.0, "native", perf_counter() - 1.0).status.name == "STOPPED"


def test_a_late_run_is_no_row_with_a_value():
    pencil = Pencil(np.cov(np.random.default_rng(0).standard_normal((400, 300)).T))
    found = compare(pencil, 5, ["dc-native"], time_limit=1e-6)
    (row,) = found.rows
    assert not row.valid
    assert "time limit" in row.status


def test_an_interrupt_keeps_the_rows_that_were_finished(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("dcgev_cvx.relaxations.homogeneous_sdp", interrupted)
    with pytest.raises(Interrupted) as stop:
        compare(pitprops(), 6, QUICK)
    found = pickle.loads(pickle.dumps(stop.value)).comparison
    assert len(found.rows) == len(QUICK) + 1  # exact has two
    assert found.best_lower == pytest.approx(3.77096, abs=1e-5)
    kept = [row.method for row in found.rows if row.valid]
    assert kept == ["DC-PCA (closed form)", "solve", "greedy", "no SDP"]
    assert row_of(found, "exact (branch and bound)").status == "not finished: interrupted"
    with pytest.raises(KeyboardInterrupt) as nothing:
        compare(pitprops(), 6, ["rounded", "exact"])
    assert nothing.type is KeyboardInterrupt  # there was no row to keep


def test_an_interrupted_search_leaves_the_bound_that_it_had_proved(monkeypatch):
    def interrupted(pencil, k, *, progress, **settings):
        progress(Progress(7, 20, 3.7, 3.9, 4, 1.0))
        raise KeyboardInterrupt

    monkeypatch.setattr("dcgev_cvx.exact.best_subset", interrupted)
    with pytest.raises(Interrupted) as stop:
        compare(pitprops(), 6, ["greedy", "exact"])
    bound = row_of(stop.value.comparison, "exact (branch and bound)", "upper")
    assert bound.valid
    assert 3.9 < bound.value < 3.9 + 1e-12
    assert "7 nodes" in bound.status


@pytest.mark.parametrize(
    ("shared", "methods"), [("homogeneous", ["rounded", "homogeneous"]), ("exact", ["exact", "exact-bound"])]
)
def test_what_was_computed_in_anothers_turn_is_never_too_late(monkeypatch, shared, methods):
    """The SDP and the exact search have two rows each: the second costs nothing, also when no time is left."""
    made = getattr(Game, shared).func

    def slow(game):
        found = made(game)
        sleep(max(0.0, game.rest) + 0.01)
        return found

    prop = cached_property(slow)
    prop.__set_name__(Game, shared)
    monkeypatch.setattr(Game, shared, prop)
    found = compare(pitprops(), 6, methods, time_limit=5.0)
    assert [row.valid for row in found.rows] == [True, True]


def test_a_slow_method_leaves_time_to_the_others(monkeypatch):
    def slow(pencil, rho, engine, deadline):
        sleep(max(0.0, deadline - perf_counter()))
        return dc_pca(pencil, rho=rho)

    monkeypatch.setattr("dcgev_cvx.comparison.game.mm_run", slow)
    found = compare(pitprops(), 6, ["dc-pca", "dc-native", "greedy", "no-sdp"], time_limit=1.0)
    assert row_of(found, "greedy").valid
    assert math.isfinite(found.gap.absolute)


def test_short_methods_play_first_and_rows_keep_their_order():
    told = []
    found = compare(pitprops(), 6, ["dc-pca", "solve", "no-sdp", "greedy", "exact"], progress=told.append)
    assert told == ["solve", "greedy", "no SDP", "DC-PCA (closed form)", *["exact (branch and bound)"] * 2]
    assert [row.method for row in found.rows][:4] == ["DC-PCA (closed form)", "solve", "greedy", "no SDP"]


def test_a_bound_without_a_clock_is_not_begun_when_there_is_no_time_for_it():
    pencil = Pencil(np.diag(np.arange(1.0, 1102.0)))
    begin = perf_counter()
    found = compare(pencil, 3, ["no-sdp", "exact"], time_limit=0.2)
    assert perf_counter() - begin < 2.0
    for row in found.rows:
        assert not row.valid
        assert row.status.startswith("left out: n = 1101 takes about 0.27 s and 0.")
        assert row.status.endswith("s are left for it; raise the time limit")
    assert row_of(compare(pencil, 3, ["no-sdp"]), "no SDP", "upper").valid
