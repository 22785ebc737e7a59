"""English documents and their French translations as binary bags of words, row i of both the same document (5.1)."""

import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix

from .._numerics.checks import Index, as_generator, as_path
from .._numerics.extras import require
from ..errors import DataUnavailable, InvalidParameter

WORD = r"(?u)\b[^\W\d_]{2,}\b"
"""Two letters or more, no digits: l', d' and qu' are cut off a French word."""


@dataclass(frozen=True)
class Corpus:
    """E and F, N documents × words in {0, 1}, sparse by rows; words[0] are E's columns, words[1] F's.

    Two rows of E and F with the same number are translations of each other. An entry says whether a word occurs, not
    how often, as in the paper.

    Parameters
    ----------
    E, F : sparse matrix
        The bags of words of the two languages.
    words : tuple of two tuples of str
        The two vocabularies.
    documents : tuple of str
        The names of the documents.
    source : str
        Where the documents are from.

    Examples
    --------
    >>> from dcgev_cvx.datasets import planted_translations
    >>> corpus = planted_translations(30, topics=3)
    >>> corpus
    Corpus(30 pairs, 96 + 96 words, planted translations)
    >>> training, queries = corpus.split(20, 10)
    >>> training.n_documents, queries.n_documents
    (20, 10)
    """

    E: Any
    F: Any
    words: tuple[tuple[str, ...], tuple[str, ...]]
    documents: tuple[str, ...]
    source: str

    @property
    def n_documents(self) -> int:
        """N, the number of document pairs."""
        return len(self.documents)

    def take(self, rows: Index) -> Self:
        """The corpus of a few documents; the vocabularies stay, so that training and queries share a space."""
        documents = tuple(self.documents[i] for i in rows)
        return replace(self, E=self.E[rows], F=self.F[rows], documents=documents)

    def split(self, train: int, queries: int, seed: int = 0) -> tuple[Self, Self]:
        """Training and query documents drawn without replacement."""
        if min(train, queries) < 2 or train + queries > self.n_documents:
            raise InvalidParameter(
                f"{train} training and {queries} query documents were asked for; at least 2 of each are needed, and "
                f"the corpus has {self.n_documents}."
            )
        order = as_generator(seed).permutation(self.n_documents)
        return self.take(order[:train]), self.take(order[train : train + queries])

    def shuffled(self, seed: int = 0) -> Self:
        """The French rows in another order, so that no pair is a translation: a control."""
        order = as_generator(seed).permutation(self.n_documents)
        return replace(self, F=self.F[order], source=f"{self.source}, pairs shuffled")

    def save(self, path: str | Path) -> None:
        """Write the .npz that `read_corpus` reads."""
        arrays: dict[str, Any] = {"docs": np.array(self.documents)}
        for language, bags, words in zip(("en", "fr"), (self.E, self.F), self.words, strict=True):
            arrays[f"{language}_indices"] = bags.indices.astype(np.int32)
            arrays[f"{language}_indptr"] = bags.indptr.astype(np.int32)
            arrays[f"{language}_vocab"] = np.array(words)
        np.savez_compressed(path, **arrays)

    def __repr__(self) -> str:
        return f"Corpus({self.n_documents} pairs, {len(self.words[0])} + {len(self.words[1])} words, {self.source})"


def corpus_from_texts(
    english: Sequence[str], french: Sequence[str], names: Sequence[str], source: str, *, least: int = 3
) -> Corpus:
    """Bags of words of two lists of texts, text i of both being the same document.

    Stop words and words with fewer than `least` occurrences in a language are dropped, as in the paper.

    Parameters
    ----------
    english, french : sequence of str
        The texts.
    names : sequence of str
        The names of the documents.
    source : str
        Where they are from.
    least : int
        How often a word must occur in the texts of its language.

    Returns
    -------
    Corpus
        The bags of words of both languages.

    Examples
    --------
    >>> from dcgev_cvx.datasets import corpus_from_texts
    >>> english = ["red apples fall", "green apples rot", "red leaves fall"]
    >>> french = ["pommes rouges tombent", "pommes vertes pourrissent", "feuilles rouges tombent"]
    >>> corpus = corpus_from_texts(english, french, ["1", "2", "3"], "orchard", least=2)
    >>> corpus.words[0], corpus.E.toarray().astype(int).tolist()
    (('apples', 'fall', 'red'), [[1, 1, 1], [1, 0, 0], [0, 1, 1]])
    """
    E, E_words = bag_of_words(english, "en", least)
    F, F_words = bag_of_words(french, "fr", least)
    return Corpus(E, F, (E_words, F_words), tuple(names), source)


def bag_of_words(texts: Sequence[str], language: str, least: int) -> tuple[Any, tuple[str, ...]]:
    """The binary bag of words and its vocabulary, without stop words and rare words."""
    text = require("sklearn.feature_extraction.text", "paper")
    phrases = require("stop_words", "paper").get_stop_words(language)
    stop_words = {word for phrase in phrases for word in re.findall(WORD, phrase.lower())}  # cut as the texts are
    vectorizer = text.CountVectorizer(token_pattern=WORD, stop_words=sorted(stop_words))
    counts = vectorizer.fit_transform(texts).tocsr().astype(np.float64)
    frequent = np.flatnonzero(np.asarray(counts.sum(axis=0)).ravel() >= least)
    bags = counts[:, frequent]
    bags.data[:] = 1.0
    return bags, tuple(vectorizer.get_feature_names_out()[frequent].tolist())


def read_corpus(source: str | Path) -> Corpus:
    """The corpus in an .npz file that `Corpus.save` wrote; its vocabulary is kept as it is.

    Nothing is unpickled, so that a file from elsewhere cannot run code.

    Parameters
    ----------
    source : path
        The file.

    Returns
    -------
    Corpus
        What the file holds.

    Raises
    ------
    DataUnavailable
        If the file is missing or damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from dcgev_cvx.datasets import planted_translations, read_corpus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     planted_translations(30, topics=3).save(Path(folder) / "topics.npz")
    ...     read_corpus(Path(folder) / "topics.npz")
    Corpus(30 pairs, 96 + 96 words, topics.npz)
    """
    path = as_path(source, "source")
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as arrays:
            documents = tuple(arrays["docs"].tolist())
            E, F = (stored_bags(arrays, language, len(documents)) for language in ("en", "fr"))
            words = (tuple(arrays["en_vocab"].tolist()), tuple(arrays["fr_vocab"].tolist()))
    except (OSError, ValueError, EOFError, TypeError, KeyError, AttributeError, zipfile.BadZipFile) as cause:
        raise DataUnavailable(
            f"{path} is not a corpus file ({cause}): it must be an .npz without pickled objects that holds docs, "
            "en_indices, en_indptr and en_vocab, and the same with fr_. examples/make_laws_corpus.py makes one."
        ) from cause
    return Corpus(E, F, words, documents, path.name)


def stored_bags(arrays: Mapping[str, Any], language: str, rows: int) -> Any:
    """The N × words matrix of one language, its indices checked; repeated ones count once."""
    indices, indptr, words = (arrays[f"{language}_{part}"] for part in ("indices", "indptr", "vocab"))
    if int(indptr[-1]) != len(indices):
        raise ValueError(f"{language}_indptr must rise to the number of {language}_indices")
    bags: Any = csr_matrix((np.ones(len(indices)), indices, indptr), shape=(rows, len(words)))
    bags.check_format(full_check=True)  # SciPy does not check indices when it uses them
    bags.sum_duplicates()
    bags.data[:] = 1.0
    return bags


def planted_translations(
    documents: int = 150, topics: int = 10, words: int = 12, noise: int = 60, *, rng: int = 0
) -> Corpus:
    """Documents about a few topics each; word j of topic t is "t3-5" in the first language, "s3-5" in the second.

    A word of a chosen topic occurs with probability ½, any other word with probability 0.05, in both languages
    independently: what the two versions of a document share is its topics.

    Parameters
    ----------
    documents, topics : int
        How many of each.
    words : int
        The words of a topic.
    noise : int
        The words that belong to no topic.
    rng : int
        The seed.

    Returns
    -------
    Corpus
        The documents in both languages.

    Examples
    --------
    >>> from dcgev_cvx.datasets import planted_translations
    >>> corpus = planted_translations(30, topics=3)
    >>> corpus.E.shape, corpus.words[0][0], corpus.words[1][0]
    ((30, 96), 't0-0', 's0-0')
    """
    generator = as_generator(rng)
    about = generator.random((documents, topics)) < 0.3
    about[np.arange(documents), generator.integers(topics, size=documents)] = True
    chance = np.hstack([np.where(np.repeat(about, words, axis=1), 0.5, 0.05), np.full((documents, noise), 0.05)])
    E, F = (csr_matrix((generator.random(chance.shape) < chance).astype(np.float64)) for _ in range(2))
    plain = [f"{t}-{j}" for t in range(topics) for j in range(words)] + [f"-{j}" for j in range(noise)]
    names = (tuple(f"t{word}" for word in plain), tuple(f"s{word}" for word in plain))
    labels = tuple(f"document {i + 1}" for i in range(documents))
    return Corpus(E, F, names, labels, "planted translations")
