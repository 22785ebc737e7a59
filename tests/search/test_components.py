"""Components one after the other: on the pit props, on views, with a callback."""

import numpy as np
import pytest
import standin
from families import random_pencil, views
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import InvalidParameter, Pencil, components, datasets
from dcgev_cvx.certificates import value
from dcgev_cvx.search import explained_variance
from dcgev_cvx.search.components import Components, components_by_penalty

common = settings(max_examples=20)
seeds = st.integers(0, 10_000)
KINDS = ["hotelling", "orthogonalized-hotelling", "projection", "schur"]
PATTERN = [6, 2, 2, 1, 1, 1]


def test_shares_are_those_of_the_first_one_two_and_three():
    pencil = random_pencil(4)
    V = np.random.default_rng(4).standard_normal((6, 3))
    found = Components(pencil, (), V, (), "schur")
    for name in ("projector_trace", "adjusted", "plain_sum"):
        measure = getattr(explained_variance, name)
        assert getattr(found, name)().tolist() == [measure(pencil, V[:, :j]) for j in (1, 2, 3)]


def test_a_component_is_sought_in_what_the_one_before_left_and_told_in_words():
    """Algorithm 2 on diag(4, 3, 2, 1) by a penalty: the variables one by one, and the work of each is timed."""
    found = components_by_penalty(Pencil(np.diag([4.0, 3.0, 2.0, 1.0])), 3, 0.1, "projection")
    assert [s.support for s in found.solutions] == [(0,), (1,), (2,)]
    assert found.values == pytest.approx((4.0, 3.0, 2.0))
    assert found.deflated_values == pytest.approx((4.0, 3.0, 2.0))
    assert [line.partition(" ")[0] for line in str(found).splitlines()[:3]] == ["1.", "2.", "3."]
    assert str(found).splitlines()[-1] == "projector trace 90.00%, adjusted 90.00%, plain sum 90.00%"
    assert {s.method for s in found.solutions} == {"Algorithm 2 (dc_pca)"}
    with pytest.raises(InvalidParameter, match=r"rho = 60\.0 gives x = 0 for component 2: lower rho"):
        components_by_penalty(Pencil(np.diag([4.0, 0.5])), 2, 60.0, "projection")


def test_orthogonalized_hotelling_removes_what_is_new_only(exhaustive):
    pencil = random_pencil(3)
    found = components(pencil, [3, 3, 3])
    W = np.zeros((6, 0))
    A = pencil.dense()[0]
    B = pencil.dense()[1]
    for v in found.V.T:
        w = v - W @ (W.T @ B @ v)
        w /= np.sqrt(w @ B @ w)
        W = np.column_stack([W, w])
    first = A - (W[:, 0] @ A @ W[:, 0]) * np.outer(B @ W[:, 0], B @ W[:, 0])
    second = first - (W[:, 1] @ first @ W[:, 1]) * np.outer(B @ W[:, 1], B @ W[:, 1])
    assert found.deflated_values[1] == pytest.approx(value(Pencil(first, B), found.V[:, 1]))
    assert found.deflated_values[2] == pytest.approx(value(Pencil(second, B), found.V[:, 2]))


@pytest.mark.parametrize("kind", KINDS)
def test_dense_components_are_the_canonical_correlations(kind, exhaustive):
    X, Y, pencil = views()
    found = components(pencil, [7, 7, 7], deflation=kind)
    Qx, Qy = (np.linalg.qr(V - V.mean(0))[0] for V in (X, Y))
    np.testing.assert_allclose(found.values, np.linalg.svd(Qx.T @ Qy)[1], atol=1e-8)


@pytest.mark.parametrize("finder", ["exhaustive", "solve"])
def test_pit_props_explain_what_the_paper_says(finder, request):
    if finder == "exhaustive":
        request.getfixturevalue("exhaustive")
    found = components(datasets.pitprops(), PATTERN)
    assert found.cardinalities == tuple(PATTERN)
    assert [s.support for s in found.solutions[:3]] == [(0, 1, 6, 7, 8, 9), (2, 3), (5, 6)]
    # four variables are left with variance one: which three of them come next is a tie
    assert {s.support for s in found.solutions[3:]} < {(4,), (10,), (11,), (12,)}
    np.testing.assert_allclose(np.abs(found.V[[0, 1, 6, 7, 8, 9], 0]), [0.44, 0.45, 0.38, 0.34, 0.40, 0.42], atol=6e-3)
    np.testing.assert_allclose(np.abs(found.V[[2, 3], 1]), [0.71, 0.71], atol=5e-3)
    np.testing.assert_allclose(np.abs(found.V[[5, 6], 2]), [0.82, 0.58], atol=1e-2)
    assert found.projector_trace()[-1] == pytest.approx(0.7705, abs=5e-5)
    assert found.plain_sum()[-1] == pytest.approx(0.8019, abs=5e-5)
    assert 0.709 <= found.adjusted()[-1] <= 0.7245
    assert finder == "solve" or found.adjusted()[-1] == pytest.approx(0.7230, abs=5e-5)
    assert "projector trace 77.05%, adjusted 7" in str(found)
    assert found.to_dict()["explained"]["projector_trace"][-1] == found.projector_trace()[-1]


def test_values_are_those_of_the_undeflated_pencil(exhaustive):
    pencil = datasets.pitprops()
    found = components(pencil, PATTERN)
    for solution, v in zip(found.solutions, found.V.T, strict=True):
        assert solution.value == pytest.approx(v @ pencil.A @ v)
        assert np.array_equal(solution.x, v)
    assert found.deflated_values[2] < found.values[2]


@common
@given(seeds, st.sampled_from(KINDS))
def test_components_permute_flip_and_scale(seed, kind):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dcgev_cvx.search.components.solve", standin.solve)
        pencil = random_pencil(seed)
        A, B = pencil.dense()
        rng = np.random.default_rng(seed)
        order, signs = rng.permutation(6), rng.choice([-1.0, 1.0], 6)
        plain = components(pencil, [3, 2, 2], deflation=kind)
        moved = components(Pencil(A[np.ix_(order, order)], B[np.ix_(order, order)]), [3, 2, 2], deflation=kind)
        flip = np.outer(signs, signs)
        flipped = components(Pencil(A * flip, B * flip), [3, 2, 2], deflation=kind)
        scaled = components(Pencil(4.0 * A, B / 16.0), [3, 2, 2], deflation=kind)
    np.testing.assert_allclose(np.abs(moved.V), np.abs(plain.V[order]), atol=1e-7)
    np.testing.assert_allclose(np.abs(flipped.V), np.abs(plain.V), atol=1e-7)
    np.testing.assert_allclose(np.abs(scaled.V), 4.0 * np.abs(plain.V), atol=1e-6)
    np.testing.assert_allclose(scaled.values, 64.0 * np.array(plain.values), rtol=1e-8)
    np.testing.assert_allclose(scaled.projector_trace(), plain.projector_trace(), rtol=1e-8)


def test_a_callback_sees_each_component_and_may_stop(exhaustive):
    seen = []

    def watch(solution):
        seen.append(solution.k)
        return len(seen) == 2

    found = components(datasets.pitprops(), PATTERN, callback=watch)
    assert seen == [6, 2]
    assert found.cardinalities == (6, 2)


def test_cardinalities_are_not_text():
    with pytest.raises(InvalidParameter, match="ks = '22' must list one cardinality per component"):
        components(datasets.pitprops(), "22")
    with pytest.raises(
        InvalidParameter, match="k = '3' is out of range: it must be a whole number between 1 and n = 13"
    ):
        components(datasets.pitprops(), [2, "3"])


def test_views_need_a_pencil_that_has_them(exhaustive):
    with pytest.raises(InvalidParameter, match=r"k = \(1, 1\) names views, but the pencil has none"):
        components(Pencil(np.eye(3)), [(1, 1)])
    with pytest.raises(InvalidParameter, match="one number for each of the 2 views"):
        components(views()[2], [(1, 1, 1)])
    with pytest.raises(InvalidParameter, match="k = 5 is out of range"):
        components(views()[2], [(5, 1)])


def test_bad_input(exhaustive):
    pencil = datasets.pitprops()
    with pytest.raises(InvalidParameter, match="did you mean 'projection'"):
        components(pencil, [2, 2], deflation="projektion")
    with pytest.raises(InvalidParameter, match="ks = 5 must list one cardinality per component"):
        components(pencil, 5)
    with pytest.raises(InvalidParameter, match="ks is empty"):
        components(pencil, [])
    with pytest.raises(InvalidParameter, match="k = 14 is out of range"):
        components(pencil, [2, 14])
    with pytest.raises(InvalidParameter, match=r"Nothing is left of A after 1 component"):
        components(Pencil(np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0])), [2, 2])
