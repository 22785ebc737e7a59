"""Songs in two views, audio features and words: the public CAL500 file, and a planted stand-in (Section 5.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._numerics.checks import Matrix, as_generator, as_path, as_whole, check_bytes, frozen
from ..errors import DataUnavailable, InvalidParameter

FEATURES, WORDS, SONGS = 68, 174, 502
SHA256 = "9df3887b409a59437fffb2cf224167a5805e4dbfbffeba72bc85806ebd1794bf"
"""Of CAL500.arff in guillaume-bosc/EMM_FBeta at a5b28dbb4eb3ae421e28c9acf6264e451f96cb3f, data/CAL500.arff."""
LICENCE = "non-commercial research and education; fetched by the user, never bundled"


@dataclass(frozen=True)
class Songs:
    """audio: songs × features; tags: songs × words in {0, 1}; agreement: listeners' mean answers in [0, 1], or None.

    noisy names the words that are known to have nothing to do with the sound: in the stand-in only.
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
    """CAL500.arff in Mulan's form, and softAnnotations.txt if it lies beside it.

    Turnbull et al. (2008): 502 songs, 68 audio features, 174 words. The file's terms are
    non-commercial research and education; it is fetched by the user.
    """
    path = as_path(folder, "folder") / "CAL500.arff"
    names, kinds, rows = read_arff(path)
    labels = [j for j, kind in enumerate(kinds) if kind == "label"]
    numbers = [j for j, kind in enumerate(kinds) if kind == "numeric"]
    if (len(numbers), len(labels), len(rows)) != (FEATURES, WORDS, SONGS):
        raise DataUnavailable(
            f"{path} has {len(numbers)} numeric attributes, {len(labels)} labels and {len(rows)} songs; CAL500 has "
            f"{FEATURES}, {WORDS} and {SONGS}."
        )
    tags = rows[:, labels]
    if not np.all((tags == 0.0) | (tags == 1.0)):
        raise DataUnavailable(f"{path} has labels other than 0 and 1.")
    return Songs(
        audio=frozen(rows[:, numbers].copy()),
        tags=frozen(tags.copy()),
        features=tuple(names[j] for j in numbers),
        words=tuple(names[j] for j in labels),
        agreement=soft_annotations(Path(folder) / "softAnnotations.txt"),
        source=f"CAL500 ({path.name})",
        licence=LICENCE,
    )


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, or what is wrong with it."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as cause:
        raise DataUnavailable(
            f"{path} does not exist. CAL500 in Mulan's form is public ({LICENCE}); put CAL500.arff into that folder."
        ) from cause
    except (OSError, UnicodeDecodeError) as cause:
        raise DataUnavailable(f"{path} cannot be read: {cause}") from cause


ATTRIBUTE = re.compile(r"@attribute\s+(?:'([^']*)'|\"([^\"]*)\"|(\S+))\s+(.+)", flags=re.IGNORECASE)


def read_arff(path: Path) -> tuple[list[str], list[str], Matrix]:
    """(names, kinds, rows) of a dense ARFF file; a kind is "numeric" or "label" ({0,1}, or the word label)."""
    lines = enumerate(read_lines(path), 1)
    content = [(i, line.strip()) for i, line in lines if line.strip() and not line.lstrip().startswith("%")]
    begin = next((j for j, (_, line) in enumerate(content) if line.lower() == "@data"), None)
    if begin is None:
        raise DataUnavailable(f"{path} has no @data line: it is not an ARFF file.")
    heads = [(i, line) for i, line in content[:begin] if line.lower().startswith("@attribute")]
    attributes = [attribute(path, i, line) for i, line in heads]
    rows = [numbers(path, i, line, len(attributes)) for i, line in content[begin + 1 :]]
    names, kinds = [name for name, _ in attributes], [kind for _, kind in attributes]
    return names, kinds, np.array(rows, dtype=np.float64).reshape(len(rows), len(attributes))


def attribute(path: Path, i: int, line: str) -> tuple[str, str]:
    """The name and kind that one line declares."""
    match = ATTRIBUTE.match(line)
    kind = "" if match is None else match[4].strip().lower().replace(" ", "")
    if match is not None and kind in ("numeric", "real", "integer"):
        return match[1] or match[2] or match[3], "numeric"
    if match is not None and kind in ("label", "{0,1}", "{1,0}"):
        return match[1] or match[2] or match[3], "label"
    raise DataUnavailable(f"{path}, line {i}: {line[:60]!r} declares neither a number nor a label in {{0,1}}.")


def numbers(path: Path, i: int, line: str, count: int) -> list[float]:
    """The numbers of one data line."""
    try:
        row = [float(entry) for entry in line.split(",")]
    except ValueError as cause:
        raise DataUnavailable(f"{path}, line {i}: not a row of numbers ({cause}).") from cause
    if len(row) != count:
        raise DataUnavailable(f"{path}, line {i}: {len(row)} numbers where {count} are expected.")
    if not all(np.isfinite(row)):
        raise DataUnavailable(f"{path}, line {i}: {row[int(np.argmin(np.isfinite(row)))]} is not a finite number.")
    return row


def soft_annotations(path: Path) -> Matrix | None:
    """SONGS lines of WORDS values in [0, 1] with commas; None when the file is not there."""
    if not path.exists():
        return None
    lines = [line for line in read_lines(path) if line.strip()]
    table = np.array([numbers(path, i, line, WORDS) for i, line in enumerate(lines, 1)])
    if table.shape != (SONGS, WORDS):
        raise DataUnavailable(f"{path} has {len(table)} lines; {SONGS} are expected.")
    return frozen(table)


def planted_songs(
    songs: int = 500,
    features: int = 40,
    words: int = 120,
    noisy: int = 50,
    *,
    factors: int = 8,
    listeners: int = 4,
    rng: int | np.random.Generator = 0,
) -> Songs:
    """A stand-in for CAL500 in which `noisy` of the words have nothing to do with the sound.

    The audio features mix latent factors with noise. A sound word is a threshold on one or two factors, a
    noisy word a threshold on a trait of the song that the audio does not carry. Each of the
    listeners errs by a spread that belongs to the word, so that agreement tells clear words from vague
    ones, which is not the same as sound words from noisy ones; a tag is the majority of the answers.
    """
    sizes = {"songs": songs, "features": features, "words": words, "factors": factors, "listeners": listeners}
    songs, features, words, factors, listeners = (
        as_whole(size, what, low=2, high=10**9) for what, size in sizes.items()
    )
    noisy = as_whole(noisy, "noisy", low=0, high=10**9)
    if noisy >= words:
        raise InvalidParameter(f"noisy = {noisy} must lie below words = {words}.")
    check_bytes((songs, max(listeners * words, features, factors)), "the answers", "Take fewer songs.")
    generator = as_generator(rng)
    z = generator.standard_normal((songs, factors))
    audio = z @ generator.standard_normal((factors, features)) + 1.5 * generator.standard_normal((songs, features))
    is_noisy = np.zeros(words, dtype=bool)
    is_noisy[generator.choice(words, noisy, replace=False)] = True
    agreement = answers(traits(z, is_noisy, generator), is_noisy, listeners, generator)
    names = tuple(f"{'noise' if bad else 'sound'} {j + 1}" for j, bad in enumerate(is_noisy))
    return Songs(
        audio=frozen(audio),
        tags=frozen((agreement > 0.5).astype(np.float64)),
        features=tuple(f"feature {j + 1}" for j in range(features)),
        words=names,
        agreement=frozen(agreement),
        source="planted stand-in, not CAL500",
        licence="generated",
        noisy=frozenset(name for name, bad in zip(names, is_noisy, strict=True) if bad),
    )


def traits(z: Matrix, is_noisy: NDArray[np.bool_], generator: np.random.Generator) -> Matrix:
    """What each word is about, songs × words: a sum of one or two factors with random signs, or a draw of its own."""
    trait = generator.standard_normal((len(z), len(is_noisy)))
    for j in np.flatnonzero(~is_noisy):
        chosen = generator.choice(z.shape[1], size=int(generator.integers(1, 3)), replace=False)
        trait[:, j] = z[:, chosen] @ generator.choice([-1.0, 1.0], size=len(chosen)) / np.sqrt(len(chosen))
    return trait


def answers(trait: Matrix, is_noisy: NDArray[np.bool_], listeners: int, generator: np.random.Generator) -> Matrix:
    """The share of listeners to whom a word applies: each hears the trait with the word's spread."""
    words = len(is_noisy)
    spread = generator.uniform(0.3, 1.2, size=words) + 0.1 * is_noisy
    level = generator.uniform(0.2, 1.0, size=words)
    heard = trait[None] + spread * generator.standard_normal((listeners, len(trait), words)) > level
    return heard.mean(axis=0)
