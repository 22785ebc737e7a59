"""Figure 6: vocabularies for music retrieval by sparse CCA, by agreement of listeners and at random (Section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .base import Experiment, Figure, Finding, Panel, Section, Table, agreement, mean
from .cal500 import Songs, cal500, planted_songs
from .cells import Cell, Settings
from .vocabulary import agreement_vocabularies, average, random_vocabularies, sparse_cca_vocabularies, word_scores

DRAWS = 20
"""Random vocabularies per split."""


def songs_of(name: str, seed: int, words: int) -> Songs:
    """The stand-in, or CAL500 from a folder."""
    if name == "planted":
        return planted_songs(words=words, noisy=round(0.4 * words), rng=seed)
    return cal500(name)


def split_cell(songs: str, words: int, seed: int, split: int, least: int, steps: int) -> dict[str, Any]:
    """One split into training songs (four fifths) and test songs: every vocabulary and its average AROC."""
    data = songs_of(songs, seed, words)
    rng = np.random.default_rng([seed, split])
    order = rng.permutation(data.n_songs)
    train, test = np.sort(order[data.n_songs // 5 :]), np.sort(order[: data.n_songs // 5])
    sizes = vocabulary_sizes(len(data.words), least, steps)
    scores = word_scores(data, train, test)
    chosen = sparse_cca_vocabularies(data.audio[train], data.tags[train], sizes)
    agreed = agreement_vocabularies(data, train, sizes)
    drawn = [[average(scores, v) for v in random_vocabularies(len(data.words), sizes, rng)] for _ in range(DRAWS)]
    noisy = np.array([word in data.noisy for word in data.words])
    return {
        "sizes": sizes,
        "sparse CCA": [average(scores, v) for v in chosen],
        "agreement": None if agreed is None else [average(scores, v) for v in agreed],
        "random": [mean(column) for column in zip(*drawn, strict=True)],
        "noisy left": [int(np.sum(noisy[v])) for v in chosen] if data.noisy else None,
        "smallest": [data.words[j] for j in chosen[-1]],
        "source": data.source,
    }


def vocabulary_sizes(n: int, least: int, steps: int) -> list[int]:
    """From all n words down to `least`."""
    return [int(size) for size in np.unique(np.linspace(min(least, n), n, steps).round())[::-1]]


def cells(settings: Settings) -> list[Cell]:
    """One cell per split."""
    names = ("songs", "words", "seed", "least", "steps")
    return [
        Cell(f"split-{i}", split_cell, {**{name: settings[name] for name in names}, "split": i})
        for i in range(settings["splits"])
    ]


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """The three curves, averaged over the splits, and what the paper says of them."""
    splits = [results[f"split-{i}"] for i in range(settings["splits"])]
    sizes = splits[0]["sizes"]
    curves = {
        name: averaged([split[name] for split in splits])
        for name in ("sparse CCA", "agreement", "random")
        if splits[0][name] is not None
    }
    noisy = None if splits[0]["noisy left"] is None else averaged([split["noisy left"] for split in splits])
    rows = [
        (
            str(size),
            *(f"{100 * curve[j]:.2f}" for curve in curves.values()),
            "-" if noisy is None else f"{noisy[j]:.1f}",
        )
        for j, size in enumerate(sizes)
    ]
    figure = Figure("figure6", f"Vocabulary selection ({splits[0]['source']})", (panel(sizes, curves),))
    return Section(
        name="figure6",
        title="Figure 6: vocabulary selection for music retrieval",
        setup=f"Data: {splits[0]['source']}. {len(splits)} splits of the songs, four fifths for training. Sparse CCA "
        "between audio features (dense) and words (sparse); one logistic model per word ranks the test songs; AROC "
        "is averaged over the words of the vocabulary, so that leaving out words that cannot be heard raises it.",
        tables=(
            Table(
                "figure6", "Average AROC (%) by vocabulary size", ("words", *curves, "noisy words left"), tuple(rows)
            ),
        ),
        findings=tuple(findings(sizes, curves, noisy)),
        figures=(figure,),
    )


def averaged(rows: Sequence[Sequence[float]]) -> list[float]:
    """The mean of each column."""
    return [mean(column) for column in zip(*rows, strict=True)]


def panel(sizes: Sequence[int], curves: Mapping[str, Sequence[float]]) -> Panel:
    """AROC by vocabulary size."""
    points = {name: list(zip(sizes, curve, strict=True)) for name, curve in curves.items()}
    return Panel("test songs ranked for each word", "words in the vocabulary", "average AROC", points)


def findings(
    sizes: Sequence[int], curves: Mapping[str, Sequence[float]], noisy: Sequence[float] | None
) -> list[Finding]:
    """The claims of Figure 6."""
    full, chosen, drawn = curves["random"][0], curves["sparse CCA"], curves["random"]
    half = min(range(len(sizes)), key=lambda j: abs(sizes[j] - sizes[0] / 2))
    made = [
        Finding(
            "sparse CCA: smaller vocabularies score higher",
            "clearly improves",
            f"{100 * full:.1f} with {sizes[0]} words, {100 * chosen[half]:.1f} with {sizes[half]}",
            agreement(chosen[half] > full + 0.01),
        ),
        Finding(
            "random selection offers no improvement",
            "no improvement",
            f"{100 * (drawn[half] - full):+.1f} with {sizes[half]} words",
            agreement(abs(drawn[half] - full) < 0.02),
        ),
    ]
    if "agreement" in curves:
        made.append(agreement_finding(sizes[half], curves["agreement"][half] - full, chosen[half] - full))
    if noisy is not None:
        made.append(noisy_finding((noisy[0], sizes[0]), (noisy[half], sizes[half])))
    return made


def agreement_finding(size: int, agreed: float, chosen: float) -> Finding:
    """What leaving out words that listeners disagree on gains, beside what sparse CCA gains."""
    return Finding(
        "agreement of listeners helps less than sparse CCA",
        "a slight improvement, initially",
        f"{100 * agreed:+.1f} with {size} words, sparse CCA {100 * chosen:+.1f}",
        agreement(agreed < chosen),
    )


def noisy_finding(whole: tuple[float, int], half: tuple[float, int]) -> Finding:
    """How many of the words that cannot be heard are left, of how many."""
    return Finding(
        "noisy words are the first to go",
        "prunes away noisy words",
        f"{whole[0]:.0f} of {whole[1]} words are noisy, {half[0]:.1f} of {half[1]}",
        agreement(half[0] / half[1] < 0.5 * whole[0] / whole[1]),
        "known in the stand-in alone",
    )


EXPERIMENT = Experiment(
    "figure6",
    "Figure 6 (vocabulary selection)",
    {
        "tiny": {"songs": "planted", "words": 30, "least": 8, "steps": 4, "splits": 1},
        "quick": {"songs": "planted", "words": 120, "least": 20, "steps": 11, "splits": 3},
        "full": {"songs": "planted", "words": 174, "least": 20, "steps": 20, "splits": 10},
    },
    cells,
    section,
)
