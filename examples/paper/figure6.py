"""Figure 6: vocabularies for music retrieval by sparse CCA, by agreement of listeners and at random (Section 5.2).

Reproduced: the four claims. Different: the paper's songs, CAL500, may not be distributed; planted songs, of whose words
it is known which have nothing to do with the sound, replace them.
"""

import numpy as np
from findings import Figure, Finding, Panel, Section, Table, Work, agreement
from vocabulary import sparse_cca_order, word_scores

from dcgev_cvx.comparison import Cell
from dcgev_cvx.datasets import planted_songs

TITLE = "Figure 6: vocabulary selection for music retrieval"
SETTINGS = {
    "tiny": {"words": 30, "least": 8, "steps": 4, "splits": 1},
    "quick": {"words": 120, "least": 20, "steps": 11, "splits": 3},
    "full": {"words": 174, "least": 20, "steps": 20, "splits": 10},
}


def split_cell(words: int, seed: int, split: int, least: int, steps: int) -> dict:
    """One split into training songs (four fifths) and test songs: every vocabulary and its average AROC."""
    data, rng = planted_songs(words=words, noisy=round(0.4 * words), rng=seed), np.random.default_rng([seed, split])
    order, fifth = rng.permutation(len(data.audio)), len(data.audio) // 5
    train, test = np.sort(order[fifth:]), np.sort(order[:fifth])
    sizes = [int(size) for size in np.unique(np.linspace(least, words, steps).round())[::-1]]
    scores, tags = word_scores(data, train, test), data.tags[train]
    chosen = sparse_cca_order(data.audio[train], tags)
    # listeners agree most on the words whose mean answer over the songs that have the word is largest
    agreed = np.argsort(-(tags * data.answers[train]).sum(axis=0) / np.maximum(tags.sum(axis=0), 1.0), kind="stable")

    def averages(words_in_order: np.ndarray) -> list[float]:
        return [float(np.nanmean(scores[words_in_order[:size]])) for size in sizes]

    drawn = np.mean([averages(rng.permutation(words)) for _ in range(20)], axis=0).tolist()
    noisy = [int(np.sum(data.noisy[chosen[:size]])) for size in sizes]
    found = {"sparse CCA": averages(chosen), "agreement": averages(agreed), "random": drawn}
    return {"sizes": sizes, **found, "noisy words left": noisy}


def section(settings: dict, work: Work) -> Section:
    """The curves, averaged over the splits, and what the paper says of them."""
    shared = {name: settings[name] for name in ("words", "seed", "least", "steps")}
    cells = [Cell(f"split-{i}", split_cell, {**shared, "split": i}) for i in range(settings["splits"])]
    splits = list(work.cells(cells, "figure6").values())
    means = {name: np.mean([split[name] for split in splits], axis=0) for name in splits[0]}
    sizes, curves = splits[0]["sizes"], {name: 100.0 * means[name] for name in ("sparse CCA", "agreement", "random")}
    columns = {**curves, "noisy words left": means["noisy words left"]}
    rows = [(size, *(f"{column[j]:.2f}" for column in columns.values())) for j, size in enumerate(sizes)]
    points = {name: list(zip(sizes, curve.tolist(), strict=True)) for name, curve in curves.items()}
    panel = Panel("test songs ranked for each word", "words in the vocabulary", "average AROC (%)", points)
    return Section(
        f"Data: planted songs, not CAL500. {len(splits)} splits of the songs, four fifths for training. Sparse CCA "
        "between audio features (dense) and words (sparse); one logistic model per word ranks the test songs; AROC is "
        "averaged over the words of the vocabulary, so that leaving out words that cannot be heard raises it.",
        [Table("Average AROC (%) by vocabulary size", ("words", *columns), rows)],
        findings(sizes, curves, means["noisy words left"]),
        [Figure("figure6", "Vocabulary selection (planted songs, not CAL500)", [panel])],
    )


def findings(sizes: list[int], curves: dict, noisy: np.ndarray) -> list[Finding]:
    """The claims of Figure 6, at the vocabulary of about half the words."""
    half = min(range(len(sizes)), key=lambda j: abs(sizes[j] - sizes[0] / 2))
    rise = {name: float(curve[half] - curve[0]) for name, curve in curves.items()}
    ours = {name: f"{gain:+.1f} with {sizes[half]} of {sizes[0]} words" for name, gain in rise.items()}
    left = f"{noisy[0]:.0f} of {sizes[0]} words are noisy, {noisy[half]:.1f} of {sizes[half]}"
    what = "average AROC with vocabularies by"
    improves, unchanged = agreement(rise["sparse CCA"] > 1.0), agreement(abs(rise["random"]) < 2.0)
    less, pruned = rise["agreement"] < rise["sparse CCA"], noisy[half] / sizes[half] < 0.5 * noisy[0] / sizes[0]
    return [
        Finding(f"{what} sparse CCA", "clearly improves", ours["sparse CCA"], improves),
        Finding(f"{what} random selection", "no improvement", ours["random"], unchanged),
        Finding(f"{what} agreement of listeners", "a slight improvement", ours["agreement"], agreement(less)),
        Finding("sparse CCA prunes away noisy words", "yes", left, agreement(pruned), "known in planted data only"),
    ]
