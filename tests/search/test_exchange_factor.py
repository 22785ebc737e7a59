"""The pool of exchanges for A = CᵀC and B = I; tests/search/test_exchange.py has what all structures share."""

import numpy as np
import pytest

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.search.exchange_factor import FactorPool, power_steps
from dcgev_cvx.search.exchange_factor import _Pool as Pool


def pool(seed, p=8, n=60, k=5, size=1.0):
    R = size * np.random.default_rng(seed).standard_normal((n, p))
    return Pool(R, np.vecdot(R, R), np.arange(k)), R


def test_the_work_is_that_of_two_pools_and_one_exchange_for_each_made(monkeypatch):
    search = FactorPool(Pencil(Gram(np.random.default_rng(1).standard_normal((6, 100)))), 4)
    assert search.exchange_work == 6 * (4 * 4 + 4 * 24 + 100 // 24)
    monkeypatch.setattr(Pool, "improve", lambda self: 3)
    search.improve(np.array([[3, 1, 2, 0], [4, 5, 6, 7]]))
    assert search.work == 2 * (2 + 3) * search.exchange_work
    assert FactorPool(search.pencil, 4).work == 0.0


def test_a_pool_starts_with_twelve_power_steps_from_the_member_of_the_largest_variance():
    R = np.random.default_rng(4).standard_normal((9, 5))
    support = np.array([1, 4, 6])
    found = Pool(R, np.vecdot(R, R), support)
    W = R[support]
    x = np.linalg.matrix_power(W @ W.T, 12) @ (W @ W[np.argmax(np.sum(W**2, axis=1))])
    x /= np.linalg.norm(x)
    assert found.x == pytest.approx(x, rel=1e-9)
    assert found.Cx == pytest.approx(W.T @ x, rel=1e-9)
    assert found.value == pytest.approx(float(np.sum((W.T @ x) ** 2)), rel=1e-9)


def test_members_without_variance_are_exchanged():
    R = np.diag([0.0, 0.0, 2.0, 3.0])
    found = Pool(R, np.diagonal(R) ** 2, np.arange(2))
    assert (found.value, found.x.tolist()) == (0.0, pytest.approx([0.5**0.5] * 2))
    assert found.improve() > 0
    assert found.value == pytest.approx(9.0)
    assert 3 in found.members


def test_a_single_member_is_exchanged_for_one_that_it_is_not_coupled_to():
    R = np.diag([1.0, 3.0, 2.0])
    found = Pool(R, np.diagonal(R) ** 2, np.arange(1))
    assert found.improve() == 1
    assert (found.members.tolist(), found.value) == ([1], pytest.approx(9.0))


@pytest.mark.parametrize(("rise", "made"), [(0.0, False), (0.5e-12, False), (1.5e-12, True)])
def test_an_exchange_must_raise_the_value_by_more_than_rounding(rise, made):
    R = np.sqrt([[1.0], [1.0 + rise]])
    found = Pool(R, R[:, 0] ** 2, np.arange(1))
    found.choose()
    assert found.exchange() == made
    assert found.members.tolist() == [int(made)]
    assert np.array_equal(found.W, R[found.members])


def test_pools_are_chosen_until_one_has_no_exchange_or_twenty_for_each_member_are_made(monkeypatch):
    for turns, count, pools in (([1, 1, 0, 1, 0, 0], 3, 3), ([0], 0, 1), ([1, 0] * 110, 100, 100)):
        found, answers, chosen = pool(0)[0], iter(turns), []
        monkeypatch.setattr(Pool, "exchange", lambda self, answers=answers: bool(next(answers)))
        monkeypatch.setattr(Pool, "choose", lambda self, chosen=chosen: chosen.append(1))
        assert (found.improve(), len(chosen)) == (count, pools)


def test_few_outsiders_are_all_in_the_pool():
    found, _ = pool(0, n=12, k=5)
    found.choose()
    assert sorted(found.adds.tolist()) == list(range(5, 12))
    assert sorted(found.places.tolist()) == list(range(5))


@pytest.mark.parametrize("seed", range(5))
def test_the_value_is_attained_and_rises_with_every_exchange(seed):
    found, R = pool(seed)
    found.choose()
    values = [found.value]
    while found.exchange() and len(values) < 100:
        values.append(found.value)
        assert np.array_equal(found.W, R[found.members])
        assert found.value == pytest.approx(float(np.linalg.norm(found.x @ found.W)) ** 2)
    assert np.all(np.diff(values) > 0.0)
    assert len(set(found.members.tolist())) == 5


def test_power_steps_rise_to_the_largest_singular_value():
    W = np.random.default_rng(0).standard_normal((4, 7))
    values = [power_steps(W, np.ones(4), steps)[2] for steps in (0, 1, 3, 200)]
    assert np.all(np.diff(values) >= 0.0)
    assert values[-1] == pytest.approx(np.linalg.norm(W, 2) ** 2)
    assert power_steps(np.zeros((2, 3)), np.ones(2), 5)[2] == 0.0


def test_work_is_counted():
    search = FactorPool(Pencil(Gram(np.random.default_rng(1).standard_normal((6, 40)))), 4)
    search.improve(np.arange(4)[None, :])
    assert search.work >= 2 * search.exchange_work


def test_a_pool_has_the_cheapest_members_and_the_best_outsiders():
    """Against Rayleigh quotients of x without a member, and eigenvalues of A on x and an outsider."""
    found, R = pool(0, n=80, k=30)
    A, x = R @ R.T, np.zeros(80)
    x[found.members] = found.x
    found.choose()
    without = np.array([np.where(np.arange(80) == i, 0.0, x) for i in found.members])
    kept = np.array([z @ A @ z / (z @ z) for z in without])
    assert found.kept(np.arange(30), (A @ x)[found.members]) == pytest.approx(kept, rel=1e-9)
    assert found.places.tolist() == np.argsort(-kept)[:24].tolist()
    outside = np.setdiff1d(np.arange(80), found.members)
    pairs = [np.linalg.eigvalsh([[x @ A @ x, A[j] @ x], [A[j] @ x, A[j, j]]])[-1] for j in outside]
    assert found.adds.tolist() == outside[np.argsort(-np.array(pairs))[:24]].tolist()
    np.testing.assert_allclose(found.G, A[np.ix_(found.members[found.places], found.adds)], rtol=1e-9, atol=1e-12)


def test_exchange_says_whether_it_exchanged():
    found, R = pool(1)
    found.choose()
    made = []
    for _ in range(100):
        before = found.members.copy()
        made.append(found.exchange())
        assert made[-1] == (not np.array_equal(before, found.members))
        if not made[-1]:
            break
    assert made[0]
    assert not made[-1]
    np.testing.assert_allclose(
        found.G, (R @ R.T)[np.ix_(found.members[found.places], found.adds)], rtol=1e-9, atol=1e-12
    )


def test_exchanges_are_tried_in_the_order_of_their_ritz_values(monkeypatch):
    """The four largest eigenvalues of A on span{x − xᵢeᵢ, eⱼ}."""
    found, R = pool(2, n=30, k=6)
    found.choose()
    tried = []
    monkeypatch.setattr(Pool, "replaced", lambda self, i, j, Ax: tried.append((i, j)))
    assert not found.exchange()
    ritz = {}
    for i, place in enumerate(found.places):
        for j, new in enumerate(found.adds):
            z = np.zeros(30)
            z[found.members] = found.x
            z[found.members[place]] = 0.0
            V = np.column_stack([z / np.linalg.norm(z), np.eye(30)[new]])
            ritz[i, j] = np.linalg.eigvalsh(V.T @ R @ R.T @ V)[-1]
    assert tried == sorted(ritz, key=ritz.get, reverse=True)[:4]


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_an_exchange_is_judged_by_one_power_step_and_must_raise_the_value(size):
    found, R = pool(2, n=30, k=6, size=size)
    found.choose()
    place, new = found.places[0], found.adds[0]
    Ax = float(R[new] @ found.Cx)
    W, y = found.W.copy(), found.x.copy()
    W[place], y[place] = R[new], Ax / found.value
    y = W @ (W.T @ y)
    y /= np.linalg.norm(y)
    assert found.replaced(0, 0, Ax) == (float(np.linalg.norm(W.T @ y)) ** 2 > pool(2, n=30, k=6, size=size)[0].value)
    assert np.array_equal(found.W, W)
    assert found.x == pytest.approx(y, rel=1e-12)
    nothing = Pool(np.zeros((6, 3)), np.zeros(6), np.arange(2))
    nothing.choose()
    assert not nothing.exchange()


def test_the_exchanges_made_are_counted(monkeypatch):
    made, plain = [], Pool.exchange
    monkeypatch.setattr(Pool, "exchange", lambda self: made.append(plain(self)) or made[-1])
    found, _ = pool(3)
    assert found.improve() == sum(made) > 1
