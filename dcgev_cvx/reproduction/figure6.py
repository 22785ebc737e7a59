"""Figure 6: vocabularies for music retrieval by sparse CCA, by agreement of listeners and at random (Section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from .findings import Experiment, Figure, Finding, Panel, Section, Table, agreement
from .running import Settings, Task
from .songs import cal500, planted_songs
from .vocabulary import agreement_vocabularies, average, random_vocabularies, sparse_cca_vocabularies, word_scores


def split_task(songs: str, words: int, seed: int, split: int, least: int, steps: int) -> dict[str, Any]:
    """One split into training songs (four fifths) and test songs: every vocabulary and its average AROC.

    Sizes run from all words down to `least`; the score at random is the mean over 20 vocabularies.
    """
    data = planted_songs(words=words, noisy=round(0.4 * words), rng=seed) if songs == "planted" else cal500(songs)
    rng, n = np.random.default_rng([seed, split]), len(data.words)
    order = rng.permutation(data.n_songs)
    train, test = np.sort(order[data.n_songs // 5 :]), np.sort(order[: data.n_songs // 5])
    sizes = [int(size) for size in np.unique(np.linspace(min(least, n), n, steps).round())[::-1]]
    scores = word_scores(data, train, test)
    chosen = sparse_cca_vocabularies(data.audio[train], data.tags[train], sizes)
    agreed = agreement_vocabularies(data, train, sizes)
    drawn = [[average(scores, words) for words in random_vocabularies(n, sizes, rng)] for _ in range(20)]
    noisy = np.array([word in data.noisy for word in data.words])
    return {
        "sizes": sizes,
        "sparse CCA": [average(scores, words) for words in chosen],
        "agreement": None if agreed is None else [average(scores, words) for words in agreed],
        "random": averaged(drawn),
        "noisy left": [int(np.sum(noisy[words])) for words in chosen] if data.noisy else None,
        "source": data.source,
    }


def averaged(rows: Sequence[Sequence[float]]) -> list[float]:
    """The mean of each column."""
    return [fmean(column) for column in zip(*rows, strict=True)]


def tasks(settings: Settings) -> list[Task]:
    """One task per split."""
    shared = {name: settings[name] for name in ("songs", "words", "seed", "least", "steps")}
    return [Task(f"split-{i}", split_task, {**shared, "split": i}) for i in range(settings["splits"])]


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """The three curves, averaged over the splits, and what the paper says of them."""
    splits = [results[f"split-{i}"] for i in range(settings["splits"])]
    sizes, source = splits[0]["sizes"], splits[0]["source"]
    names = [name for name in ("sparse CCA", "agreement", "random") if splits[0][name] is not None]
    curves = {name: averaged([split[name] for split in splits]) for name in names}
    noisy = None if splits[0]["noisy left"] is None else averaged([split["noisy left"] for split in splits])
    left = ["-"] * len(sizes) if noisy is None else [f"{count:.1f}" for count in noisy]
    shares = [[f"{100 * share:.2f}" for share in curve] for curve in curves.values()]
    rows = zip(map(str, sizes), *shares, left, strict=True)
    columns = ("words", *curves, "noisy words left")
    points = {name: list(zip(sizes, curve, strict=True)) for name, curve in curves.items()}
    panel = Panel("test songs ranked for each word", "words in the vocabulary", "average AROC", points)
    return Section(
        name="figure6",
        title="Figure 6: vocabulary selection for music retrieval",
        setup=f"Data: {source}. {len(splits)} splits of the songs, four fifths for training. Sparse CCA between "
        "audio features (dense) and words (sparse); one logistic model per word ranks the test songs; AROC is "
        "averaged over the words of the vocabulary, so that leaving out words that cannot be heard raises it.",
        tables=(Table("figure6", "Average AROC (%) by vocabulary size", columns, tuple(rows)),),
        findings=tuple(findings(sizes, curves, noisy)),
        figures=(Figure("figure6", f"Vocabulary selection ({source})", (panel,)),),
    )


def findings(sizes: list[int], curves: Mapping[str, list[float]], noisy: list[float] | None) -> list[Finding]:
    """The claims of Figure 6, at the vocabulary of about half the words."""
    half = min(range(len(sizes)), key=lambda j: abs(sizes[j] - sizes[0] / 2))
    words, full = sizes[half], curves["random"][0]
    rise = {name: curve[half] - full for name, curve in curves.items()}
    made = [
        Finding(
            "sparse CCA: smaller vocabularies score higher",
            "clearly improves",
            f"{100 * full:.1f} with {sizes[0]} words, {100 * curves['sparse CCA'][half]:.1f} with {words}",
            agreement(rise["sparse CCA"] > 0.01),
        ),
        Finding(
            "random selection offers no improvement",
            "no improvement",
            f"{100 * rise['random']:+.1f} with {words} words",
            agreement(abs(rise["random"]) < 0.02),
        ),
    ]
    if "agreement" in curves:
        gains = f"{100 * rise['agreement']:+.1f} with {words} words, sparse CCA {100 * rise['sparse CCA']:+.1f}"
        verdict = agreement(rise["agreement"] < rise["sparse CCA"])
        what = "agreement of listeners helps less than sparse CCA"
        made.append(Finding(what, "a slight improvement, initially", gains, verdict))
    if noisy is not None:
        left = f"{noisy[0]:.0f} of {sizes[0]} words are noisy, {noisy[half]:.1f} of {words}"
        verdict = agreement(noisy[half] / words < 0.5 * noisy[0] / sizes[0])
        what = "noisy words are removed first"
        made.append(Finding(what, "prunes away noisy words", left, verdict, "known in planted data only"))
    return made


EXPERIMENT = Experiment(
    "figure6",
    {
        "tiny": {"songs": "planted", "words": 30, "least": 8, "steps": 4, "splits": 1},
        "quick": {"songs": "planted", "words": 120, "least": 20, "steps": 11, "splits": 3},
        "full": {"songs": "planted", "words": 174, "least": 20, "steps": 20, "splits": 10},
    },
    tasks,
    section,
)
