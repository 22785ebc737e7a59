"""What a proof file holds."""

from fractions import Fraction

import numpy as np
import pytest
from small_problems import null, random_cca

from dcgev_cvx import Gram, InvalidParameter, Pencil
from dcgev_cvx.datasets import pitprops, planted_pca
from dcgev_cvx.exact import best_subset, branch_and_bound
from dcgev_cvx.exact.proof import matrix_hash


def lines_of(proof, **options):
    return dict(line.partition(" ")[::2] for line in proof.lines(**options))


def test_the_value_is_the_exact_quotient_rounded_down():
    proof = best_subset(random_cca(), 4).proof
    support = np.flatnonzero(proof.x)
    x = [Fraction(v) for v in proof.x[support].tolist()]
    quotient = [
        sum(u * v * Fraction(M[i, j]) for i, u in zip(support, x, strict=True) for j, v in zip(support, x, strict=True))
        for M in (proof.A, proof.B)
    ]
    exact = quotient[0] / quotient[1]
    assert Fraction(proof.value) <= exact < Fraction(np.nextafter(proof.value, np.inf))


def test_a_file_says_what_was_found():
    found = best_subset(pitprops(), 6)
    lines = lines_of(found.proof)
    assert [int(i) for i in lines["support"].split()] == list(found.support)
    assert float(lines["value"]) == pytest.approx(found.value, rel=1e-15)
    assert float(lines["bound"]) == found.upper_bound
    assert (lines["n"], lines["counts"], lines["B"]) == ("13", "6", "identity")
    assert lines["A"] == matrix_hash(pitprops().A)
    assert "matrix_A" not in lines
    assert np.array_equal(
        np.array(lines_of(found.proof, matrices=True)["matrix_A"].split(), dtype=float), pitprops().A.ravel()
    )


def test_hashes_are_of_values_not_of_memory():
    A = np.array([[1.0, -0.0], [0.0, 2.0]])
    assert matrix_hash(A) == matrix_hash(np.asfortranarray(np.abs(A))) == matrix_hash(A.astype(">f8"))
    assert matrix_hash(A) != matrix_hash(np.array([[1.0, 0.0], [0.0, 2.0 + 2.0**-51]]))


def test_a_factor_brings_its_matrix_along(tmp_path):
    C = np.random.default_rng(0).standard_normal((5, 14))
    best_subset(Pencil(Gram(C)), 4).proof.save(tmp_path / "proof")
    assert "\nmatrix_A " in (tmp_path / "proof").read_text()


def test_a_problem_closed_at_the_root_needs_one_dual_and_one_leaf(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "CHEAP_NODES", 0)
    proof = best_subset(planted_pca(40, 8, samples=400, strength=4.0).pencil, 8).proof
    assert [word for word, _ in proof.steps if word != "screen"] in (["bound"], ["list"])
    assert len(proof.duals) <= 2


def test_only_duals_that_steps_use_are_kept_in_the_order_of_their_use(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "CHEAP_NODES", 0)
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", 2000)
    proof = best_subset(null(24), 5).proof
    used = [numbers[0] for word, numbers in proof.steps if word in ("bound", "screen") and numbers[0]]
    assert list(dict.fromkeys(used)) == list(range(1, len(proof.duals) + 1))


def test_every_split_has_two_branches(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", 2000)
    for limits in ({}, {"node_limit": 12}):
        words = [word for word, _ in best_subset(null(20), 5, **limits).proof.steps]
        leaves = words.count("list") + words.count("bound")
        assert leaves == words.count("split") + 1


def test_a_proof_that_cannot_be_written_raises(tmp_path):
    proof = best_subset(pitprops(), 3).proof
    with pytest.raises(InvalidParameter, match="the proof file"):
        proof.save(tmp_path)
    with pytest.raises(InvalidParameter, match="matrices"):
        proof.save(tmp_path / "proof", matrices="yes")
