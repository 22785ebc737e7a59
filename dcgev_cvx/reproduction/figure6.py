"""Figure 6: vocabularies for music retrieval by sparse CCA, by agreement of listeners and at random (Section 5.2).

The paper's songs, CAL500, may not be distributed: planted songs, whose noisy words are known, replace them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular

from .._numerics.checks import Index, Matrix, Vector, as_generator
from .._numerics.extras import require
from ..builders import cca_pencil
from ..pencils import Gram, Pencil
from ..search.components import components
from .report import Experiment, Figure, Finding, Panel, Section, Table, agreement
from .running import Settings, Task

# Songs


@dataclass(frozen=True)
class Songs:
    """Songs described by audio features and by words.

    audio     songs × features
    tags      songs × words in {0, 1}
    answers   songs × words, the listeners' mean answers in [0, 1]
    noisy     which words have nothing to do with the sound
    """

    audio: Matrix
    tags: Matrix
    answers: Matrix
    noisy: NDArray[np.bool_]


def planted_songs(
    songs: int = 500, features: int = 40, words: int = 120, noisy: int = 50, *, factors: int = 8, rng: int = 0
) -> Songs:
    """A replacement for CAL500 in which `noisy` of the words have nothing to do with the sound.

    The audio features mix latent factors with noise. A sound word is a threshold on one or two factors, a noisy word
    a threshold on a trait that the audio does not contain. Each of four listeners errs by a spread that belongs to
    the word, so that agreement separates clear words from vague ones, which is not the same as sound words from noisy
    ones; a tag is the majority of the answers.
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


def correlations_above_chance(audio: Matrix, tags: Matrix) -> int:
    """The number of canonical correlations above the largest of five data sets with shuffled songs; at least 1."""
    generator = np.random.default_rng(0)
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
    tags = songs.tags[rows]
    means = (tags * songs.answers[rows]).sum(axis=0) / np.maximum(tags.sum(axis=0), 1.0)
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
    scores = np.full(len(songs.noisy), np.nan)
    for j in range(len(scores)):
        y, truth = songs.tags[train, j], songs.tags[test, j]
        if 0.0 < y.mean() < 1.0 and 0.0 < truth.mean() < 1.0:
            scores[j] = metrics.roc_auc_score(truth, regression.fit(X, y).decision_function(Z))
    return scores


def averages(scores: Vector, order: Index, sizes: Sequence[int]) -> list[float]:
    """The average AROC over the first words of an order that can be scored, for each size."""
    return [float(np.nanmean(scores[order[:size]])) for size in sizes]


# The experiment


def split_task(words: int, seed: int, split: int, least: int, steps: int) -> dict[str, Any]:
    """One split into training songs (four fifths) and test songs: every vocabulary and its average AROC.

    Sizes run from all words down to `least`; the score at random is the mean over 20 orders.
    """
    data = planted_songs(words=words, noisy=round(0.4 * words), rng=seed)
    rng, fifth = np.random.default_rng([seed, split]), len(data.audio) // 5
    order = rng.permutation(len(data.audio))
    train, test = np.sort(order[fifth:]), np.sort(order[:fifth])
    sizes = [int(size) for size in np.unique(np.linspace(least, words, steps).round())[::-1]]
    scores = word_scores(data, train, test)
    chosen = sparse_cca_order(data.audio[train], data.tags[train])
    drawn = [averages(scores, rng.permutation(words), sizes) for _ in range(20)]
    return {
        "sizes": sizes,
        "sparse CCA": averages(scores, chosen, sizes),
        "agreement": averages(scores, agreement_order(data, train), sizes),
        "random": np.mean(drawn, axis=0).tolist(),
        "noisy words left": [int(np.sum(data.noisy[chosen[:size]])) for size in sizes],
    }


def tasks(settings: Settings) -> list[Task]:
    """One task per split."""
    shared = {name: settings[name] for name in ("words", "seed", "least", "steps")}
    return [Task(f"split-{i}", split_task, {**shared, "split": i}) for i in range(settings["splits"])]


def section(settings: Settings, results: Mapping[str, Any]) -> Section:
    """The curves, averaged over the splits, and what the paper says of them."""
    splits = list(results.values())
    means = {name: np.mean([split[name] for split in splits], axis=0) for name in splits[0]}
    sizes, noisy = splits[0]["sizes"], means["noisy words left"]
    curves = {name: 100.0 * means[name] for name in ("sparse CCA", "agreement", "random")}
    columns = {**curves, "noisy words left": noisy}
    rows = [(size, *(f"{column[j]:.2f}" for column in columns.values())) for j, size in enumerate(sizes)]
    points = {name: list(zip(sizes, curve.tolist(), strict=True)) for name, curve in curves.items()}
    panel = Panel("test songs ranked for each word", "words in the vocabulary", "average AROC (%)", points)
    return Section(
        setup=f"Data: planted songs, not CAL500. {len(splits)} splits of the songs, four fifths for training. "
        "Sparse CCA between audio features (dense) and words (sparse); one logistic model per word ranks the test "
        "songs; AROC is averaged over the words of the vocabulary, so that leaving out words that cannot be heard "
        "raises it.",
        tables=[Table("figure6", "Average AROC (%) by vocabulary size", ("words", *columns), rows)],
        findings=findings(sizes, curves, noisy),
        figures=[Figure("figure6", "Vocabulary selection (planted songs, not CAL500)", [panel])],
    )


def findings(sizes: Sequence[int], curves: Mapping[str, Vector], noisy: Vector) -> list[Finding]:
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


EXPERIMENT = Experiment(
    title="Figure 6: vocabulary selection for music retrieval",
    tiny={"words": 30, "least": 8, "steps": 4, "splits": 1},
    quick={"words": 120, "least": 20, "steps": 11, "splits": 3},
    full={"words": 174, "least": 20, "steps": 20, "splits": 10},
    tasks=tasks,
    section=section,
)
