"""study: one row per instance, k and method; the same for any number of workers; a folder belongs to one study."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, Pencil, Study, datasets, family, study
from dcgev_cvx.comparison import FAMILIES, StudyInstance, StudyInterrupted
from dcgev_cvx.comparison.study import verdicts_of
from dcgev_cvx.exact import brute_force

METHODS = ["solve", "greedy", "homogeneous", "no-sdp", "exact"]


def timeless(rows):
    return [{key: entry for key, entry in row.items() if key != "seconds"} for row in rows]


@pytest.fixture(scope="module")
def spiked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spiked")
    return folder, study(family("spiked", n=10, signal=[0.5, 4.0], seeds=2), [2, 3], METHODS, folder=folder)


def test_every_instance_k_and_method_has_a_row(spiked):
    _, found = spiked
    assert len(found.rows) == 4 * 2 * (len(METHODS) + 1)  # exact has two
    for row in found.rows:
        assert row["n"] == 10
        if row["method"] == "exact":
            pencil = FAMILIES["spiked"](n=10, signal=row["signal"], seed=row["seed"])
            assert row["value"] == pytest.approx(brute_force(pencil, row["k"]).value, rel=1e-9)
            assert row["optimal"] is True
        if row["method"] == "homogeneous":
            assert row["value"] >= row["bound"] * (1 - 1e-12)
            assert row["tight"] is (row["value"] - row["bound"] <= 1e-4 * row["value"])


def test_the_folder_holds_the_study_and_another_study_is_refused(spiked):
    folder, found = spiked
    assert len(list((folder / "cells").iterdir())) == 8
    assert timeless(Study.load(folder).rows) == timeless(found.rows)
    instances = family("spiked", n=10, signal=[0.5, 4.0], seeds=2)
    renamed = [replace(instances[0], parameters={"n": 11, "signal": 0.5, "seed": 0}), *instances[1:]]
    assert study(instances, [2, 3], METHODS, folder=folder).rows == found.rows  # read, seconds included
    for change, words in (
        ({"ks": [2]}, r"ks there \[2, 3\], here \[2\]"),
        ({"methods": ["solve"]}, "methods there"),
        ({"instances": instances[1:]}, "1 instances are there and not here"),
        ({"instances": renamed}, "have other data"),
    ):
        given = {"instances": instances, "ks": [2, 3], "methods": METHODS} | change
        with pytest.raises(InvalidParameter, match=words):
            study(**given, folder=folder)


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InvalidParameter, match="holds other files and no study"):
        study({"a": datasets.pitprops()}, 2, ["greedy"], folder=tmp_path)


@pytest.mark.slow
def test_workers_give_the_rows_that_one_process_gives():
    given = (family("fda", n=8, seeds=3), [2, 3], ["solve", "homogeneous"])
    assert timeless(study(*given, jobs=2).rows) == timeless(study(*given).rows)


def test_an_interrupted_study_has_the_finished_rows_and_continues(tmp_path):
    def stop(finished, total, message):
        if finished == 2:
            raise KeyboardInterrupt

    given = (family("gaussian", n=8, seeds=4), 2, ["greedy"])
    with pytest.raises(StudyInterrupted, match="after 2 of 4 cells") as stopped:
        study(*given, folder=tmp_path, progress=stop)
    assert len(stopped.value.study.rows) == 2
    assert len(Study.load(tmp_path).rows) == 2
    assert len(study(*given, folder=tmp_path).rows) == 4


def broken(seed):
    raise OSError("the tape is gone")


def test_a_failed_cell_is_a_row_with_its_reason():
    found = study([StudyInstance("tape", broken, "x", {"seed": 0}), ("pit", datasets.pitprops())], [2, 20], ["greedy"])
    assert [row["status"].partition(";")[0] for row in found.rows] == [
        "failed: OSError: the tape is gone",
        "failed: OSError: the tape is gone",
        "forward selection",
        "failed: InvalidParameter: k = 20 is out of range: it must be a whole number between 1 and n = 13.",
    ]
    assert len(found.failed) == 3
    assert "3 of" not in str(found)
    assert "failed: OSError: the tape is gone" in str(found)


def test_what_instances_can_be(tmp_path):
    A = np.diag([3.0, 2.0, 1.0])
    np.savez(tmp_path / "one.npz", A=A, B=2.0 * np.eye(3))
    np.save(tmp_path / "two.npy", A)
    found = study(tmp_path, 1, ["greedy"])
    assert [(row["instance"], row["value"]) for row in found.rows] == [("one", 1.5), ("two", 3.0)]
    assert study(Pencil(A), 1, ["greedy"]).rows[0]["value"] == 3.0

    class Record:
        id, family, pencil = "record", "diagonal", Pencil(A)

    row = study([Record()], 1, ["greedy"]).rows[0]
    assert (row["instance"], row["family"]) == ("record", "diagonal")
    for wrong in ([], [3], "nowhere", {"a": np.eye(3)}, [("a", Pencil(A)), ("a", Pencil(A))]):
        with pytest.raises(InvalidParameter):
            study(wrong, 1, ["greedy"])


def test_the_pencils_of_the_library_are_taken_once_each():
    names = ["pitprops-k4", "pitprops-k5"]
    (row,) = study(datasets.library().only(names=names), 6, ["greedy"]).rows
    assert (row["instance"], row["family"], row["n"]) == ("pitprops", "pca", 13)


def test_a_budget_for_each_view():
    row = study(family("cca", n=8, k0=2, seeds=1), [(1, 2)], ["solve"]).rows[0]
    assert row["k"] == [1, 2]
    assert row["cardinality"] == 3


def test_families_are_what_their_docstrings_say():
    def one(name, **parameters):
        return family(name, seeds=[3], **parameters)[0].pencil

    assert np.linalg.cond(one("conditioned", n=6, cond=1e4).B) == pytest.approx(1e4, rel=1e-6)
    assert one("conditioned", n=6, cond=1.0).B is None
    assert one("cca", n=9).blocks == (4, 5)
    assert one("indefinite", n=6).lambda_min < 0.0 < one("indefinite", n=6).lambda_max
    assert one("gaussian", n=7, samples=3).n == 7
    assert one("fda", n=6).B is not None
    assert [instance.name for instance in family("spiked", n=[4, 5], seeds=1)] == [
        "spiked n=4 seed=0",
        "spiked n=5 seed=0",
    ]


def test_unknown_names_are_answered_by_the_nearest():
    with pytest.raises(InvalidParameter, match="did you mean 'spiked'"):
        family("spikd")
    with pytest.raises(InvalidParameter, match=r"no parameter 'sampels': did you mean 'samples'"):
        family("spiked", sampels=3)
    with pytest.raises(InvalidParameter, match="did you mean 'solve'"):
        study(family("spiked", seeds=1), 2, ["slove"])
    with pytest.raises(InvalidParameter, match="ks = 'two' must list"):
        study(family("spiked", seeds=1), "two", ["solve"])
    with pytest.raises(InvalidParameter, match="give one of them"):
        study(family("spiked", seeds=1), 2, ["solve"], dask="tcp://a:1", backend="ray")


@pytest.mark.parametrize(
    ("row", "best", "bound", "wanted"),
    [
        (("lower", 2.0), 2.0, 2.0, {"optimal": True, "tight": None}),
        (("lower", 1.9), 2.0, 2.1, {"optimal": False, "tight": None}),
        (("lower", 2.0), 2.0, 2.1, {"optimal": None, "tight": None}),
        (("upper", 2.0001), 2.0, 2.0, {"optimal": None, "tight": True}),
        (("upper", 2.1), 2.0, 2.0, {"optimal": None, "tight": False}),
        (("upper", 2.1), 2.0, 2.05, {"optimal": None, "tight": None}),
        (("lower", None), 2.0, 2.0, {"optimal": False, "tight": None}),
        (("lower", 1.0), -math.inf, math.inf, {"optimal": None, "tight": None}),
    ],
)
def test_what_is_called_optimal_and_tight(row, best, bound, wanted):
    side, value = row
    assert verdicts_of({"side": side, "value": value, "valid": value is not None}, best, bound) == wanted


# what people look at


def test_the_table_counts_shares(spiked):
    _, found = spiked
    line = next(line for line in found.table("method") if line["method"] == "exact")
    assert (line["cells"], line["failed"], line["optimal"]) == (8, 0, 1.0)
    by_signal = found.table("signal")
    assert {line["signal"] for line in by_signal} == {"0.5", "4.0"}
    assert max(map(len, str(found).splitlines())) <= 80
    with pytest.raises(InvalidParameter, match="no column of the study; did you mean 'signal'"):
        found.table("signl")


def test_files_hold_every_row(spiked, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    _, found = spiked
    found.save(tmp_path / "rows.csv")
    found.save(tmp_path / "rows.json")
    found.save(tmp_path / "rows.parquet")
    assert pandas.read_parquet(tmp_path / "rows.parquet").shape == found.to_frame().shape
    assert len(pandas.read_csv(tmp_path / "rows.csv")) == len(found.rows) == len(found.to_frame())
    assert Study.load(tmp_path / "rows.json").rows == tuple(json.loads(json.dumps(found.rows)))
    with pytest.raises(InvalidParameter, match=r"must end in \.csv, \.json or \.parquet"):
        found.save(tmp_path / "rows.txt")


def test_pictures_show_the_numbers_of_the_rows(spiked):
    from matplotlib.figure import Figure

    _, found = spiked
    ax = found.plot("transition", Figure().add_subplot())
    drawn = {line.get_label(): line for line in ax.get_lines()}
    assert drawn["solve"].get_xdata().tolist() == [0.5, 4.0]
    assert drawn["solve"].get_ydata().tolist() == [100.0, 100.0]
    assert "homogeneous SDP is tight" in drawn
    gap = {line.get_label(): line for line in found.plot("gap", Figure().add_subplot()).get_lines()}
    medians = [np.median([r["gap"] for r in found.rows if (r["method"], r["k"]) == ("no-sdp", k)]) for k in (2, 3)]
    assert gap["no SDP"].get_ydata() == pytest.approx(100.0 * np.array(medians))
    assert found.plot("time", Figure().add_subplot()).get_xscale() == "log"
    with pytest.raises(InvalidParameter, match="no signal to draw over"):
        study({"a": datasets.pitprops()}, 2, ["greedy"]).plot("transition", Figure().add_subplot())
