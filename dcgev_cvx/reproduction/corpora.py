"""Documents in two languages, row i of both being the same document: binary bags of words (Section 5.1)."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._numerics.checks import (
    Index,
    as_generator,
    as_indices,
    as_path,
    as_whole,
    expect,
    listed,
    shown,
)
from ..errors import DataUnavailable, InvalidParameter

LEAST = 3
"""Words that occur less often than this in a language are dropped, as in the paper."""
WORD = r"(?u)\b[^\W\d_]{2,}\b"
"""Two letters or more, no digits: what l', d' and qu' leave of a French word is the word."""
LANGUAGES = ("en", "fr")
FORM = "en_indices, en_indptr, en_vocab, the same with fr_, and docs"


@dataclass(frozen=True)
class Corpus:
    """E and F, N documents × words in {0, 1}, sparse by rows; words[0] are E's columns, words[1] F's.

    Two rows of E and F with the same number are translations of each other. Entries say whether a word occurs, not
    how often, as in the paper; the words are lower case.
    """

    E: Any
    F: Any
    words: tuple[tuple[str, ...], tuple[str, ...]]
    documents: tuple[str, ...]
    source: str
    languages: tuple[str, str] = LANGUAGES

    @property
    def n_documents(self) -> int:
        """N, the number of document pairs."""
        return len(self.documents)

    def take(self, rows: Index) -> Corpus:
        """The corpus of a few documents; the vocabularies stay.

        Words that do not occur in these documents keep their columns, so that training and query documents share a
        space.
        """
        rows = as_indices(rows, self.n_documents, "rows")
        documents = tuple(self.documents[i] for i in rows)
        return replace(self, E=self.E[rows], F=self.F[rows], documents=documents)

    def split(self, train: int, queries: int, seed: int = 0) -> tuple[Corpus, Corpus]:
        """Training and query documents drawn without replacement.

        The same seed gives the same split. Vocabularies are those of the whole corpus, so that a word may have no
        occurrence in training.
        """
        train, queries = as_whole(train, "train", high=10**9), as_whole(queries, "queries", high=10**9)
        if min(train, queries) < 2 or train + queries > self.n_documents:
            raise InvalidParameter(
                f"{train} training and {queries} query documents were asked for; at least 2 of each are needed, and "
                f"the corpus has {self.n_documents}."
            )
        order = as_generator(seed).permutation(self.n_documents)
        return self.take(order[:train]), self.take(order[train : train + queries])

    def shuffled(self, seed: int = 0) -> Corpus:
        """The same documents with the second language's rows in another order: no pair is a translation.

        A control: what a method finds in shuffled pairs is chance.
        """
        order = as_generator(seed).permutation(self.n_documents)
        return replace(self, F=self.F[order], source=f"{self.source}, pairs shuffled")

    def save(self, path: str | Path) -> None:
        """Write the form that aligned_corpus reads: rows of column numbers, every entry 1, no pickles.

        The file is read back by `aligned_corpus(path)` to the same bags and words; the language codes in it are en
        and fr whatever the languages are. Raises InvalidParameter for a path that cannot be written.
        """
        arrays: dict[str, Any] = {"docs": np.array(self.documents)}
        for language, bag, words in zip(LANGUAGES, (self.E, self.F), self.words, strict=True):
            arrays[f"{language}_indices"] = bag.indices.astype(np.int32)
            arrays[f"{language}_indptr"] = bag.indptr.astype(np.int32)
            arrays[f"{language}_vocab"] = np.array(words)
        target = as_path(path, "path")
        try:
            np.savez_compressed(target, **arrays)
        except OSError as cause:
            raise InvalidParameter(f"{target} cannot be written: {cause.strerror or cause}.") from cause

    def __repr__(self) -> str:
        return f"Corpus({self.n_documents} pairs, {len(self.words[0])} + {len(self.words[1])} words, {self.source})"


def aligned_corpus(
    source: str | Path,
    other: str | Path | None = None,
    *,
    languages: tuple[str, str] = LANGUAGES,
    least: int = LEAST,
) -> Corpus:
    """A corpus from two folders of text files aligned by name, or from one .npz of bags of words.

    Stop words of the two languages and words with fewer than `least` occurrences are dropped. An
    .npz holds en_indices, en_indptr, en_vocab, the same with fr_, and docs (see Corpus.save); its
    vocabulary is taken as it is.

    Parameters
    ----------
    source, other
        Two folders whose files have the same names, or one .npz file and None.
    languages
        Codes of the stop words to drop.
    least
        The fewest occurrences of a word that is kept, counted over the whole corpus of a language.

    Raises
    ------
    InvalidParameter
        For files without a partner, empty files, an unknown language, or a document of which no word is left.
    DataUnavailable
        For folders or files that are missing, damaged or not UTF-8.
    """
    languages = two_languages(languages)
    least = as_whole(least, "least", low=0, high=10**9)
    if other is None:
        return read_bags(as_path(source, "source"))
    first, second = text_files(as_path(source, "source")), text_files(as_path(other, "other"))
    for here, there, folder in ((first, second, other), (second, first, source)):
        lonely = sorted(set(here) - set(there))
        if lonely:
            raise InvalidParameter(
                f"{len(lonely)} file(s) have no partner in {folder}: {shortened(lonely)}. "
                "Aligned documents have the same name in both folders."
            )
    names = sorted(first)
    texts = [[read_text(files[name]) for name in names] for files in (first, second)]
    return corpus_from_texts(texts[0], texts[1], names, f"{source} and {other}", languages=languages, least=least)


def corpus_from_texts(
    english: Sequence[str],
    french: Sequence[str],
    documents: Sequence[str],
    source: str,
    *,
    languages: tuple[str, str] = LANGUAGES,
    least: int = LEAST,
) -> Corpus:
    """Bags of words of two lists of texts, text i of both being the same document.

    Examples
    --------
    >>> from dcgev_cvx.reproduction.corpora import corpus_from_texts
    >>> english = ["red apples fall", "green apples rot", "red leaves fall"]
    >>> french = ["pommes rouges tombent", "pommes vertes pourrissent", "feuilles rouges tombent"]
    >>> corpus = corpus_from_texts(english, french, ["1", "2", "3"], "orchard", least=2)
    >>> corpus.words[0], corpus.E.toarray().astype(int).tolist()
    (('apples', 'fall', 'red'), [[1, 1, 1], [1, 0, 0], [0, 1, 1]])
    """
    english, french, documents = (as_texts(given) for given in (english, french, documents))
    source = expect(source, str, "source", "a text that says where the documents come from")
    languages = two_languages(languages)
    least = as_whole(least, "least", low=0, high=10**9)
    if len(english) != len(french) or len(english) != len(documents):
        raise InvalidParameter(
            f"{len(english)} texts, {len(french)} translations and {len(documents)} names: there must be one of each."
        )
    views = [bag_of_words(texts, code, least) for texts, code in zip((english, french), languages, strict=True)]
    for (bag, _), code in zip(views, languages, strict=True):
        refuse_empty_rows(bag, documents, code)
    (E, first), (F, second) = views
    return Corpus(E, F, (first, second), tuple(map(str, documents)), source, languages)


def as_texts(texts: Any) -> list[str]:
    """A list of texts; one text alone would be taken for its letters, and is refused."""
    found = listed(texts)
    if not found or not all(isinstance(text, str) for text in found):
        raise InvalidParameter(f"texts = {shown(texts)} must be a list of strings, one per document.")
    return found


def two_languages(languages: Any) -> tuple[str, str]:
    """Two codes of languages."""
    codes = listed(languages)
    if len(codes) != 2 or not all(isinstance(code, str) for code in codes):
        raise InvalidParameter(f"languages = {shown(languages)} must be two codes, such as ('en', 'fr').")
    return codes[0], codes[1]


def bag_of_words(texts: Sequence[str], language: str, least: int) -> tuple[Any, tuple[str, ...]]:
    """The binary bag of words and its vocabulary, without stop words and rare words.

    Occurrences are counted before the bag is made binary: a word that occurs three times in one document stays.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer: Any = CountVectorizer(token_pattern=WORD, stop_words=stop_words(language))
    frequent = np.zeros(0, dtype=np.intp)
    counts: Any = None
    # scikit-learn raises ValueError for a vocabulary with nothing in it
    with suppress(ValueError):
        counts = vectorizer.fit_transform(texts).tocsr().astype(np.float64)
        occurrences = np.asarray(counts.sum(axis=0)).ravel()
        frequent = np.flatnonzero(occurrences >= least)
    if not len(frequent):
        raise InvalidParameter(
            f"No {language} word is left of {len(texts)} document(s) once stop words and words with fewer than "
            f"{least} occurrences are dropped: add documents or lower `least`."
        )
    bag = counts[:, frequent]
    bag.data[:] = 1.0
    names = vectorizer.get_feature_names_out()
    return bag, tuple(str(names[j]) for j in frequent)


def stop_words(language: str) -> list[str]:
    """The language's stop words, cut into words as the texts are.

    Elided forms such as l' and qu' are cut by the same pattern as the texts, so that both agree on what a word is.
    """
    import re

    from stop_words import StopWordError, get_stop_words

    try:
        listed = get_stop_words(language)
    except StopWordError as cause:
        raise InvalidParameter(f"no stop words are known for the language {language!r}: {cause}") from cause
    return sorted({word for phrase in listed for word in re.findall(WORD, phrase.lower())})


def text_files(folder: Path) -> dict[str, Path]:
    """The files of a folder by name, or an error when there are none.

    Folders inside the folder are not looked into. Raises DataUnavailable for a missing or empty one.
    """
    if not folder.is_dir():
        raise DataUnavailable(f"{folder} is not a folder of text files.")
    files = {path.name: path for path in sorted(folder.iterdir()) if path.is_file()}
    if not files:
        raise DataUnavailable(f"{folder} holds no files.")
    return files


def read_text(path: Path) -> str:
    """The file as UTF-8 text; a file without a letter is an error, not a document.

    Raises DataUnavailable for another encoding, which is not guessed, and InvalidParameter for a file without
    letters.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise DataUnavailable(f"{path} cannot be read as UTF-8 text: {cause}") from cause
    if not any(letter.isalpha() for letter in text):
        raise InvalidParameter(f"{path} is empty: remove it and its partner, or fill it.")
    return text


def read_bags(path: Path) -> Corpus:
    """The corpus of an .npz file, every array checked before it is used; nothing is unpickled.

    The vocabulary is taken as it is: no stop words are dropped twice.
    """
    arrays = loaded(path)
    documents = tuple(str(name) for name in arrays["docs"])
    bags = [bag_of(arrays, language, len(documents), path) for language in LANGUAGES]
    vocabularies = [tuple(str(word) for word in arrays[f"{language}_vocab"]) for language in LANGUAGES]
    for bag, language in zip(bags, LANGUAGES, strict=True):
        refuse_empty_rows(bag, documents, language)
    return Corpus(bags[0], bags[1], (vocabularies[0], vocabularies[1]), documents, path.name)


def loaded(path: Path) -> dict[str, Any]:
    """The arrays of an .npz by name.

    allow_pickle=False throughout: a corpus file from elsewhere cannot run code.
    """
    wanted = ["docs", *(f"{code}_{part}" for code in LANGUAGES for part in ("indices", "indptr", "vocab"))]
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as content:
            missing = [name for name in wanted if name not in content.files]
            if missing:
                raise DataUnavailable(f"{path} lacks {', '.join(missing)}: a corpus file holds {FORM}.")
            return {name: content[name] for name in wanted}
    except FileNotFoundError as cause:
        raise DataUnavailable(f"{path} does not exist.") from cause
    except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as cause:
        if isinstance(cause, DataUnavailable):
            raise
        why = "one array" if isinstance(cause, (AttributeError, TypeError)) else cause  # a .npy is no archive
        raise DataUnavailable(
            f"{path} is not a corpus file ({why}): it must be an .npz without pickled objects, holding {FORM}."
        ) from cause


def bag_of(arrays: Mapping[str, Any], language: str, rows: int, path: Path) -> Any:
    """The N × words matrix of one language, if its arrays fit together.

    Indices out of range would make SciPy read beyond its arrays, hence the checks; repeated indices count once.
    """
    from scipy.sparse import csr_matrix

    indices, indptr, words = (arrays[f"{language}_{part}"] for part in ("indices", "indptr", "vocab"))
    plain = all(array.ndim == 1 for array in (indices, indptr, words)) and indices.dtype.kind + indptr.dtype.kind in (
        "ii",
        "iu",
        "ui",
        "uu",
    )
    fits = (
        plain
        and len(indptr) == rows + 1
        and int(indptr[0]) == 0
        and int(indptr[-1]) == len(indices)
        and bool(np.all(np.diff(indptr.astype(np.int64)) >= 0))
        and (not len(indices) or (int(indices.min()) >= 0 and int(indices.max()) < len(words)))
    )
    if not fits:
        raise DataUnavailable(
            f"{path} is damaged: {language}_indptr must rise from 0 to the length of {language}_indices over "
            f"{rows} documents, and the indices must be columns of {language}_vocab."
        )
    bag: Any = csr_matrix((np.ones(len(indices)), indices, indptr), shape=(rows, len(words)))
    bag.sum_duplicates()
    bag.data[:] = 1.0
    return bag


def refuse_empty_rows(bag: Any, documents: Sequence[str], language: str) -> None:
    """Every document must have a word left.

    A document without words has no direction in either view, and no method could retrieve it.
    """
    empty = np.flatnonzero(np.diff(bag.indptr) == 0)
    if len(empty):
        names = [documents[int(i)] for i in empty]
        raise InvalidParameter(
            f"{len(empty)} document(s) have no {language} word left: {shortened(names)}. "
            "Remove them, or lower `least`."
        )


def shortened(names: Sequence[str]) -> str:
    """Ten names at most."""
    return ", ".join(map(str, names[:10])) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


__all__ = ["Corpus", "aligned_corpus", "corpus_from_texts"]
