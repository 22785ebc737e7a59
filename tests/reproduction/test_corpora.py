"""Aligned corpora: words as in the paper, files checked before use, errors that name the documents."""

import pickle
import sys

import numpy as np
import pytest

from dcgev_cvx import DataUnavailable, InvalidParameter, MissingPackage
from dcgev_cvx.reproduction.corpora import aligned_corpus, corpus_from_texts
from dcgev_cvx.reproduction.translated_texts import planted_translations

ENGLISH = ["The ship and the harbour: ship, harbour!", "A harbour2 in the ship's harbour.", "ship law, law, law 42"]
FRENCH = ["Le navire et le port : navire, port !", "L'eau du port, l'eau, l'eau.", "navire loi, loi, loi 42"]


def folders(tmp_path, english=ENGLISH, french=FRENCH):
    for folder, texts in (("en", english), ("fr", french)):
        (tmp_path / folder).mkdir()
        for i, text in enumerate(texts):
            (tmp_path / folder / f"{i}.txt").write_text(text, encoding="utf-8")
    return tmp_path / "en", tmp_path / "fr"


def test_stop_words_rare_words_and_digits_are_dropped_and_entries_are_one(tmp_path):
    corpus = aligned_corpus(*folders(tmp_path))
    assert corpus.words == (("harbour", "law", "ship"), ("eau", "loi", "navire", "port"))
    assert corpus.E.toarray().tolist() == [[1, 0, 1], [1, 0, 1], [0, 1, 1]]
    assert corpus.F.toarray().tolist() == [[0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0]]
    assert corpus.documents == ("0.txt", "1.txt", "2.txt")


def test_occurrences_are_counted_not_documents(tmp_path):
    assert "law" in aligned_corpus(*folders(tmp_path)).words[0]  # three times, in one document


def test_a_file_without_a_partner_is_named(tmp_path):
    en, fr = folders(tmp_path)
    (fr / "2.txt").unlink()
    (en / "0.txt").unlink()
    with pytest.raises(InvalidParameter, match=r"only one of .*en and .*fr holds 0\.txt, 2\.txt: add or remove"):
        aligned_corpus(en, fr)


def test_empty_documents_and_vocabularies_are_errors(tmp_path):
    en, fr = folders(tmp_path)
    (en / "1.txt").write_text(" 12 \n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match=r"no English word is left of 1\.txt: remove them or lower `least`"):
        aligned_corpus(en, fr)
    with pytest.raises(InvalidParameter, match="no en word is left of 2 document"):
        corpus_from_texts(["the and of", "the"], ["navire navire navire", "navire"], ["a", "b"], "test")
    with pytest.raises(InvalidParameter, match="no English word is left of a, b"):
        corpus_from_texts(["one rare word", "another"], ["navire navire", "navire"], ["a", "b"], "test")
    with pytest.raises(InvalidParameter, match="no French word is left of b: remove"):
        corpus_from_texts(["ship ship", "ship"], ["navire navire navire", "rare"], ["a", "b"], "test")


def test_folders_that_do_not_hold_texts(tmp_path):
    with pytest.raises(DataUnavailable, match="no cannot be read as a folder of UTF-8 texts"):
        aligned_corpus(tmp_path / "no", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataUnavailable, match="empty holds no text files"):
        aligned_corpus(tmp_path / "empty", tmp_path)
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin" / "a").write_bytes(b"\xe9t\xe9")
    with pytest.raises(DataUnavailable, match="latin cannot be read as a folder of UTF-8 texts"):
        aligned_corpus(tmp_path / "latin", tmp_path / "latin")


def test_a_saved_corpus_comes_back_bit_for_bit(tmp_path):
    corpus = planted_translations(rng=3)
    corpus.save(tmp_path / "c.npz")
    again = aligned_corpus(tmp_path / "c.npz")
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
        ({"en_indices": np.ones(3)}, "en_indptr must rise to the number of en_indices"),
        ({"docs": np.array(["one"])}, "not a corpus file"),
    ],
)
def test_a_damaged_or_pickled_file_is_refused(tmp_path, change, said):
    content = {name: array for name, array in (arrays(tmp_path) | change).items() if array is not None}
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(DataUnavailable, match=said):
        aligned_corpus(tmp_path / "bad.npz")


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
            aligned_corpus(tmp_path / name)
    with pytest.raises(DataUnavailable, match="No such file"):
        aligned_corpus(tmp_path / "absent.npz")


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
        with pytest.raises(MissingPackage, match=r"pip install 'dcgev-cvx\[reproduce\]'"):
            corpus_from_texts(["a"], ["b"], ["a"], "test")
