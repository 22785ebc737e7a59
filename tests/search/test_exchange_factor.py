"""The pool of exchanges for A = CᵀC and B = I; tests/search/test_exchange.py has what all structures share."""

import numpy as np
import pytest

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.search.exchange_factor import FactorPool, power_steps
from dcgev_cvx.search.exchange_factor import _Pool as Pool


def pool(seed, p=8, n=60, k=5):
    R = np.random.default_rng(seed).standard_normal((n, p))
    return Pool(R, np.vecdot(R, R), np.arange(k)), R


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


def test_an_exchange_is_judged_by_one_power_step_and_must_raise_the_value():
    found, R = pool(2, n=30, k=6)
    found.choose()
    place, new = found.places[0], found.adds[0]
    Ax = float(R[new] @ found.Cx)
    W, y = found.W.copy(), found.x.copy()
    W[place], y[place] = R[new], Ax / found.value
    y = W @ (W.T @ y)
    y /= np.linalg.norm(y)
    assert found.replaced(0, 0, Ax) == (float(np.linalg.norm(W.T @ y)) ** 2 > pool(2, n=30, k=6)[0].value)
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
