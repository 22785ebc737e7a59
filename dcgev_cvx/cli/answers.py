"""What the commands say first: which variables, what they are worth, and whether anything better exists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from .._numerics.checks import Vector
from .._numerics.text_tables import table
from ..pencils import Pencil
from ..search.explained_variance import is_variance
from ..solutions import Solution
from . import console

BAR = 16
"""The width of the longest bar, in characters."""


def listed_names(names: Sequence[str], most: int = 12) -> str:
    """a, b and c; of many, the first ones."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def all_tried(solution: Solution) -> str:
    """How many supports were tried if it was all of them, else nothing."""
    tried = re.match(r"all ([\d,]+) (?:supports|variables)", solution.method)
    return f"{int(tried[1].replace(',', '')):,}" if tried else ""


def found_sentence(pencil: Pencil, solution: Solution, k: str) -> str:
    """The variables of the largest loadings first, what they are worth, and what is known of better ones.

    k is what was asked for: 4, or 5 + 5.
    """
    order = sorted(solution.support, key=lambda i: -abs(float(solution.x[i])))
    variables = listed_names([pencil.name(i) for i in order])
    tried, proved, one = all_tried(solution), solution.method.startswith("proved optimal"), solution.k == 1
    if tried or proved:
        subject = f"The best {'' if one else f'{k} '}of {pencil.n} variables: {variables}."
        why = f"all {tried} tried" if tried else "proved"
        certainty = f"and no other{'' if one else f' {k}'} {better_words(pencil, one)} ({why})."
        return f"{subject} {worth_words(pencil, solution.value, one)}, {certainty}"
    certainty = "Whether others are better is not known: `dcgev solve --exact` looks for a proof."
    return f"{k} of {pencil.n} variables: {variables}. {worth_words(pencil, solution.value, one)}. {certainty}"


def worth_words(pencil: Pencil, worth: float, one: bool) -> str:
    """What a vector is worth, in the words of its problem: variance, correlation, or a share of λmax(A, B)."""
    they, have = ("It", "has") if one else ("They", "have")
    if is_variance(pencil) and pencil.B is None:
        return f"{they} {'explains' if one else 'explain'} {worth / pencil.trace:.1%} of the variance"
    if pencil.blocks is not None:
        return f"Their correlation is {worth:.4f}"
    share = f", {worth / pencil.lambda_max:.1%} of λmax(A,B)" if pencil.lambda_max > 0.0 else ""
    return f"{they} {have} the value {worth:.6g}{share}"


def better_words(pencil: Pencil, one: bool) -> str:
    """The same of those that are not better."""
    if is_variance(pencil) and pencil.B is None:
        return "explains more" if one else "explain more"
    return ("has" if one else "have") + (" a larger correlation" if pencil.blocks is not None else " a larger value")


def loadings_table(pencil: Pencil, vectors: Mapping[str, Vector]) -> object:
    """One row per variable, in the order in which the vectors use them; a single vector has a bar at each loading."""
    order = list(dict.fromkeys(int(i) for x in vectors.values() for i in (-abs(x)).argsort(kind="stable") if x[i]))
    shown = order[: console.SHOWN]
    views = view_names(pencil)
    columns = ["variable", *(["view"] if views else []), *vectors, *([""] if len(vectors) == 1 else [])]
    rows: list[tuple[str, ...]] = []
    for i in shown:
        entries = [f"{x[i]:+.4f}" if x[i] else "" for x in vectors.values()]
        bars = [bar(float(x[i]) / float(max(abs(x)))) for x in vectors.values()] if len(vectors) == 1 else []
        rows.append((pencil.name(i), *([views[i]] if views else []), *entries, *bars))
    if len(order) > len(shown):
        rows.append((f"and {len(order) - len(shown)} more; --json lists all", *("" for _ in columns[1:])))
    words = {0, *([1] if views else []), *([len(columns) - 1] if len(vectors) == 1 else [])}
    return table(columns, rows, words=words, styles={len(columns) - 1: "yellow"} if len(vectors) == 1 else None)


def class_scores(x: Vector, classes: Mapping[str, Vector]) -> dict[str, float]:
    """The mean score xᵀz of each class about the centre of the class means, the largest first."""
    centre = sum(classes.values()) / len(classes)
    scores = {name: float(x @ (mean - centre)) for name, mean in classes.items()}
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def separation(x: Vector, classes: Mapping[str, Vector], title: str = "") -> str:
    """The classes on either side of the widest gap between the mean scores on a discriminant, and these scores."""
    scores = class_scores(x, classes)
    named = [f"{name} ({score:+.3g})" for name, score in scores.items()]
    gaps = [high - low for high, low in pairwise(scores.values())]
    cut = gaps.index(max(gaps)) + 1
    subject = f"{title} separates" if title else "Their scores separate"
    return f"{subject} {listed_names(named[:cut])} from {listed_names(named[cut:])}."


def view_names(pencil: Pencil) -> list[str]:
    """The view of each variable of CCA: X, Y, or its number where there are more than two."""
    if pencil.blocks is None:
        return []
    names = ["X", "Y"] if len(pencil.blocks) == 2 else [str(g + 1) for g in range(len(pencil.blocks))]
    return [name for name, size in zip(names, pencil.blocks, strict=True) for _ in range(size)]


def bar(share: float) -> str:
    """A bar of |share| in eighths of a character."""
    eighths = round(8 * BAR * abs(share))
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def best_sentence(pencil: Pencil, k: str, names: Sequence[str], worth: float, lower: float, upper: float) -> str:
    """The verdict of a comparison: the support, what it is worth, and how far the best bound is."""
    if not names:
        return f"No vector with {k} nonzeros was found."
    one = len(names) == 1
    words = f"{listed_names(names)}. {worth_words(pencil, worth, one)}"
    if upper - lower <= 1e-9 * max(abs(lower), abs(upper)):
        return f"The best {k} of {pencil.n} variables: {words}, and no other {k} {better_words(pencil, one)} (proved)."
    if upper < float("inf"):
        gap = (upper - lower) / abs(lower) if lower else float("inf")
        return f"{k} of {pencil.n} variables: {words}. No other {k} can be better by more than {gap:.2%} (proved)."
    return f"{k} of {pencil.n} variables: {words}. No bound was proved, so that better ones may exist."
