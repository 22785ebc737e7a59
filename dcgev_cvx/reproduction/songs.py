"""Songs described by audio features and by words: the public CAL500 file, and a planted replacement (Section 5.2)."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._numerics.checks import Matrix, as_generator, as_path, frozen
from ..errors import DataUnavailable, InvalidParameter


@dataclass(frozen=True)
class Songs:
    """audio: songs × features; tags: songs × words in {0, 1}; agreement: listeners' mean answers in [0, 1], or None.

    `noisy` names the words that are known to have nothing to do with the sound: in planted data only.
    """

    audio: Matrix
    tags: Matrix
    words: tuple[str, ...]
    agreement: Matrix | None
    source: str
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
    names, is_word, rows = read_arff(path)
    audio, tags = rows[:, ~is_word], rows[:, is_word]
    if (audio.shape, tags.shape) != ((502, 68), (502, 174)) or not np.isin(tags, (0.0, 1.0)).all():
        raise DataUnavailable(
            f"{path} holds {audio.shape} numbers and {tags.shape} labels; CAL500 has (502, 68) numbers and "
            "(502, 174) labels of 0 and 1."
        )
    soft, agreement = path.with_name("softAnnotations.txt"), None
    if soft.exists():
        try:
            agreement = frozen(np.loadtxt(soft, delimiter=",", ndmin=2))
        except (OSError, ValueError) as cause:
            raise DataUnavailable(f"{soft} is not a table of numbers: {cause}") from cause
        if agreement.shape != tags.shape:
            raise DataUnavailable(f"{soft} must hold 502 × 174 numbers; got {agreement.shape}.")
    words = tuple(name for name, chosen in zip(names, is_word, strict=True) if chosen)
    return Songs(frozen(audio), frozen(tags), words, agreement, f"CAL500 ({path.name})")


def read_arff(path: Path) -> tuple[list[str], NDArray[np.bool_], Matrix]:
    """(names, whether each is a label, rows) of an ARFF file; a label is {0,1} or, as Mulan writes, label."""
    from scipy.io.arff import ArffError, loadarff

    try:
        text = path.read_text(encoding="utf-8").replace('"', "'")  # SciPy knows the single quotes only
        data, meta = loadarff(io.StringIO(re.sub(r"(?mi)^(@attribute .*\s)label\s*$", r"\1{0,1}", text)))
        rows = np.column_stack([data[name].astype(np.float64) for name in meta.names()])
    except FileNotFoundError as cause:
        raise DataUnavailable(
            f"{path} does not exist. CAL500 in Mulan's form is public, for non-commercial research and education: "
            "put CAL500.arff into that folder."
        ) from cause
    except (OSError, ValueError, IndexError, StopIteration, NotImplementedError, ArffError) as cause:
        raise DataUnavailable(f"{path} cannot be read as an ARFF file of numbers and labels: {cause}") from cause
    if not np.isfinite(rows).all():
        raise DataUnavailable(f"{path} holds values that are missing or infinite.")
    return meta.names(), np.array([kind == "nominal" for kind in meta.types()]), rows


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
    trait = generator.standard_normal((songs, words))
    for j in np.flatnonzero(~is_noisy):
        chosen = generator.choice(factors, size=int(generator.integers(1, 3)), replace=False)
        trait[:, j] = z[:, chosen] @ generator.choice([-1.0, 1.0], size=len(chosen)) / np.sqrt(len(chosen))
    spread = generator.uniform(0.3, 1.2, size=words) + 0.1 * is_noisy
    level = generator.uniform(0.2, 1.0, size=words)
    agreement = (trait + spread * generator.standard_normal((4, songs, words)) > level).mean(axis=0)
    tags = (agreement > 0.5).astype(np.float64)
    names = tuple(f"{'noise' if bad else 'sound'} {j + 1}" for j, bad in enumerate(is_noisy))
    noise = frozenset(name for name in names if name.startswith("noise"))
    return Songs(frozen(audio), frozen(tags), names, frozen(agreement), "planted songs, not CAL500", noise)
