"""The library of instances: the matrices behind the records, what a solver's answer is worth, and what is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from small_problems import optimum

from dcgev_cvx import DataUnavailable, InvalidParameter, datasets, solve
from dcgev_cvx.budgets import Budget
from dcgev_cvx.certificates import on_support, value
from dcgev_cvx.datasets import instance_library, integer_pencils
from dcgev_cvx.datasets.instance_library import instance_id, merged, read_records, records_text, scored, support_of

LIBRARY = datasets.library()
OFFLINE = [one for one in LIBRARY if not one.source.needs and one.record is not None]


def test_the_library_is_as_large_and_as_varied_as_it_says():
    known = [one.record for one in LIBRARY if one.record is not None]
    assert len(known) >= 150
    assert len({one.source.name for one in LIBRARY}) >= 60
    assert {record.family for record in known} == {"pca", "cca", "fda", "indefinite", "ill-conditioned", "ties"}
    assert min(record.n for record in known) <= 13
    assert max(record.n for record in known) >= 2000
    assert len(LIBRARY.only(status="open")) >= 20
    assert len({record.id for record in known}) == len(known)
    assert all(one.source.licence and one.source.origin for one in LIBRARY)


def holds(one):
    """The matrices have the recorded bits, the support attains the value, and the value does not exceed the bound."""
    pencil, record = one.pencil, one.record
    assert instance_id(pencil, one.k) == record.id
    assert Budget.of(pencil, one.k).admits(record.support)
    assert value(pencil, on_support(pencil, np.array(record.support))) == pytest.approx(record.value, rel=1e-12)
    assert record.value <= record.bound
    assert pencil.n == record.n


@pytest.mark.parametrize("one", [one for one in OFFLINE if one.record.n <= 64], ids=lambda one: one.name)
def test_records_of_small_recipes_hold(one):
    holds(one)


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in LIBRARY if one.record is not None], ids=lambda one: one.name)
def test_records_hold(one):
    if one.missing:
        pytest.skip(f"{one.missing} is not here")
    holds(one)


@pytest.mark.parametrize(
    "one",
    [
        one
        for one in OFFLINE
        if one.record.status == "closed" and math.comb(one.record.n, sum(np.atleast_1d(one.k))) < 3000
    ],
    ids=lambda one: one.name,
)
def test_closed_records_are_optima_by_a_plain_loop(one):
    pencil = one.pencil
    supports = Budget.of(pencil, one.k).supports()
    best = max(optimum(pencil.restrict(np.array(S)), len(S)) for S in supports)
    assert one.record.value == pytest.approx(best, rel=1e-9)


def test_recipes_have_the_same_bits_everywhere():
    """random.Random(1).random() is 0.13436424411240122 in every Python: 15 of its first 32 bits are ones."""
    assert integer_pencils.draws(1, 2, 3).tolist() == [[-1.0, 2.0, 0.0], [-5.0, 3.0, 1.0]]
    assert integer_pencils.chosen(1, 10, 3) == [0, 8, 9]
    pencil = integer_pencils.noise(4, 8, 1)
    assert np.array_equal(pencil.A * 8.0, np.rint(pencil.A * 8.0))


def test_a_solver_is_scored_by_the_support_that_it_returns():
    some = LIBRARY.only(names=["pitprops-k6", "paley-13-k4"])
    score = some.score(lambda pencil, k: solve(pencil, k))
    assert [row.verdict for row in score.rows] == ["optimal", "optimal"]
    assert "100 %" in str(score)
    assert not score.skipped
    lazy = some.score(lambda pencil, k: list(range(k)))
    assert lazy.rows[0].verdict == "worse"
    assert 0.0 < lazy.rows[0].gap < 1.0
    assert lazy.summary()[-1][1:3] == (2, 0.0)


@pytest.mark.parametrize(
    "answer",
    [None, "support", [0, 0, 1], [13], [-1], list(range(7)), 3.5, [0.5, 1.0], np.ones(13), {0, 1}],
    ids=["none", "text", "twice", "beyond", "negative", "too many", "number", "floats", "dense", "set"],
)
def test_answers_that_are_no_supports_are_invalid_and_say_why(answer):
    row = scored(LIBRARY["pitprops-k6"].record, datasets.pitprops(), lambda pencil, k: answer)
    assert row.verdict == "invalid"
    assert "return at most 6 different positions from 0 to 12" in row.note


def test_a_solver_that_raises_has_an_invalid_answer_and_the_others_are_scored():
    def fails(pencil, k):
        raise RuntimeError("no convergence\nafter 100 steps")

    row = LIBRARY.only(names=["pitprops-k6"]).score(fails).rows[0]
    assert (row.verdict, row.note) == ("invalid", "RuntimeError: no convergence")
    assert math.isnan(row.value)


def test_a_vector_counts_by_its_nonzeros():
    x = np.zeros(13)
    x[[2, 5]] = 0.6, -0.8
    assert support_of(x, datasets.pitprops(), 6).tolist() == [2, 5]
    assert support_of(solve(datasets.pitprops(), 3), datasets.pitprops(), 3).tolist() == [0, 1, 8]


def test_better_supports_and_values_beyond_a_bound_are_told():
    record, pencil = LIBRARY["pitprops-k6"].record, datasets.pitprops()
    best = list(record.support)
    opened = replace(record, value=0.9 * record.value, bound=1.1 * record.value)
    row = scored(opened, pencil, lambda pencil, k: best)
    assert row.verdict == "better than known"
    assert row.gap < 0.0
    wrong = replace(record, value=0.8 * record.value, bound=0.9 * record.value)
    row = scored(wrong, pencil, lambda pencil, k: best)
    assert row.verdict == "invalid"
    assert "exceeds the proved bound" in row.note


def test_two_records_make_the_better_of_both():
    old = LIBRARY["pitprops-k6"].record
    worse = replace(old, support=(0, 1, 2, 3, 4, 5), value=3.0, bound=4.0, by="somebody")
    assert merged(old, worse) == old
    found = merged(worse, replace(old, bound=5.0, by="another"))
    assert (found.support, found.value, found.bound, found.by) == (old.support, old.value, 4.0, "another")


def test_records_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "records.json"
    records = [LIBRARY["paley-13-k4"].record, LIBRARY["pitprops-k6"].record]
    path.write_text(records_text(records), encoding="utf-8")
    assert read_records(path) == records[::-1]
    assert json.loads(path.read_text(encoding="utf-8"))[0]["status"] == "closed"
    path.write_text('[{"id": 1}]', encoding="utf-8")
    with pytest.raises(DataUnavailable, match="holds no records"):
        read_records(path)


def test_without_a_network_the_library_says_what_it_can_do(monkeypatch, tmp_path):
    monkeypatch.setenv("DCGEV_DATA", str(tmp_path))
    calls = []

    def refuse(*args, **kwargs):
        calls.append(args)
        raise OSError("no network")

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", refuse)
    assert LIBRARY["gas-k10"].missing == "the file gas.csv"
    here = LIBRARY.only(offline=True)
    assert 60 <= len(here) < len(LIBRARY)
    instance_library.built_pencil.cache_clear()
    score = LIBRARY.only(names=["gas-k5", "gas-k10", "pitprops-k6"]).score(lambda pencil, k: range(k))
    assert [row.record.name for row in score.rows] == ["pitprops-k6"]
    assert "gas-k5" in score.skipped
    assert "Download" in score.skipped["gas-k5"]
    assert len(calls) == 1  # the second instance of the same file is not tried
    assert "gas-k5 was skipped" in str(score)


def test_matrices_with_other_bits_than_the_record_are_not_used():
    one = LIBRARY["pitprops-k6"]
    with pytest.raises(DataUnavailable, match="other bits than those of the record 0000"):
        _ = replace(one, record=replace(one.record, id="0000")).pencil


def test_unknown_names_and_families():
    with pytest.raises(InvalidParameter, match="did you mean 'pitprops-k6'"):
        _ = LIBRARY["pitprop-k6"]
    with pytest.raises(InvalidParameter, match="family = 'spca' is unknown"):
        LIBRARY.only(family="spca")
    with pytest.raises(InvalidParameter, match="status = 'solved' is unknown"):
        LIBRARY.only(status="solved")
