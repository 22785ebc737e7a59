"""Aligned corpora: words as in the paper, files checked before use, errors that name the documents."""

import pickle
import sys

import numpy as np
import pytest

from dcgev_cvx import DataUnavailable, InvalidParameter, MissingPackage
from dcgev_cvx.datasets import corpus_from_texts, planted_translations, read_corpus

ENGLISH = ["The ship and the harbour: ship, harbour!", "A harbour2 in the ship's harbour.", "ship law, law, law 42"]
FRENCH = ["Le navire et le port : navire, port !", "L'eau du port, l'eau, l'eau.", "navire loi, loi, loi 42"]


def test_stop_words_rare_words_and_digits_are_dropped_and_entries_are_one():
    corpus = corpus_from_texts(ENGLISH, FRENCH, ["0", "1", "2"], "harbour")
    assert corpus.words == (("harbour", "law", "ship"), ("eau", "loi", "navire", "port"))  # law: thrice in one text
    assert corpus.E.toarray().tolist() == [[1, 0, 1], [1, 0, 1], [0, 1, 1]]
    assert corpus.F.toarray().tolist() == [[0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
    assert corpus.documents == ("0", "1", "2")


def test_a_saved_corpus_comes_back_bit_for_bit(tmp_path):
    corpus = planted_translations(rng=3)
    corpus.save(tmp_path / "c.npz")
    again = read_corpus(tmp_path / "c.npz")
    assert (again.E != corpus.E).nnz == 0
    assert (again.F != corpus.F).nnz == 0
    assert (again.words, again.documents) == (corpus.words, corpus.documents)


def arrays(tmp_path):
    planted_translations(20, 3, 4, 5, rng=0).save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as content:
        return dict(content)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"en_indptr": np.arange(21) * 2}, "not a corpus file"),
        ({"fr_indices": np.full(7, 99)}, "not a corpus file"),
        ({"fr_indices": None}, "fr_indices is not a file in the archive"),
        ({"en_indices": np.array([{}, 1], dtype=object)}, "without pickled objects"),
        ({"en_indices": np.ones(3)}, "not a corpus file"),
        ({"docs": np.array(["one"])}, "not a corpus file"),
    ],
)
def test_a_damaged_or_pickled_file_is_refused(tmp_path, change, said):
    content = {name: array for name, array in (arrays(tmp_path) | change).items() if array is not None}
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(DataUnavailable, match=said):
        read_corpus(tmp_path / "bad.npz")


def test_files_that_are_no_npz(tmp_path):
    good = tmp_path / "good.npz"
    arrays(tmp_path)
    (tmp_path / "cut.npz").write_bytes(good.read_bytes()[:-200])
    (tmp_path / "pickle.npz").write_bytes(pickle.dumps({"a": 1}))
    (tmp_path / "text.npz").write_text("hello", encoding="utf-8")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.save(tmp_path / "one.npy", np.ones(3))
    for name in ("cut.npz", "pickle.npz", "text.npz", "empty.npz", "one.npy"):
        with pytest.raises(DataUnavailable, match="not a corpus file"):
            read_corpus(tmp_path / name)
    with pytest.raises(DataUnavailable, match="No such file"):
        read_corpus(tmp_path / "absent.npz")


def test_split_and_shuffle():
    corpus = planted_translations(40, rng=1)
    training, queries = corpus.split(30, 10, seed=2)
    assert set(training.documents) | set(queries.documents) == set(corpus.documents)
    assert corpus.split(30, 10, seed=2)[0].documents == training.documents
    assert corpus.split(30, 10, seed=3)[0].documents != training.documents
    row = corpus.documents.index(queries.documents[0])
    assert (queries.E[0] != corpus.E[row]).nnz == 0
    assert (queries.F[0] != corpus.F[row]).nnz == 0
    wrong = corpus.shuffled(0)
    assert (wrong.E != corpus.E).nnz == 0
    assert (wrong.F != corpus.F).nnz > 0
    with pytest.raises(InvalidParameter, match="35 training and 10 query documents were asked for"):
        corpus.split(35, 10)


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    for package in ("stop_words", "sklearn.feature_extraction.text"):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingPackage, match=r"pip install 'dcgev-cvx\[paper\]'"):
            corpus_from_texts(["a"], ["b"], ["a"], "test")


def test_planted_translations_share_topics():
    corpus = planted_translations(200, 8, 10, 20, rng=1)
    assert corpus.E.shape == corpus.F.shape == (200, 100)
    assert (corpus.words[0][11], corpus.words[1][11], corpus.words[0][-1]) == ("t1-1", "s1-1", "t-19")
    topics = [np.asarray(bags[:, :10].sum(axis=1)).ravel() for bags in (corpus.E, corpus.F)]
    assert np.corrcoef(*topics)[0, 1] > 0.5
    noise = [np.asarray(bags[:, 80:].sum(axis=1)).ravel() for bags in (corpus.E, corpus.F)]
    assert abs(np.corrcoef(*noise)[0, 1]) < 0.3
