"""Write docs/sdp-tight-dc-optimal.md: when a relaxation is tight and when Algorithm 1 finds the optimum.

    python docs/_tools/tight_study.py                     from the results in docs/_data
    python docs/_tools/tight_study.py --compute --jobs 2  compute the results first; an interrupted run continues

The results are those of `study`, one CSV file per family, without seconds.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from tempfile import gettempdir

DOCS = Path(__file__).parents[1]
DATA, PAGE = DOCS / "_data", DOCS / "sdp-tight-dc-optimal.md"
METHODS = ["solve", "dc-native", "literal", "entrywise-paper", "entrywise-valid", "homogeneous", "pairwise", "exact"]
BOUNDS = ("literal", "entrywise-paper", "entrywise-valid", "homogeneous", "pairwise")
COLUMNS = ("instance", "k", "method", "value", "gap", "cardinality", "optimal", "tight")
SEEDS = range(6, 12)
"""Not those on which `groups` was chosen, 0 … 5."""
STUDIES: dict[str, dict] = {
    "spiked": {"over": "signal", "ks": [3, 5, 8], "set": {"n": 20, "k0": 5, "signal": [0.0, 0.5, 1.0, 2.0, 4.0]}},
    "cca": {"over": "signal", "ks": [4, 6], "set": {"n": 20, "k0": 3, "signal": [0.4, 0.6, 0.8, 0.95]}},
    "fda": {"over": "signal", "ks": [3, 6], "set": {"n": 20, "k0": 3, "signal": [0.25, 0.5, 1.0, 2.0]}},
    "conditioned": {"over": "cond", "ks": [3, 5], "set": {"n": 20, "signal": 2.0, "cond": [1.0, 10.0, 1e2, 1e4, 1e6]}},
    "correlations": {"over": "instance", "ks": [2, 3, 4, 5, 6, 8], "set": {}},
}


def instances(name: str):
    """The instances of one study; correlations are of pit props and of data that scikit-learn carries."""
    from dcgev_cvx import datasets, family, pca_pencil

    if name != "correlations":
        return family(name, seeds=SEEDS, **STUDIES[name]["set"])
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

    tables = {"wine": load_wine, "diabetes": load_diabetes, "breast cancer": load_breast_cancer}
    found = {"pit props": datasets.pitprops()}
    return found | {label: pca_pencil(load().data, scale=True) for label, load in tables.items()}


def compute(folder: Path, jobs: int) -> None:
    """Run every study and store its rows."""
    from dcgev_cvx import study
    from dcgev_cvx.comparison.study_tables import csv_of

    DATA.mkdir(exist_ok=True)
    for name, settings in STUDIES.items():
        rows = study(instances(name), settings["ks"], METHODS, folder=folder / name, jobs=jobs).rows
        over = [] if settings["over"] == "instance" else [settings["over"]]
        columns = [COLUMNS[0], *over, *COLUMNS[1:]]
        digits = {"value": lambda value: f"{value:.6g}", "gap": lambda gap: f"{round(gap, 9):.6g}"}
        short = [{**row, **{key: digits[key](row[key]) for key in digits if row[key] is not None}} for row in rows]
        (DATA / f"tight-{name}.csv").write_text(csv_of(columns, short), encoding="utf-8")
        print(name, len(rows), "rows")


def stored(name: str) -> list[dict[str, str]]:
    """The stored rows of one study."""
    with (DATA / f"tight-{name}.csv").open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def share(rows: Iterable[dict[str, str]], column: str) -> str:
    """The share of True among the known answers, as "12 of 18"."""
    known = [row[column] for row in rows if row[column]]
    return f"{sum(answer == 'True' for answer in known)} of {len(known)}" if known else "–"


def gaps(rows: Iterable[dict[str, str]]) -> str:
    """Median and largest gap in per cent."""
    found = [100.0 * float(row["gap"]) for row in rows if row["gap"]]
    return f"{percent(median(found))} / {percent(max(found))}" if found else "–"


def percent(gap: float) -> str:
    """Two digits; rounding errors are 0."""
    return "0" if gap < 1e-6 else f"{gap:.0f}" if gap >= 10.0 else f"{gap:.2g}"


def of(rows: list[dict[str, str]], **wanted: str) -> list[dict[str, str]]:
    """The rows with the entries wanted."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def table(name: str) -> list[str]:
    """One line per group and k: who found the optimum, which bound is tight, and the gaps."""
    rows, over = stored(name), STUDIES[name]["over"]
    head = (over, "k", "Algorithm 1 optimal", "its gap %", "`solve` optimal", "homogeneous tight", "its gap %")
    head += ("pairwise tight", "its gap %", "entrywise k² gap %")
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for group in dict.fromkeys(row[over] for row in rows):
        for k in dict.fromkeys(row["k"] for row in rows):
            here = [row for row in of(rows, k=k) if row[over] == group]
            by = {method: of(here, method=method) for method in METHODS}
            cells = [group, k, share(by["dc-native"], "optimal"), gaps(by["dc-native"]), share(by["solve"], "optimal")]
            for bound in ("homogeneous", "pairwise"):
                cells += [share(by[bound], "tight"), gaps(by[bound])]
            lines.append(f"| {' | '.join([*cells, gaps(by['entrywise-paper'])])} |")
    return lines


def groups() -> dict[str, list[dict[str, str]]]:
    """The groups of cells that the text speaks of: {{few solve share}} is the share of `few` by the method solve."""
    rows = {name: stored(name) for name in STUDIES}
    spiked, cca, metric = rows["spiked"], rows["cca"], rows["conditioned"]
    planted = [row for row in spiked if float(row["signal"]) >= 2.0 and int(row["k"]) >= 5]
    return {
        **rows,
        "every": [row for name in STUDIES for row in rows[name]],
        "planted": planted + [row for row in cca if float(row["signal"]) >= 0.8 and row["k"] == "6"],
        "few": [row for row in spiked if row["k"] == "3"] + [row for row in cca if row["k"] == "4"],
        "ill": [row for row in metric if float(row["cond"]) >= 100.0],
        "well": [row for row in metric if float(row["cond"]) < 100.0],
    }


def number(match: re.Match[str], found: dict[str, list[dict[str, str]]]) -> str:
    """What {{group method share}}, gap, invalid or fewer stands for."""
    group, method, what = match.group(1).split()
    rows = of(found[group], method=method)
    if what == "invalid":
        return f"{sum(not row['gap'] for row in rows)} of {len(rows)}"
    if what == "fewer":
        missed = of(rows, optimal="False")
        return f"{sum(int(row['cardinality'] or 0) < int(row['k']) for row in missed)} of {len(missed)}"
    return gaps(rows) if what == "gap" else share(rows, "tight" if method in BOUNDS else "optimal")


def main() -> None:
    """Compute where asked to, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--compute", action="store_true", help="run the studies first")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--folder", type=Path, default=Path(gettempdir()) / "tight-study", help="saved results")
    args = parser.parse_args()
    if args.compute:
        compute(args.folder, args.jobs)
    text = (DATA / "tight-page.template").read_text(encoding="utf-8")
    for name in STUDIES:
        text = text.replace(f"{{{{{name}}}}}", "\n".join(table(name)))
    found = groups()
    text = re.sub(r"\{\{([a-z]+ [a-z0-9-]+ [a-z]+)\}\}", lambda match: number(match, found), text)
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
