"""Songs described by audio features and by words: the public CAL500 file, and a planted replacement (Section 5.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._numerics.checks import Matrix, as_generator, as_path, frozen
from ..errors import DataUnavailable, InvalidParameter

LICENCE = "non-commercial research and education; downloaded by the user, never bundled"


@dataclass(frozen=True)
class Songs:
    """audio: songs × features; tags: songs × words in {0, 1}; agreement: listeners' mean answers in [0, 1], or None.

    `noisy` names the words that are known to have nothing to do with the sound: in planted data only.
    """

    audio: Matrix
    tags: Matrix
    features: tuple[str, ...]
    words: tuple[str, ...]
    agreement: Matrix | None
    source: str
    licence: str
    noisy: frozenset[str] = frozenset()

    @property
    def n_songs(self) -> int:
        """The number of songs."""
        return len(self.audio)


def cal500(folder: str | Path) -> Songs:
    """CAL500.arff in Mulan's form, and softAnnotations.txt if it is in the same folder.

    Turnbull et al. (2008): 502 songs, 68 audio features, 174 words. The file's terms are non-commercial research and
    education; the user downloads it, for example data/CAL500.arff of github.com/guillaume-bosc/EMM_FBeta.
    """
    path = as_path(folder, "folder") / "CAL500.arff"
    names, is_label, rows = read_arff(path)
    found = (int(np.sum(~is_label)), int(np.sum(is_label)), len(rows))
    if found != (68, 174, 502):
        raise DataUnavailable(f"{path} has (numbers, labels, songs) = {found}; CAL500 has (68, 174, 502).")
    if not np.all(np.isin(rows[:, is_label], (0.0, 1.0))):
        raise DataUnavailable(f"{path} has labels other than 0 and 1.")
    soft = path.with_name("softAnnotations.txt")
    answers = read_numbers(soft, read_lines(soft), (502, 174)) if soft.exists() else None
    return Songs(
        audio=frozen(rows[:, ~is_label]),
        tags=frozen(rows[:, is_label]),
        features=tuple(names[~is_label].tolist()),
        words=tuple(names[is_label].tolist()),
        agreement=answers,
        source=f"CAL500 ({path.name})",
        licence=LICENCE,
    )


def read_arff(path: Path) -> tuple[NDArray[np.str_], NDArray[np.bool_], Matrix]:
    """(names, whether each is a label, rows) of a dense ARFF file; a label is {0,1}, or the word label."""
    lines = [line.strip() for line in read_lines(path) if line.strip() and not line.startswith("%")]
    begin = next((i for i, line in enumerate(lines) if line.lower() == "@data"), None)
    if begin is None:
        raise DataUnavailable(f"{path} has no @data line: it is not an ARFF file.")
    attributes: dict[str, bool] = {}
    for line in lines[:begin]:
        if line.lower().startswith("@attribute"):
            match = re.fullmatch(r"\S+\s+(?:'(.*)'|\"(.*)\"|(\S+))\s+(.+)", line)
            kind = "" if match is None else match[4].lower().replace(" ", "")
            if match is None or kind not in ("numeric", "real", "integer", "label", "{0,1}", "{1,0}"):
                raise DataUnavailable(f"{path}: {line[:60]!r} declares neither a number nor a label in {{0,1}}.")
            attributes[match[1] or match[2] or match[3]] = kind in ("label", "{0,1}", "{1,0}")
    rows = read_numbers(path, lines[begin + 1 :], (None, len(attributes)))
    return np.array(list(attributes)), np.array(list(attributes.values())), rows


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as cause:
        raise DataUnavailable(
            f"{path} does not exist. CAL500 in Mulan's form is public ({LICENCE}): put CAL500.arff into that folder."
        ) from cause
    except (OSError, UnicodeDecodeError) as cause:
        raise DataUnavailable(f"{path} cannot be read: {cause}") from cause


def read_numbers(path: Path, lines: list[str], shape: tuple[int | None, int]) -> Matrix:
    """Lines of finite numbers with commas, of a given shape."""
    try:
        rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    except ValueError as cause:
        raise DataUnavailable(f"{path} is not a table of numbers: {cause}") from cause
    expected = (len(rows) if shape[0] is None else shape[0], shape[1])
    if rows.shape != expected or not np.all(np.isfinite(rows)):
        raise DataUnavailable(f"{path} must hold {expected[0]} × {expected[1]} finite numbers; got {rows.shape}.")
    return frozen(rows)


def planted_songs(
    songs: int = 500, features: int = 40, words: int = 120, noisy: int = 50, *, factors: int = 8, rng: int = 0
) -> Songs:
    """A replacement for CAL500 in which `noisy` of the words have nothing to do with the sound.

    The audio features mix latent factors with noise. A sound word is a threshold on one or two factors, a noisy word
    a threshold on a trait that the audio does not contain. Each of four listeners errs by a spread that belongs to
    the word, so that agreement separates clear words from vague ones, which is not the same as sound words from noisy
    ones; a tag is the majority of the answers.
    """
    if not 0 <= noisy < words:
        raise InvalidParameter(f"noisy = {noisy} must lie between 0 and words = {words}, which is excluded.")
    generator = as_generator(rng)
    z = generator.standard_normal((songs, factors))
    audio = z @ generator.standard_normal((factors, features)) + 1.5 * generator.standard_normal((songs, features))
    is_noisy = np.zeros(words, dtype=bool)
    is_noisy[generator.choice(words, noisy, replace=False)] = True
    agreement = answers(traits(z, is_noisy, generator), is_noisy, generator)
    names = tuple(f"{'noise' if bad else 'sound'} {j + 1}" for j, bad in enumerate(is_noisy))
    return Songs(
        audio=frozen(audio),
        tags=frozen((agreement > 0.5).astype(np.float64)),
        features=tuple(f"feature {j + 1}" for j in range(features)),
        words=names,
        agreement=frozen(agreement),
        source="planted songs, not CAL500",
        licence="generated",
        noisy=frozenset(name for name, bad in zip(names, is_noisy, strict=True) if bad),
    )


def traits(z: Matrix, is_noisy: NDArray[np.bool_], generator: np.random.Generator) -> Matrix:
    """What each word describes, songs × words: a sum of one or two factors with random signs, or separate noise."""
    trait = generator.standard_normal((len(z), len(is_noisy)))
    for j in np.flatnonzero(~is_noisy):
        chosen = generator.choice(z.shape[1], size=int(generator.integers(1, 3)), replace=False)
        trait[:, j] = z[:, chosen] @ generator.choice([-1.0, 1.0], size=len(chosen)) / np.sqrt(len(chosen))
    return trait


def answers(trait: Matrix, is_noisy: NDArray[np.bool_], generator: np.random.Generator) -> Matrix:
    """The share of four listeners to whom a word applies: each hears the trait with the word's spread."""
    words = len(is_noisy)
    spread = generator.uniform(0.3, 1.2, size=words) + 0.1 * is_noisy
    level = generator.uniform(0.2, 1.0, size=words)
    heard = trait[None] + spread * generator.standard_normal((4, len(trait), words)) > level
    return heard.mean(axis=0)
