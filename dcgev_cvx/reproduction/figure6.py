"""Figure 6: vocabularies for music retrieval by sparse CCA, by agreement of listeners and at random (Section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from .._numerics.checks import Index, Matrix, Vector, as_generator
from .._numerics.extras import require
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil, cca_pencil
from ..search.components import components
from .findings import Experiment, Figure, Finding, Panel, Section, Table, agreement
from .running import Settings, Task
from .songs import Songs, cal500, planted_songs

# Vocabularies: words in an order, of which the first are taken


def word_pencil(audio: Matrix, tags: Matrix, ridge: float = 0.1) -> Pencil:
    """(ΣyxΣxx⁻¹Σxy, Σyy): CCA with sparsity asked of the words alone (Eq:CCA).

    For given loadings v of the words the best loadings of the audio features are Σxx⁻¹Σxy v up to scale; substituted,
    they leave max vᵀΣyxΣxx⁻¹Σxy v s.t. vᵀΣyyv = 1. Both views are standardised; a word that every song or no song has
    gets variance ridge alone.
    """
    p = audio.shape[1]
    A, B = cca_pencil(standardised(audio, audio), standardised(tags, tags), ridge=ridge).dense()
    factor = solve_triangular(cholesky(B[:p, :p], lower=True), A[:p, p:], lower=True)
    return Pencil(Gram(factor), B[p:, p:])


def standardised(X: Matrix, training: Matrix) -> Matrix:
    """Columns less the mean and over the deviation of the training data; a constant column is only centred."""
    deviation = training.std(axis=0)
    return (X - training.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)


def correlations_above_chance(audio: Matrix, tags: Matrix, rng: int | np.random.Generator = 0) -> int:
    """The number of canonical correlations above the largest of five data sets with shuffled songs; at least 1."""
    generator = as_generator(rng)
    A, B = word_pencil(audio, tags).dense()
    chance = max(word_pencil(audio, generator.permutation(tags)).lambda_max for _ in range(5))
    return max(1, int(np.count_nonzero(eigh(A, B, eigvals_only=True) > chance)))


def sparse_cca_order(audio: Matrix, tags: Matrix) -> Index:
    """The words in the order in which they enter the supports of sparse components as their cardinality k grows.

    The number of components is `correlations_above_chance`. k runs 1, 2, 3, 4, 6, 9, … up to all words. Words that
    enter at the same k are ordered by their largest λ_j|v_j|√Bᵢᵢ, the loading weighted by the component's value.
    """
    pencil, number = word_pencil(audio, tags), correlations_above_chance(audio, tags)
    order: list[int] = []
    k = 1
    while len(order) < pencil.n:
        found = components(pencil, [k] * number, deflation="projection", effort="quick")
        values = np.maximum(np.array(found.deflated_values), 1e-12)
        strength = np.max(np.abs(found.V) * values, axis=1) * np.sqrt(pencil.B_diagonal)
        entering = np.argsort(-strength, kind="stable")
        order += [int(j) for j in entering if (strength[j] > 0.0 or k == pencil.n) and j not in order]
        k = min(pencil.n, max(k + 1, int(1.5 * k)))
    return np.array(order)


def agreement_order(songs: Songs, rows: Index) -> Index:
    """The words on which listeners agree most first: their mean answer over the songs that have the word."""
    tags, answers = songs.tags[rows], np.asarray(songs.agreement)[rows]
    means = (tags * answers).sum(axis=0) / np.maximum(tags.sum(axis=0), 1.0)
    return np.argsort(-means, kind="stable")


# The score of a vocabulary


def word_scores(songs: Songs, train: Index, test: Index) -> Vector:
    """AROC of each word on the test songs, ranked by a model of the word trained on the training songs' audio.

    The model is a ridge-penalised logistic regression per word. The models of two words are independent, so that
    training on a smaller vocabulary is leaving words out. A word that all or no songs of a half have cannot be
    scored: NaN.
    """
    regression = require("sklearn.linear_model", "reproduce").LogisticRegression(C=0.1, max_iter=200)
    metrics = require("sklearn.metrics", "reproduce")
    X, Z = (standardised(songs.audio[rows], songs.audio[train]) for rows in (train, test))
    scores = np.full(len(songs.words), np.nan)
    for j in range(len(songs.words)):
        y, truth = songs.tags[train, j], songs.tags[test, j]
        if 0.0 < y.mean() < 1.0 and 0.0 < truth.mean() < 1.0:
            scores[j] = metrics.roc_auc_score(truth, regression.fit(X, y).decision_function(Z))
    return scores


def averages(scores: Vector, order: Index, sizes: Sequence[int]) -> list[float]:
    """The average AROC over the first words of an order that can be scored, for each size."""
    found = [scores[order[:size]] for size in sizes]
    if any(np.isnan(part).all() for part in found):
        raise InvalidParameter("no word of a vocabulary can be scored on the test songs: use more songs.")
    return [float(np.nanmean(part)) for part in found]


# The experiment


def split_task(songs: str, words: int, seed: int, split: int, least: int, steps: int) -> dict[str, Any]:
    """One split into training songs (four fifths) and test songs: every vocabulary and its average AROC.

    Sizes run from all words down to `least`; the score at random is the mean over 20 orders.
    """
    data = planted_songs(words=words, noisy=round(0.4 * words), rng=seed) if songs == "planted" else cal500(songs)
    rng, n = np.random.default_rng([seed, split]), len(data.words)
    order = rng.permutation(data.n_songs)
    train, test = np.sort(order[data.n_songs // 5 :]), np.sort(order[: data.n_songs // 5])
    sizes = [int(size) for size in np.unique(np.linspace(min(least, n), n, steps).round())[::-1]]
    scores = word_scores(data, train, test)
    chosen = sparse_cca_order(data.audio[train], data.tags[train])
    found: dict[str, Any] = {"sizes": sizes, "source": data.source, "sparse CCA": averages(scores, chosen, sizes)}
    if data.agreement is not None:
        found["agreement"] = averages(scores, agreement_order(data, train), sizes)
    drawn = [averages(scores, rng.permutation(n), sizes) for _ in range(20)]
    found["random"] = np.mean(drawn, axis=0).tolist()
    if data.noisy:
        noisy = np.array([word in data.noisy for word in data.words])
        found["noisy words left"] = [int(np.sum(noisy[chosen[:size]])) for size in sizes]
    return found


def tasks(settings: Settings) -> list[Task]:
    """One task per split."""
    shared = {name: settings[name] for name in ("songs", "words", "seed", "least", "steps")}
    return [Task(f"split-{i}", split_task, {**shared, "split": i}) for i in range(settings["splits"])]


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """The curves, averaged over the splits, and what the paper says of them."""
    splits = list(results.values())
    sizes, source = splits[0]["sizes"], splits[0]["source"]
    names = [name for name in splits[0] if name not in ("sizes", "source")]
    means = {name: np.mean([split[name] for split in splits], axis=0).tolist() for name in names}
    shares = {name: [100 * share for share in mean] for name, mean in means.items() if name != "noisy words left"}
    columns = {**shares, **{name: mean for name, mean in means.items() if name not in shares}}
    rows = tuple((size, *(f"{column[j]:.2f}" for column in columns.values())) for j, size in enumerate(sizes))
    points = {name: list(zip(sizes, curve, strict=True)) for name, curve in shares.items()}
    panel = Panel("test songs ranked for each word", "words in the vocabulary", "average AROC (%)", points)
    return Section(
        setup=f"Data: {source}. {len(splits)} splits of the songs, four fifths for training. Sparse CCA between "
        "audio features (dense) and words (sparse); one logistic model per word ranks the test songs; AROC is "
        "averaged over the words of the vocabulary, so that leaving out words that cannot be heard raises it.",
        tables=(Table("figure6", "Average AROC (%) by vocabulary size", ("words", *columns), rows),),
        findings=tuple(findings(sizes, shares, means.get("noisy words left"))),
        figures=(Figure("figure6", f"Vocabulary selection ({source})", (panel,)),),
    )


def findings(sizes: list[int], shares: Mapping[str, list[float]], noisy: list[float] | None) -> list[Finding]:
    """The claims of Figure 6, at the vocabulary of about half the words."""
    half = min(range(len(sizes)), key=lambda j: abs(sizes[j] - sizes[0] / 2))
    rise = {name: curve[half] - curve[0] for name, curve in shares.items()}
    ours = {name: f"{gain:+.1f} with {sizes[half]} of {sizes[0]} words" for name, gain in rise.items()}
    what = "average AROC with vocabularies by"
    made = [
        Finding(f"{what} sparse CCA", "clearly improves", ours["sparse CCA"], agreement(rise["sparse CCA"] > 1.0)),
        Finding(f"{what} random selection", "no improvement", ours["random"], agreement(abs(rise["random"]) < 2.0)),
    ]
    if "agreement" in rise:
        verdict = agreement(rise["agreement"] < rise["sparse CCA"])
        made.append(Finding(f"{what} agreement of listeners", "a slight improvement", ours["agreement"], verdict))
    if noisy is not None:
        left = f"{noisy[0]:.0f} of {sizes[0]} words are noisy, {noisy[half]:.1f} of {sizes[half]}"
        verdict = agreement(noisy[half] / sizes[half] < 0.5 * noisy[0] / sizes[0])
        made.append(Finding("sparse CCA prunes away noisy words", "yes", left, verdict, "known in planted data only"))
    return made


EXPERIMENT = Experiment(
    title="Figure 6: vocabulary selection for music retrieval",
    tiny={"songs": "planted", "words": 30, "least": 8, "steps": 4, "splits": 1},
    quick={"songs": "planted", "words": 120, "least": 20, "steps": 11, "splits": 3},
    full={"songs": "planted", "words": 174, "least": 20, "steps": 20, "splits": 10},
    tasks=tasks,
    section=section,
)
