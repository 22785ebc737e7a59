"""Planted songs: audio features and words of which it is known whether they have to do with the sound (Section 5.2)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._numerics.checks import Matrix, as_generator


@dataclass(frozen=True)
class Songs:
    """Songs described by audio features and by words.

    Parameters
    ----------
    audio : array
        Songs × features.
    tags : array
        Songs × words in {0, 1}.
    answers : array
        Songs × words, the listeners' mean answers in [0, 1].
    noisy : array of bool
        Which words have nothing to do with the sound.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> datasets.planted_songs(50, 6, 10, 4).noisy.sum()
    np.int64(4)
    """

    audio: Matrix
    tags: Matrix
    answers: Matrix
    noisy: NDArray[np.bool_]


def planted_songs(
    songs: int = 500,
    features: int = 40,
    words: int = 120,
    noisy: int = 50,
    *,
    factors: int = 8,
    rng: int | np.random.Generator = 0,
) -> Songs:
    """Songs in which `noisy` of the words have nothing to do with the sound, a replacement for CAL500.

    The audio features mix latent factors with noise. A sound word is a threshold on one or two factors, a noisy word
    a threshold on a trait that the audio does not contain. Each of four listeners errs by a spread that belongs to
    the word, so that agreement separates clear words from vague ones, which is not the same as sound words from noisy
    ones; a tag is the majority of the answers.

    Parameters
    ----------
    songs : int
        The number of songs.
    features : int
        The number of audio features.
    words : int
        The number of words.
    noisy : int
        How many of the words are noisy.
    factors : int
        The number of latent factors of the sound.
    rng : int or numpy.random.Generator
        A seed or a generator.

    Returns
    -------
    Songs
        The songs.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> songs = datasets.planted_songs(50, 6, 10, 4)
    >>> songs.audio.shape, songs.tags.shape
    ((50, 6), (50, 10))
    """
    generator = as_generator(rng)
    z = generator.standard_normal((songs, factors))
    audio = z @ generator.standard_normal((factors, features)) + 1.5 * generator.standard_normal((songs, features))
    is_noisy = np.zeros(words, dtype=bool)
    is_noisy[generator.choice(words, noisy, replace=False)] = True
    trait = generator.standard_normal((songs, words))
    for j in np.flatnonzero(~is_noisy):
        chosen = generator.choice(factors, size=int(generator.integers(1, 3)), replace=False)
        trait[:, j] = z[:, chosen] @ generator.choice([-1.0, 1.0], size=len(chosen)) / np.sqrt(len(chosen))
    spread = generator.uniform(0.3, 1.2, size=words) + 0.1 * is_noisy
    level = generator.uniform(0.2, 1.0, size=words)
    answers = (trait + spread * generator.standard_normal((4, songs, words)) > level).mean(axis=0)
    return Songs(audio, (answers > 0.5).astype(np.float64), answers, is_noisy)
