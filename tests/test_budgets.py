"""Budgets: which supports there are, sums within them, what is left of them, and what k may be."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcgev_cvx import InvalidParameter, Pencil
from dcgev_cvx.budgets import Budget


@st.composite
def budgets(draw):
    """A budget with one to three groups of at most four variables, in any order, and a matrix of small integers."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    labels = draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist()))
    groups = [np.flatnonzero(np.equal(labels, g)).tolist() for g in range(len(sizes))]
    counts = [draw(st.integers(1, size)) for size in sizes]
    n = sum(sizes)
    a = np.array(draw(st.lists(st.integers(0, 9), min_size=n * n, max_size=n * n)), dtype=float).reshape(n, n)
    np.fill_diagonal(a, 0.0)
    return Budget.of(Pencil(np.eye(n)), counts, groups), a


def all_supports(budget):
    """By the definition: the subsets of full size that hold counts[g] variables of every group."""
    for chosen in itertools.combinations(range(len(budget.labels)), budget.total):
        if all(sum(budget.labels[i] == g for i in chosen) == k for g, k in enumerate(budget.counts)):
            yield chosen


@given(budgets())
def test_supports_are_the_subsets_that_fill_the_budget(case):
    budget, _ = case
    expected = sorted(all_supports(budget))
    assert sorted(tuple(sorted(chosen)) for chosen in budget.supports()) == expected
    assert budget.number == len(expected)
    tables = list(budget.tables(3))
    assert all(len(table) <= 3 for table in tables)
    assert sorted(map(tuple, np.concatenate(tables).tolist())) == expected
    assert all(budget.admits(chosen) and budget.admits(chosen[1:]) for chosen in expected)


@given(budgets())
def test_admits_exactly_the_subsets_of_supports(case):
    budget, _ = case
    supports = list(map(set, all_supports(budget)))
    for size in range(len(budget.labels) + 1):
        for chosen in itertools.combinations(range(len(budget.labels)), size):
            assert budget.admits(chosen) == any(set(chosen) <= support for support in supports)
    assert not budget.admits([0, 0])


@given(budgets())
def test_sums_are_maxima_over_supports(case):
    budget, a = case
    supports = [list(chosen) for chosen in all_supports(budget)]
    np.testing.assert_array_equal(budget.top_sum(a), np.max([a[:, chosen].sum(axis=1) for chosen in supports], axis=0))
    for i, largest in enumerate(budget.partner_sum(a)):
        assert largest == max(a[i, chosen].sum() for chosen in supports if i in chosen)
    values = a[0] + np.arange(len(a)) / 100.0
    assert values[budget.largest(values)].sum() == pytest.approx(max(values[chosen].sum() for chosen in supports))


@given(budgets(), st.data())
def test_restriction_keeps_the_supports_that_hold_what_was_taken(case, data):
    budget, _ = case
    n = len(budget.labels)
    taken = data.draw(st.sampled_from([s[:i] for s in all_supports(budget) for i in range(len(s) + 1)]))
    free = data.draw(st.lists(st.sampled_from(range(n)), unique=True).map(sorted))
    free = [i for i in free if i not in taken]
    left = budget.restrict(np.array(free, dtype=np.intp), taken)
    for size in range(len(free) + 1):
        for places in itertools.combinations(range(len(free)), size):
            assert left.admits(list(places)) == budget.admits([*taken, *(free[i] for i in places)])


def two_views():
    return Pencil(np.eye(5), blocks=(2, 3))


def test_views_of_the_pencil():
    budget = Budget.of(two_views(), (1, 2))
    assert str(budget) == "1+2"
    assert [group.tolist() for group in budget.groups] == [[0, 1], [2, 3, 4]]
    assert Budget.of(two_views(), budget) is budget
    assert Budget.of(two_views(), np.array([1, 2])).counts == (1, 2)
    whole = Budget.of(two_views(), np.int64(3))
    assert (str(whole), whole.number) == ("3", 10)


@pytest.mark.parametrize(
    ("k", "groups", "message"),
    [
        (6, None, "k = 6 is out of range: it must be a whole number between 1 and n = 5."),
        (2.0, None, "whole number between 1 and n = 5"),
        (True, None, "whole number between 1 and n = 5"),
        ("2+2", None, "whole number between 1 and n = 5"),
        ([], None, "whole number between 1 and n = 5"),
        ((1,), None, "one number for each of the 2 views"),
        ((1, 4), None, r"k\[1\] = 4 is out of range: .* between 1 and 3, the number of variables of view 1"),
        ((0, 2), None, r"k\[0\] = 0 is out of range"),
        ((1, 2), [[0, 1], [2, 3]], "each of the variables 0 … 4 is in exactly one of them"),
        ((1, 2), [[0, 1, 2], [2, 3, 4]], "exactly one of them"),
        ((1, 2), [[0, 1, 2, 3, 4], []], "exactly one of them"),
        ((1, 2), 3, "such as"),
        (2, [[0, 1], [2, 3, 4]], "one number for each of the 2 groups"),
    ],
)
def test_other_budgets_raise(k, groups, message):
    with pytest.raises(InvalidParameter, match=message):
        Budget.of(two_views(), k, groups)


def test_a_pencil_without_views_has_one_number():
    with pytest.raises(InvalidParameter, match="the pencil has none: build it with cca_pencil"):
        Budget.of(Pencil(np.eye(4)), (2, 2))
    with pytest.raises(InvalidParameter, match="Budget for 4 variables"):
        Budget.of(two_views(), Budget.of(Pencil(np.eye(4)), 2))
