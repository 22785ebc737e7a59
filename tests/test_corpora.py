"""Aligned corpora: words as in the paper, files checked before use, errors that name the documents."""

import gzip
import pickle

import numpy as np
import pytest

from dcgev_cvx import DataUnavailable, InvalidParameter
from dcgev_cvx.reproduction.corpora import aligned_corpus, corpus_from_texts
from dcgev_cvx.reproduction.laws import laws_of_canada
from dcgev_cvx.reproduction.manpages import manpages
from dcgev_cvx.reproduction.planted_text import planted_translations

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
    with pytest.raises(InvalidParameter, match=r"1 file\(s\) have no partner in .*fr: 2\.txt"):
        aligned_corpus(en, fr)
    with pytest.raises(InvalidParameter, match=r"have no partner in .*fr: 2\.txt"):
        aligned_corpus(fr, en)


def test_empty_documents_and_vocabularies_are_errors(tmp_path):
    en, fr = folders(tmp_path)
    (en / "1.txt").write_text(" 12 \n", encoding="utf-8")
    with pytest.raises(InvalidParameter, match=r"1\.txt is empty"):
        aligned_corpus(en, fr)
    with pytest.raises(InvalidParameter, match="No en word is left of 2 document"):
        corpus_from_texts(["the and of", "one word"], ["navire navire navire", "navire"], ["a", "b"], "test")
    with pytest.raises(InvalidParameter, match=r"1 document\(s\) have no fr word left: b"):
        corpus_from_texts(["ship ship", "ship"], ["navire navire navire", "rare"], ["a", "b"], "test")
    with pytest.raises(InvalidParameter, match="2 texts, 1 translations and 2 names"):
        corpus_from_texts(["a", "b"], ["c"], ["a", "b"], "test")
    with pytest.raises(InvalidParameter, match="source must be a str, got NoneType"):
        corpus_from_texts(["red apples"], ["pommes rouges"], ["1"], None, least=1)
    with pytest.raises(InvalidParameter, match="no stop words are known for the language 'xx'"):
        corpus_from_texts(["a"], ["b"], ["a"], "test", languages=("xx", "fr"))


def test_folders_that_are_none(tmp_path):
    with pytest.raises(DataUnavailable, match="is not a folder"):
        aligned_corpus(tmp_path / "no", tmp_path)
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin" / "a").write_bytes(b"\xe9t\xe9")
    with pytest.raises(DataUnavailable, match="cannot be read as UTF-8"):
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
        ({"en_indptr": np.arange(21) * 2}, "is damaged: en_indptr"),
        ({"fr_indices": np.full(7, 99)}, "is damaged: fr_indptr"),
        ({"fr_indices": None}, "lacks fr_indices"),
        ({"en_indices": np.array([{}, 1], dtype=object)}, "without pickled objects"),
        ({"en_indices": np.ones(3)}, "is damaged: en_indptr"),
        ({"docs": np.array(["one"])}, "is damaged"),
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
    with pytest.raises(DataUnavailable, match="does not exist"):
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


PAGE = r""".\" Copyright, not a word of the page
.TH LS 1 "date"
.ie \n(.g .ds Aq \(aq
.SH NAME
ls \- list \fBdirectory\fP contents \(aqquoted\(aq
.B option
"""
SEITE = PAGE.replace("list", "\\('enum\\('erer").replace("directory", "r\\['e]pertoire")


def pages(root, count=12):
    filler = " ".join(f"{'filler'} {letter * 3}" for letter in "abcdefghijklmnopqrst")
    for folder, text in (("man1", PAGE), ("fr/man1", SEITE)):
        (root / folder).mkdir(parents=True)
        for i in range(count):
            data = f"{text}{filler} page\n".encode()
            (root / folder / f"p{i}.1.gz").write_bytes(gzip.compress(data))
        (root / folder / "link.1.gz").write_bytes(gzip.compress(b".so man1/p0.1\n"))
        (root / folder / "broken.1.gz").write_bytes(b"\x1f\x8b broken")
    (root / "man1" / "alone.1").write_text(PAGE, encoding="utf-8")


def test_manual_pages_without_troff_redirections_and_lonely_pages(tmp_path):
    pages(tmp_path)
    corpus = manpages("fr", root=tmp_path)
    assert corpus.n_documents == 12
    assert corpus.documents[0] == "man1/p0.1"
    assert {"directory", "list", "option", "quoted"} <= set(corpus.words[0])
    assert {"répertoire", "énumérer", "option"} <= set(corpus.words[1])
    assert not {"copyright", "aq", "ds", "bdirectory", "fp", "ie"} & set(corpus.words[0])


def test_without_manual_pages_the_packages_are_named(tmp_path):
    with pytest.raises(DataUnavailable, match="install manpages, manpages-dev, manpages-fr and manpages-fr-dev"):
        manpages("fr", root=tmp_path)
    with pytest.raises(InvalidParameter, match="must be a code such as 'fr'"):
        manpages("../..", root=tmp_path)


def test_laws_are_paired_by_their_numbers(tmp_path):
    texts = {
        "eng/acts/A-1.xml": "ship ship ship",
        "fra/lois/A-1.xml": "navire navire navire",
        "eng/regulations/SOR-99-1.xml": "ship port port port",
        "fra/reglements/DORS-99-1.xml": "navire port port port",
        "eng/regulations/C.R.C.,_c._7.xml": "port ship <b>ship</b>",
        "fra/reglements/C.R.C.,_ch._7.xml": "port navire <b>navire</b>",
        "eng/regulations/SI-1-1.xml": "ship without partner here",
        "eng/acts/short.xml": "ship",
        "fra/lois/short.xml": "navire",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"<Statute><Text>{text}</Text></Statute>", encoding="utf-8")
    corpus = laws_of_canada(tmp_path, least_words=3)
    assert corpus.documents == (
        "eng/acts/A-1.xml",
        "eng/regulations/C.R.C.,_c._7.xml",
        "eng/regulations/SOR-99-1.xml",
    )
    assert corpus.words == (("port", "ship"), ("navire", "port"))
    with pytest.raises(DataUnavailable, match="no document of 100 words"):
        laws_of_canada(tmp_path)
    (tmp_path / "eng/acts/A-1.xml").write_text("<Statute>", encoding="utf-8")
    with pytest.raises(DataUnavailable, match=r"A-1\.xml cannot be read as XML"):
        laws_of_canada(tmp_path, least_words=3)
