"""`solve`: a vector of given cardinality."""

import itertools

import numpy as np
import pytest
import referee
import scipy.sparse as sp
import standin
from families import cca, conditioned, factor, few_samples, pca, views
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import Gram, InvalidParameter, Pencil, cca_pencil, solve
from dcgev_cvx.search import solve as solve_module
from dcgev_cvx.search.exchange import ExchangeSearch, support_values
from dcgev_cvx.search.solve import EFFORTS

PITPROPS_BEST = [
    1.0000, 1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726, 4.2083, 4.2182, 4.2186,
]  # fmt: skip


def test_the_path_is_asked_about_for_up_to_sixty_variables_and_a_single_k():
    assert solve(pca(0, 60), 2, effort="quick").on_path is not None
    assert solve(pca(0, 61), 2, effort="quick").on_path is None
    assert solve(pca(0, 9), 2, check_path=False).on_path is None
    assert solve(cca(0, 4), (1, 1)).on_path is None


def test_of_supports_that_tie_the_first_is_taken():
    for A in (np.eye(4), -np.eye(4)):
        assert solve(Pencil(A), 2, check_path=False).support == (0, 1)


def test_the_method_says_what_was_done():
    pencil = pca(0, 30)
    assert solve(pencil, 1).method == "all 30 variables"
    assert solve(pencil, 30).method == "all variables"
    assert solve(pca(0, 9), 4).method == "all 126 supports"
    assert solve(pencil, 8, effort="quick").method.startswith("one-shot MM and exchanges from ")


def test_the_answer_is_a_function_of_the_random_state():
    pencil = pca(3, 40)
    first, second = (solve(pencil, 8, random_state=5).x for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(solve(pencil, 8).x, solve(pencil, 8, random_state=0).x)


def test_a_working_set_is_searched_and_its_proof_is_told():
    found = solve(Pencil(Gram(sp.csr_array(np.diag(2.0 ** -np.arange(600.0))))), 1)
    assert found.method.startswith("500 of 600 variables kept (proved: no better support has another); ")
    assert (found.support, found.value) == ((0,), pytest.approx(1.0))


@pytest.mark.parametrize("k", range(1, 14))
def test_pitprops_is_solved_exactly(k, pitprops):
    found = solve(pitprops, k)
    assert found.value == pytest.approx(PITPROPS_BEST[k - 1], abs=6e-5)
    assert found.k == k == len(found.support)
    assert found.on_path is (k != 4)
    assert found.certificate.passes()
    assert found.rho >= 0.0
    assert pitprops.B_norm(found.x) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("make", [pca, cca])
@pytest.mark.parametrize("seed", range(5))
def test_small_random_problems_against_enumeration(make, seed):
    pencil = make(seed)
    A, B = pencil.dense()
    for k in (2, 4, 7):
        best, _ = referee.best_subset(A, B, k)
        found = solve(pencil, k, check_path=False)
        assert found.value >= 0.999 * best
        assert found.value <= best * (1 + 1e-9)
        assert found.k == k


@settings(max_examples=20)
@given(st.integers(0, 30), st.integers(2, 6))
def test_solve_follows_permutations_signs_and_scales(seed, k):
    rng = np.random.default_rng(seed)
    pencil = cca(seed, h=4)
    A, B = pencil.dense()
    plain = solve(pencil, k, check_path=False)
    order = rng.permutation(8)
    signs = rng.choice([-1.0, 1.0], 8)
    changed = Pencil(
        5.0 * (signs[:, None] * A * signs)[np.ix_(order, order)],
        2.0 * (signs[:, None] * B * signs)[np.ix_(order, order)],
    )
    other = solve(changed, k, check_path=False)
    assert other.value == pytest.approx(2.5 * plain.value, rel=1e-9)


def test_solve_is_repeatable(pitprops):
    for state in (0, 7):
        first, second = (solve(pitprops, 9, random_state=state) for _ in range(2))
        assert np.array_equal(first.x, second.x)


def test_solve_on_a_factor_never_forms_the_matrix(monkeypatch):
    small = Gram.toarray
    monkeypatch.setattr(Gram, "toarray", lambda self: small(self) if self.shape[0] < 100 else pytest.fail("formed"))
    C = np.random.default_rng(0).standard_normal((30, 500))
    C[:, :6] += 2.0 * np.random.default_rng(1).standard_normal((30, 1))
    found = solve(Pencil(Gram(C)), 6)
    assert found.support == (0, 1, 2, 3, 4, 5)
    assert found.certificate.passes()


def test_data_and_covariance_give_the_same(pitprops):
    C = np.linalg.cholesky(pitprops.A).T
    for k in (3, 6):
        assert solve(Pencil(Gram(C)), k).value == pytest.approx(solve(pitprops, k).value, rel=1e-9)


def test_planted_cca_in_many_variables():
    """100 samples of 60 + 60 variables, five of each share a factor: exactly these ten, with a ridge of 5."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((100, 1))
    D = rng.standard_normal((100, 120))
    D[:, [0, 1, 2, 3, 4, 60, 61, 62, 63, 64]] += z
    S = np.cov(D.T, bias=True)
    A, B = S.copy(), S.copy()
    A[:60, :60] = A[60:, 60:] = 0.0
    B[:60, 60:] = 0.0
    B[60:, :60] = 0.0
    found = solve(Pencil(A, B + 5.0 * np.eye(120)), 10)
    assert found.support == (0, 1, 2, 3, 4, 60, 61, 62, 63, 64)


def test_diagonal_pencil_has_one_nonzero():
    """The best k-sparse vector of a diagonal A has a single entry: fewer than k, and says so."""
    found = solve(Pencil(np.diag([3.0, 2.0, 1.0])), 2)
    assert found.value == pytest.approx(3.0)
    assert found.k <= 2


def test_negative_definite_and_zero_a():
    assert solve(Pencil(-np.diag([1.0, 2.0, 3.0])), 2).value == pytest.approx(-1.0)
    assert solve(Pencil(np.zeros((3, 3))), 2).value == pytest.approx(0.0)
    assert solve(Pencil([[2.0]], [[4.0]]), 1).value == pytest.approx(0.5)


@pytest.mark.parametrize("k", [0, -1, 14, 2.0, "3", True, None])
def test_bad_cardinalities(k, pitprops):
    with pytest.raises(InvalidParameter, match="between 1 and n = 13"):
        solve(pitprops, k)


def test_bad_effort(pitprops):
    with pytest.raises(InvalidParameter, match="effort = 'utmost' is unknown"):
        solve(pitprops, 3, effort="utmost")


@pytest.mark.parametrize("state", [-1, 1.5, "a", None, True])
def test_bad_random_states(state, pitprops):
    with pytest.raises(InvalidParameter, match="random_state"):
        solve(pitprops, 3, random_state=state)


def test_a_matrix_is_not_a_pencil():
    with pytest.raises(InvalidParameter, match="must be a Pencil, got ndarray"):
        solve(np.eye(3), 1)


def test_shared_eigenvalues_give_k_nonzeros():
    """A = 2I: every vector is optimal, so k nonzeros are given; a diagonal A with one largest entry gives one."""
    for k in (1, 2, 3):
        found = solve(Pencil(2.0 * np.eye(3)), k)
        assert found.k == k
        assert found.value == pytest.approx(2.0)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: Pencil(factor(seed)),
        lambda seed: Pencil(factor(seed, 30, 90).toarray()),
        lambda seed: cca(seed, h=35, m=200),
        few_samples,
        lambda seed: pca(seed, n=20),
    ],
)
def test_efforts_are_nested(make, seed):
    pencil = make(seed)
    quick, normal, high = (solve(pencil, 8, effort=e, check_path=False).value for e in ("quick", "normal", "high"))
    assert quick <= normal * (1 + 1e-12)
    assert normal <= high * (1 + 1e-12)


@pytest.mark.parametrize("make", [pca, cca])
@pytest.mark.parametrize("k", [3, 6])
def test_the_search_alone_is_good(make, k, monkeypatch):
    """Without looking at every support: exact on these, and never above the optimum."""
    monkeypatch.setattr(solve_module, "best_of_all", lambda *_: pytest.fail("all supports"))
    monkeypatch.setitem(EFFORTS, "normal", EFFORTS["normal"]._replace(work=1e6))
    for seed in range(4):
        pencil = make(seed)
        best, _ = referee.best_subset(*pencil.dense(), k)
        found = solve(pencil, k, check_path=False).value
        assert 0.999 * best <= found <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_ill_conditioned_problems_are_enumerated(seed):
    A, B = referee.random_pencil(seed, 10, cond=1e6, indefinite=True)
    for k in (2, 5, 9, 10):
        assert solve(Pencil(A, B), k, check_path=False).value == pytest.approx(
            referee.best_subset(A, B, k)[0], rel=1e-7
        )


@pytest.mark.parametrize("seed", range(4))
def test_with_few_samples_the_largest_value_is_sought_and_a_large_ridge_finds_what_was_planted(seed):
    """With a small ridge other variables correlate more on these samples than the ten that share the factor."""
    planted = (*range(5), *range(100, 105))
    small, large = few_samples(seed, ridge=0.1), few_samples(seed, ridge=5.0)
    assert solve(small, 10).value > support_values(small, np.array([planted]))[0]
    assert solve(large, 10).support == planted


@pytest.mark.parametrize("power", [-280, -100, 100, 280])
def test_units(power):
    """Powers of two in A, powers of four in B: the same support, the value scaled, a program that certifies."""
    for pencil in (pca(3, n=8), cca(3, h=4), Pencil(factor(3, 10, 70))):
        plain = solve(pencil, 3)
        a, b = 2.0**power, 4.0 ** (power // 2)
        A = Gram(pencil.A.C * 2.0 ** (power // 2)) if isinstance(pencil.A, Gram) else pencil.A * a
        scaled = solve(Pencil(A, None if pencil.B is None else pencil.B * b), 3)
        assert scaled.support == plain.support
        assert scaled.value == pytest.approx(plain.value * (a if pencil.B is None else a / b), rel=1e-9)
        assert scaled.certificate.passes()
        assert scaled.on_path == plain.on_path


DEGENERATE = {
    "zero": np.zeros((5, 90)),
    "one column": np.outer(np.ones(5), np.eye(90)[3]),
    "rank one": np.random.default_rng(0).standard_normal((1, 90)),
    "all equal": np.ones((4, 90)),
    "every column nine times": np.repeat(np.random.default_rng(1).standard_normal((6, 10)), 9, axis=1),
    "whole numbers": np.random.default_rng(2).integers(-1, 2, (8, 90)).astype(float),
    "identity": np.eye(90),
    "more rows than columns": np.random.default_rng(3).standard_normal((200, 90)),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("k", [2, 50, 89, 90])
def test_degenerate_factors(name, k):
    """Ties, zeros and low rank: at most k nonzeros, and the value is that of the support."""
    C = DEGENERATE[name]
    found = solve(Pencil(Gram(C)), k, effort="quick" if k > 2 else "normal")
    assert found.k == k or (name == "one column" and found.k == 1)
    assert found.value == pytest.approx(np.linalg.norm(C[:, list(found.support)], 2) ** 2, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("cond", [1e4, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_the_search_alone_is_exact_in_an_ill_conditioned_metric(seed, cond, monkeypatch):
    monkeypatch.setattr(solve_module, "best_of_all", lambda *_: pytest.fail("all supports"))
    for effort in ("quick", "normal"):  # too little to look at every support
        monkeypatch.setitem(EFFORTS, effort, EFFORTS[effort]._replace(work=6e6))
    pencil = conditioned(seed, 13, cond)
    for k in (3, 6, 9):
        best, _ = referee.best_subset(*pencil.dense(), k)
        assert solve(pencil, k, check_path=False).value == pytest.approx(best, rel=1e-6)


def test_a_lone_optimum_in_an_ill_conditioned_metric_is_found():
    """Six of 17 variables, cond(B) = 1e8: the second best top is worth a third of the best, and easier to come to."""
    rng = np.random.default_rng(17020)
    Q = np.linalg.qr(rng.standard_normal((17, 17)))[0]
    X = rng.standard_normal((22, 17))
    pencil = Pencil(np.cov(X.T, bias=True), (Q * np.geomspace(1e-8, 1.0, 17)) @ Q.T)
    best, _ = referee.best_subset(*pencil.dense(), 6)
    assert solve(pencil, 6, check_path=False).value == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_units_of_the_variables_do_not_matter(seed):
    """(DAD, DBD) has the same supports; D over six decades."""
    A, B = conditioned(seed, 20, 1e2).dense()
    d = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, 20)
    plain = solve(Pencil(A, B), 6, check_path=False)
    scaled = solve(Pencil(d[:, None] * A * d, d[:, None] * B * d), 6, check_path=False)
    assert scaled.support == plain.support
    assert scaled.value == pytest.approx(plain.value, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_eight_friends_among_three_hundred(seed):
    """λmax of eight vertices of a graph is at most 7, and 7 only where all know one another."""
    graph = np.triu(np.random.default_rng(seed).random((300, 300)) < 0.3, 1).astype(float)
    assert solve(Pencil(graph + graph.T), 8).value == pytest.approx(7.0, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "sign", "support"),
    [
        (300, 0, [27, 106, 141, 159, 187, 213, 245, 287]),
        (80, -1, [21, 29, 35, 41, 43, 46, 47, 67, 69, 77]),
    ],
)
def test_supports_that_exchanges_from_few_starts_miss(n, sign, support):
    """A random symmetric matrix, and minus a random covariance; the supports are known to be good, not the best."""
    M = np.random.default_rng(1).standard_normal((n - 10 * sign, n))
    pencil = Pencil(M + M.T if sign == 0 else sign * M.T @ M)
    found = solve(pencil, len(support))
    assert found.value >= support_values(pencil, np.array([support]))[0] * (1.0 - 1e-9 * np.sign(found.value))


def test_the_leading_eigenvector_is_not_the_only_start_on_a_large_factor():
    """As a share of the dense variance; from the leading eigenvector alone it is 0.480."""
    C = np.random.default_rng(1).standard_normal((62, 2000))
    pencil = Pencil(Gram(C - C.mean(axis=0)))
    assert solve(pencil, 200).value >= 0.494 * pencil.lambda_max


def population(left, right):
    """CCA of known covariances: the first four variables of a view against five of the other, correlation 0.8."""
    h = len(left)
    u, v = np.zeros(h), np.zeros(h)
    u[:4], v[3:8] = 1.0, [1.0, -1.0, 1.0, 1.0, -1.0]
    u, v = u / np.sqrt(u @ left @ u), v / np.sqrt(v @ right @ v)
    A, B = np.zeros((2 * h, 2 * h)), np.zeros((2 * h, 2 * h))
    A[:h, h:] = 0.8 * np.outer(left @ u, right @ v)
    B[:h, :h], B[h:, h:] = left, right
    return Pencil(A + A.T, B, blocks=(h, h))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["identity", "equal correlations", "equal blocks", "one block", "decay in blocks"])
def test_known_covariances_with_equal_eigenvalues_are_solved(name):
    def equal(size, r):
        return np.kron(np.eye(40 // size), np.full((size, size), r)) + (1.0 - r) * np.eye(40)

    decay = np.kron(np.eye(4), 0.7 ** np.abs(np.subtract.outer(np.arange(10), np.arange(10))))
    left, right = {
        "identity": (np.eye(40), np.eye(40)),
        "equal correlations": (equal(8, 0.5), equal(8, 0.3)),
        "equal blocks": (equal(8, 0.5), equal(8, 0.5)),
        "one block": (equal(40, 0.5), equal(40, 0.3)),
        "decay in blocks": (decay, decay),
    }[name]
    pencil = population(left, right)
    assert solve(pencil, 9, check_path=False).value == pytest.approx(0.8, rel=1e-9)


def wide(seed, n=700, m=40):
    """A correlation matrix of groups of six related variables among unrelated ones, in factor form."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    for group in rng.permutation(n)[:30].reshape(5, 6):
        X[:, group] = rng.standard_normal((m, 1)) + rng.uniform(0.1, 0.4) * X[:, group]
    X -= X.mean(axis=0)
    return Pencil(Gram(X / np.linalg.norm(X, axis=0)))


@pytest.mark.parametrize("seed", range(100, 104))
def test_small_groups_in_wide_standardised_data_are_found(seed):
    """Not below exchanges from the k largest entries of every column of A."""
    pencil = wide(seed)
    for k, effort in ((3, "quick"), (5, "quick"), (6, "normal")):
        sizes = np.abs(pencil.A.toarray())
        starts = np.sort(np.argsort(-sizes, axis=1)[:, :k], axis=1)
        scan = np.max(ExchangeSearch(pencil, k).improve(starts)[1])
        assert solve(pencil, k, effort=effort, check_path=False).value >= (1.0 - 1e-9) * scan


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("h", "ks"), [(6, (2, 3)), (7, (3, 1)), (5, (5, 2))])
def test_views_are_solved_exactly(seed, h, ks):
    pencil = cca_pencil(*np.hsplit(np.random.default_rng(seed).standard_normal((30, 2 * h)), 2), ridge=0.01)
    table = [
        [*left, *(h + j for j in right)]
        for left in itertools.combinations(range(h), ks[0])
        for right in itertools.combinations(range(h), ks[1])
    ]
    best = float(np.max(support_values(pencil, np.array(table))))
    found = solve(pencil, ks)
    assert found.value == pytest.approx(best, rel=1e-9)
    assert (sum(i < h for i in found.support), sum(i >= h for i in found.support)) == ks


def test_views_that_are_too_many_to_enumerate():
    """Exactly the planted variables, five of a hundred in each view, with a ridge that makes them the optimum."""
    found = solve(few_samples(0, ridge=5.0), (5, 5))
    assert found.support == (*range(5), *range(100, 105))
    assert "exchanges from" in found.method


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_the_search_within_views_is_near_the_best_of_all(effort):
    """Five and six variables, cardinalities (2, 3): 200 supports."""
    shares = []
    for seed in range(10):
        pencil = views(seed, p=6, q=5)[2]
        pairs = itertools.product(itertools.combinations(range(6), 2), itertools.combinations(range(6, 11), 3))
        best = standin.support_values(pencil, np.array([(*s, *t) for s, t in pairs])).max()
        found = solve(pencil, (2, 3), effort=effort)
        assert tuple(np.count_nonzero(part) for part in (found.x[:6], found.x[6:])) == (2, 3)
        shares.append(found.value / best)
    assert min(shares) >= (0.9 if effort == "quick" else 1.0 - 1e-9)


def test_more_effort_within_views_is_not_worse():
    pencil = few_samples(1)
    values = [solve(pencil, (4, 6), effort=effort).value for effort in ("quick", "normal")]
    assert values[0] <= values[1] * (1.0 + 1e-12)


@pytest.mark.parametrize("k", [4, (2, 3)])
def test_a_constructed_vector_is_as_sparse_as_asked_and_close_to_the_searched_one(k):
    pencil = cca(0, 9)
    x = solve_module.constructed(pencil, k)
    assert np.count_nonzero(x) == np.sum(k)
    assert x @ pencil.B @ x == pytest.approx(1.0)
    assert pencil.A_quad(x) > 0.9 * solve(pencil, k).value
    if k == (2, 3):
        assert [np.count_nonzero(x[rows]) for rows in pencil.views] == [2, 3]
