"""The runner (resume, refuse, repair), the timed methods, and the numbers of the paper in small form."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dcgev_cvx import Gram, Pencil, datasets
from dcgev_cvx.errors import DataUnavailable, InvalidParameter
from dcgev_cvx.reproduction import EXPERIMENTS, named, reproduce, runner
from dcgev_cvx.reproduction import cells as cells_module
from dcgev_cvx.reproduction.base import Experiment, Figure, Finding, Panel, Section, Table, Verdict, agreement
from dcgev_cvx.reproduction.cells import Cell, Store, checked_folder, differences, digest, write_atomically
from dcgev_cvx.reproduction.figure1 import cumulative_finding
from dcgev_cvx.reproduction.figure2 import lead
from dcgev_cvx.reproduction.methods import METHODS, Answer, Prepared, compared, gaussian_pencil, timed, trace
from dcgev_cvx.reproduction.pitprops import PRINTED, dc_pca_at, printed_variance, semidefinite
from dcgev_cvx.reproduction.report import Report, markdown, page, pipe_table, write
from dcgev_cvx.reproduction.runner import Crew, Results, run
from dcgev_cvx.reproduction.table1 import loading_finding
from dcgev_cvx.reproduction.tables34 import cardinalities, planted, spread
from dcgev_cvx.reproduction.timing import run_findings, wanted_finding


def square(x, calls=None):
    if calls is not None:
        with Path(calls).open("a") as handle:
            handle.write(f"{x}\n")
    if x == 13:
        raise InvalidParameter("13 is refused.")
    return {"square": x * x, "draw": float(np.random.default_rng(x).standard_normal())}


def toy(calls=None, xs=(1, 2, 3)):
    """An experiment of a few squares; `calls` records what was really computed."""
    return Experiment(
        "toy",
        "Toy",
        {},
        lambda settings: [Cell(f"x{x}", square, {"x": x, "calls": calls}) for x in settings["xs"]],
        lambda settings, results: Section("toy", "Toy", "", findings=()),
    )


class Ears:
    def __init__(self):
        self.sentences, self.cells, self.kept = [], [], None

    def begun(self, name, total, kept):
        self.kept = kept

    def done(self, name, cell):
        self.cells.append(cell.key)

    def said(self, sentence):
        self.sentences.append(sentence)


# ---- cells on disk


def test_finished_cells_are_read_not_computed(tmp_path):
    calls = str(tmp_path / "calls")
    first = run(toy(calls), {"xs": [1, 2, 3]}, tmp_path)
    ears = Ears()
    second = run(toy(calls), {"xs": [1, 2, 3]}, tmp_path, watch=ears)
    assert first.cells == second.cells
    assert (second.computed, second.kept, ears.kept) == (0, 3, 3)
    assert len(Path(calls).read_text().split()) == 3


def test_a_damaged_cell_is_computed_again_and_said(tmp_path):
    calls = str(tmp_path / "calls")
    settings = {"xs": [1, 2, 3]}
    whole = run(toy(calls), settings, tmp_path)
    store = Store.of(tmp_path, "toy", settings)
    (store.folder / "x1.json").write_text("{ half a fi")
    changed = json.loads((store.folder / "x2.json").read_text())
    changed["result"]["square"] = 5
    (store.folder / "x2.json").write_text(json.dumps(changed))
    (store.folder / "x3.json").write_bytes(b"\xff\xfe\x00")
    ears = Ears()
    again = run(toy(calls), settings, tmp_path, watch=ears)
    assert again.cells == whole.cells
    assert again.damaged == ("x1", "x2", "x3")
    assert any("cell x2 is damaged" in sentence for sentence in ears.sentences)


def test_a_cell_of_other_arguments_is_not_taken(tmp_path):
    store = Store(tmp_path)
    store.save(Cell("x1", square, {"x": 1}), {"square": 1})
    assert store.load(Cell("x1", square, {"x": 1})).found
    assert store.load(Cell("x1", square, {"x": 2})).damaged


def test_other_settings_are_refused_with_the_difference(tmp_path):
    run(toy(), {"xs": [1], "seed": 0}, tmp_path)
    with pytest.raises(InvalidParameter, match=r"seed: there 0, now 1") as caught:
        run(toy(), {"xs": [1], "seed": 1}, tmp_path)
    assert "xs" not in str(caught.value)
    assert differences({"a": 1}, {"b": 2}) == "a: there 1, now nothing; b: there nothing, now 2"


def test_a_cell_that_fails_is_not_stored_and_the_others_are(tmp_path):
    ears = Ears()
    results = run(toy(), {"xs": [1, 13, 2]}, tmp_path, watch=ears)
    assert set(results.cells) == {"x1", "x2"}
    assert results.failures == {"x13": "InvalidParameter: 13 is refused."}
    assert not list(tmp_path.glob("cells/*/x13.json"))


def test_a_full_disk_leaves_finished_cells_intact(tmp_path, monkeypatch):
    settings = {"xs": [1, 2, 3]}
    real = cells_module.os.fsync
    room = iter([True, True, False])  # the settings, the first cell, then nothing

    def fsync(descriptor):
        if not next(room):
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(cells_module.os, "fsync", fsync)
    with pytest.raises(DataUnavailable, match=r"No space left on device.*finished cells are intact"):
        run(toy(), settings, tmp_path)
    folder = Store.of(tmp_path, "toy", settings).folder
    assert sorted(path.name for path in folder.iterdir()) == ["settings.json", "x1.json"]
    monkeypatch.undo()
    assert run(toy(), settings, tmp_path).kept == 1


def test_an_interrupt_leaves_finished_cells_intact(tmp_path):
    class Impatient(Ears):
        def done(self, name, cell):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(toy(), {"xs": [1, 2, 3]}, tmp_path, watch=Impatient())
    assert run(toy(), {"xs": [1, 2, 3]}, tmp_path).kept == 1


def test_kill_9_and_resume(tmp_path):
    """A run killed without warning in the middle goes on where it was and gives the same numbers."""
    command = [sys.executable, "-m", "dcgev_cvx", "reproduce", "figure2", "table1", "--tiny", "--out"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    killed = tmp_path / "killed"
    process = subprocess.Popen([*command, str(killed)], env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(killed.glob("cells/*/*C*.json")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.read_bytes() for path in killed.glob("cells/*/*.json")}
    assert before
    report = reproduce(["figure2", "table1"], killed, effort="tiny")
    assert all(path.read_bytes() == content for path, content in before.items())
    fresh = reproduce(["table1"], tmp_path / "fresh", effort="tiny")
    table = {section.name: section for section in report.sections}["table1"]
    assert table.findings == fresh.sections[0].findings


def test_a_worker_ends_with_its_parent():
    """The parent is killed without warning while its worker sleeps: the pipe that both hold closes within seconds."""
    worker = (
        "import os, time; from dcgev_cvx.reproduction.runner import leave_with; leave_with(os.getppid()); "
        "print('ready', flush=True); time.sleep(120)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {worker!r}])"
    process = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.kill()
    assert process.communicate(timeout=30) == ("", None)


def test_a_worker_whose_parent_is_gone_already_does_not_begin():
    code = (
        "import time; from dcgev_cvx.reproduction.cells import Cell; from dcgev_cvx.reproduction import runner; "
        "runner.outcome_in_worker(Cell('c', lambda: time.sleep(60), {}), parent=2**22)"  # the number of no process
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=50, check=False).returncode == 1


def test_a_pipe_in_the_place_of_a_cell_is_damage(tmp_path):
    settings = {"xs": [1, 2]}
    first = run(toy(), settings, tmp_path)
    file = next(path for path in tmp_path.glob("cells/*/*.json") if path.name != "settings.json")
    file.unlink()
    os.mkfifo(file)
    again = run(toy(), settings, tmp_path)
    assert again.cells == first.cells
    assert again.damaged == (file.stem,)


# ---- who computes


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if key not in ("seconds", "total")}
    return [without_times(entry) for entry in value] if isinstance(value, list) else value


def test_the_number_of_workers_changes_no_number(tmp_path):
    experiment = EXPERIMENTS["figure2"]
    settings = {**experiment.settings["tiny"], "seed": 3}
    alone = run(experiment, settings, tmp_path / "1", Crew(1))
    together = run(experiment, settings, tmp_path / "2", Crew(2))
    assert without_times(alone.cells) == without_times(together.cells)


def test_a_dask_cluster_gives_the_same(tmp_path):
    import warnings

    import distributed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster:
            results = run(toy(), {"xs": [1, 2, 3]}, tmp_path, Crew(dask=cluster.scheduler_address))
    assert results.cells == run(toy(), {"xs": [1, 2, 3]}, tmp_path / "here").cells


def test_an_address_that_says_nothing_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DataUnavailable, match="no Dask scheduler answers at tcp://127"):
            run(toy(), {"xs": [1, 2]}, tmp_path, Crew(dask=address))


def test_no_dask_scheduler_is_one_sentence(tmp_path):
    with pytest.raises(DataUnavailable, match="no Dask scheduler answers at nowhere"):
        run(toy(), {"xs": [1, 2]}, tmp_path, Crew(dask="nowhere"))


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "2"])
def test_bad_number_of_jobs(jobs):
    with pytest.raises(InvalidParameter, match="at least 1, or -1"):
        Crew(jobs)


# ---- names and folders


def test_names():
    assert [e.name for e in named(["all"])] == list(EXPERIMENTS)
    assert [e.name for e in named(["table4", "figure4", "table1"])] == ["tables34", "table1"]
    with pytest.raises(InvalidParameter, match=r"'tabel1' is unknown; did you mean 'table1'"):
        named(["tabel1"])
    with pytest.raises(InvalidParameter, match="no experiment was named"):
        named([])


WRONG = [("names", 3), ("names", [[]]), ("out", None), ("seed", 0.5), ("seed", 10**400), ("effort", None)]
WRONG += [("data", 3), ("data", {"corpus": 3}), ("data", {"songs": "planted"}), ("crew", 3)]


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_settings_that_are_none(tmp_path, name, wrong):
    good = {"names": ["table5"], "out": tmp_path / "out", "effort": "tiny"}
    with pytest.raises(InvalidParameter):
        reproduce(**{**good, name: wrong})
    assert not (tmp_path / "out" / "cells").exists()


def test_an_unwritable_folder_is_refused_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="choose another folder with --out"):
        reproduce(["table1"], tmp_path / "file", effort="tiny")
    with pytest.raises(InvalidParameter, match="cannot write to"):
        checked_folder(tmp_path / "file" / "below")


def test_unknown_effort(tmp_path):
    with pytest.raises(InvalidParameter, match="effort = 'slow' is unknown"):
        reproduce(["table1"], tmp_path, effort="slow")


def test_write_atomically_leaves_nothing_behind(tmp_path):
    write_atomically(tmp_path / "a", "one")
    write_atomically(tmp_path / "a", "two")
    assert (tmp_path / "a").read_text() == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})


# ---- the methods that are timed


@pytest.mark.parametrize("method", METHODS)
def test_methods_reach_k_and_report_two_variances(method):
    pencil = gaussian_pencil(20, 50, [7])
    answer = timed({method: METHODS[method](pencil, 10, 0)}, 2)[method]
    assert answer.k == 10
    assert 0.0 < answer.raw <= answer.variance * (1.0 + 1e-12)
    assert answer.seconds > 0.0
    assert answer.total > 0.0
    assert METHODS[method](pencil, 10, 2).answer.k in range(8, 13)


def test_methods_are_timed_in_turn_and_spca_once():
    turns = []
    methods = {
        name: Prepared(
            Answer(1, 1.0, 1.0, 0.0, total=9.0, exact=True, steps=1, runs=runs), lambda n=name: turns.append(n)
        )
        for name, runs in (("SPCA", 3), ("GPower", 3), ("d.c. one-shot", 0))
    }
    answers = timed(methods, 3)
    others = ["GPower", "GPower", "d.c. one-shot", "d.c. one-shot"]  # the first of each pair warms up
    assert turns == ["SPCA", *others * 3]
    assert answers["GPower"].total == 9.0
    turns.clear()
    timed(methods, 1, patience=60.0)  # runs that take no time: the number of rounds is bounded
    assert turns.count("GPower") == 120
    assert answers["d.c. one-shot"].total == answers["d.c. one-shot"].seconds < 1.0


def test_dc_methods_are_compared_at_the_cardinality_of_gpower():
    found = compared(gaussian_pencil(20, 60, [2]), 12, 3, 1, spca=False)["methods"]
    assert list(found) == ["GPower", "DC-PCA", "DC-PCA, one-sided", "d.c. one-shot"]
    assert len({answer["k"] for answer in found.values()}) == 1
    assert all(found[name]["passes"] > 1.0 for name in list(found)[:3])


def timed_cell(gpower, plain, one_shot, variance=1.0, k=5, fast=0.5):
    """A cell with given seconds."""

    def answer(seconds, value):
        numbers = {"k": k, "variance": value, "raw": value, "seconds": seconds, "total": seconds}
        return {**numbers, "steps": 3, "runs": 2, "passes": 4.0}

    methods = {"GPower": answer(gpower, 1.0), "DC-PCA": answer(plain, variance)}
    methods |= {"DC-PCA, one-sided": answer(fast, variance), "d.c. one-shot": answer(one_shot, variance)}
    return {"trace": 10.0, "methods": methods}


def test_verdicts_on_time_ask_for_time_and_variance():
    def verdicts(cell, paper):
        return tuple(finding.verdict for finding in run_findings("", [cell], paper))

    agree, differs, holds, fails = Verdict.AGREE, Verdict.DIFFERS, Verdict.HOLDS, Verdict.FAILS
    assert verdicts(timed_cell(1.0, 1.0, 1.0), (1.0, 0.5)) == (agree, holds)
    assert verdicts(timed_cell(1.0, 1.2, 1.0), (1.0, 0.5)) == (differs, holds)
    assert verdicts(timed_cell(1.0, 1.2, 1.0, fast=1.1), (1.0, 1.3)) == (agree, fails)  # the paper's own ratio
    assert verdicts(timed_cell(1.0, 0.5, 1.0, 0.99), (1.0, 0.5)) == (differs, fails)
    assert verdicts(timed_cell(1.0, 0.5, 1.0, 0.999), (1.0, 0.5)) == (agree, fails)  # similar is not equal
    assert wanted_finding("", [timed_cell(1.0, 1.0, 0.9)]).verdict is Verdict.HOLDS
    assert wanted_finding("", [timed_cell(1.0, 1.0, 1.1)]).verdict is Verdict.FAILS
    assert wanted_finding("", [timed_cell(1.0, 1.0, 0.1, 0.999)]).verdict is Verdict.FAILS


def test_times_are_weighted_by_the_cardinalities_that_they_stand_for():
    """k = 1, 2, 10 stand for 1, 2–5 and half of 6, the rest: 1, 4.5 and 4.5 of ten."""
    cells = [timed_cell(1.0, 1.0, 1.0, k=k, fast=fast) for k, fast in ((10, 3.0), (1, 0.1), (2, 0.2))]
    assert spread(cells) == [4.5, 1.0, 4.5]
    found = run_findings("", cells, (1.0, 1.0), spread(cells))[1]
    assert found.ours.startswith("1.45 ")
    assert found.verdict is Verdict.FAILS
    assert "1.10 if these count alike, of which half are below k = 2" in found.remark


def test_a_curve_that_is_too_low_at_one_cardinality_differs():
    theirs = [(2, 1.0), (5, 1.0)]
    found = lead("DC-PCA", [(2, 0.97), (5, 1.2)], "GPower", theirs, "similar", "1 matrix", least=0.98)
    assert found.verdict is Verdict.DIFFERS
    assert found.ours == "smallest ratio 0.9700 (k = 2), mean 1.0850"
    assert "below 0.98 at k = [2]" in found.remark
    assert lead("", [(2, 0.99), (5, 1.0)], "", theirs, "similar", "", least=0.98).verdict is Verdict.AGREE
    ours = lead("", [(2, 0.99), (5, 1.0)], "", theirs, None, "")
    assert (ours.verdict, ours.paper) == (Verdict.FAILS, "(not in the paper)")


# ---- the paper's numbers


def test_table_1_supports_loadings_and_variance(tmp_path):
    report = reproduce(["table1"], tmp_path, effort="tiny")
    findings = {finding.what: finding for finding in report.findings}
    for method in ("SPCA", "GSPCA", "GPower", "DC-PCA"):
        for j in (1, 2, 3):
            found = findings[f"{method}, component {j}"]
            # the paper's DC-PCA row is not renormalised: the same support, loadings 0.012 apart
            differs = (method, j) == ("DC-PCA", 1)
            assert found.verdict is (Verdict.DIFFERS if differs else Verdict.AGREE)
            assert found.remark.startswith("the same support")
        share = "75.77 %" if method == "SPCA" else "77.05 %"
        assert findings[f"{method}, variance of six components"].ours == share
    before = findings["DC-PCA, component 1 before renormalisation, ρ̃ = 2.5"]
    assert before.verdict is Verdict.AGREE
    assert before.paper == before.ours
    assert findings["pit props, six dense components"].ours == "86.999 %"


def test_figure_1_compares_six_components_by_one_measure():
    results = {f"components-{m}": {"projector": [0.1, share]} for m, share in (("DC-PCA", 0.77), ("SPCA", 0.80))}
    found = cumulative_finding("SPCA", results)
    assert (found.ours, found.verdict) == ("77.00 % with 13, SPCA 80.00 % with 18", Verdict.DIFFERS)
    results["components-SPCA"]["projector"][-1] = 0.7
    assert cumulative_finding("SPCA", results).verdict is Verdict.AGREE


def test_loadings_that_are_too_far_apart_differ():
    ours = {"loadings": [[-entry for entry in PRINTED["GPower"][0]]]}
    assert loading_finding("GPower", 0, ours).verdict is Verdict.AGREE  # the sign is free
    ours["loadings"][0][7] += 0.011
    assert loading_finding("GPower", 0, ours).verdict is Verdict.DIFFERS
    assert "0.011 (x8)" in loading_finding("GPower", 0, ours).remark


def test_printed_loadings_have_the_printed_variance_by_their_own_measure():
    spca, dspca = printed_variance("SPCA", (10, 11, 12)), printed_variance("DSPCA", (10, 11, 12))
    assert_allclose(spca["adjusted"], 0.758, atol=5e-4)
    assert_allclose(dspca["projector"], 0.755, atol=5e-4)
    assert spca["projector"] > 0.80


def test_dc_pca_at_every_cardinality_of_the_pit_props():
    pencil = datasets.pitprops()
    assert [np.count_nonzero(dc_pca_at(pencil, k)) for k in (1, 4, 6, 12)] == [1, 4, 6, 12]
    assert {len(row) for rows in PRINTED.values() for row in rows} == {13}


def test_semidefinite_shift_only_where_it_is_needed():
    pencil = datasets.pitprops()
    assert semidefinite(pencil) is pencil
    shifted = semidefinite(Pencil(np.diag([2.0, -1.0])))
    assert np.linalg.eigvalsh(np.asarray(shifted.A))[0] >= 0.0


def test_planted_share_and_cardinalities():
    pencil = Pencil(Gram(planted(40, 200, 0.7, 1)))
    assert_allclose(pencil.lambda_max / trace(pencil), 0.7, atol=0.05)
    ks = cardinalities(2000, 30)
    assert (ks[0], ks[-1]) == (1, 2000)
    assert len(ks) == len(set(ks)) >= 28 - 3


def test_everything_in_small_form_and_its_report(tmp_path):
    """The smallest run of every experiment: all sections, files and figures; the second run computes nothing."""
    report = reproduce(["all"], tmp_path, effort="tiny")
    assert [section.name for section in report.sections] == list(EXPERIMENTS)
    assert not any(section.missing for section in report.sections)
    for name in ("report.md", "report.html", "numbers.json", "tables/table1_loadings.csv", "tables/table4_times.csv"):
        assert (tmp_path / name).stat().st_size > 100
    for figure in ("figure1", "figure2", "figure3", "figure4"):
        for ending in ("png", "svg", "csv"):
            assert (tmp_path / "figures" / f"{figure}.{ending}").stat().st_size > 100
    content = json.loads((tmp_path / "numbers.json").read_text())
    assert content["command"] == "dcgev reproduce all --tiny --seed 0"
    assert sum(content["verdicts"].values()) == len(report.findings)
    cells = {
        path: path.stat().st_mtime_ns for path in tmp_path.glob("cells/table1-*/*.json") if path.stem != "settings"
    }
    assert cells
    again = reproduce(["table1"], tmp_path, effort="tiny")
    assert again.findings == report.findings
    assert cells == {path: path.stat().st_mtime_ns for path in cells}


# ---- the report


def small_report():
    section = Section(
        "s",
        "A <title>",
        "set | up `x<1`",
        (Table("t", "T", ("a|b", "c"), ((1, "x<y"),)),),
        (Finding("n", "1 %", "2 %", Verdict.DIFFERS, "why"), Finding("m", "1", "1", agreement(True))),
        (Figure("f", "F", (Panel("p", "x", "y", {"one": [(1.0, 2.0), (2.0, 3.0)], "none": []}, True, True),)),),
        ("no data",),
    )
    return Report((section,), "dcgev reproduce s", {"python": "3"})


def test_report_escapes_and_counts(tmp_path):
    report = small_report()
    assert report.summary == "1 agree, 1 differ, 0 cannot be matched; beyond the paper 0 hold, 0 fail"
    text, html = markdown(report), page(report)
    assert "a\\|b" in text
    assert "Not computed: no data" in text
    assert "A &lt;title&gt;" in html
    assert "set | up <code>x&lt;1</code>" in html
    assert 'class="differs"' in html
    parted = text.split("## Where ours and the paper part")[1].split("\n## ")[0]
    assert "| n | 1 % | 2 % | differs | why |" in parted
    assert "| m |" not in parted
    assert "figures/f.png" not in markdown(report, figures=False)
    assert pipe_table(("a",), [("b",)])[1] == "| --- |"


def test_the_same_numbers_give_the_same_files(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for out in (first, second):
        out.mkdir()
        write(small_report(), out)
    for path in first.rglob("*.*"):
        assert path.read_bytes() == (second / path.relative_to(first)).read_bytes(), path.name


def test_a_disk_that_is_full_at_a_figure_is_one_sentence(tmp_path, monkeypatch):
    real = cells_module.os.fsync
    room = iter([True, True, True, False])  # report.md, report.html, the table, then nothing

    def fsync(descriptor):
        if not next(room):
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(cells_module.os, "fsync", fsync)
    with pytest.raises(DataUnavailable, match=r"f\.png could not be written \(No space left"):
        write(small_report(), tmp_path)
    assert not list((tmp_path / "figures").iterdir())


def test_an_unchanged_report_is_not_drawn_again(tmp_path):
    paths = write(small_report(), tmp_path)
    assert all(path.stat().st_size > 0 for path in paths)
    before = {path: path.stat().st_mtime_ns for path in paths}
    assert write(small_report(), tmp_path) == paths
    assert {path: path.stat().st_mtime_ns for path in paths} == before
    (tmp_path / "figures" / "f.png").unlink()
    write(small_report(), tmp_path)
    assert (tmp_path / "figures" / "f.png").exists()


def test_missing_data_is_reported_not_raised(tmp_path, monkeypatch):
    from dcgev_cvx.reproduction import fetch, tables34

    tables34.data.cache_clear()
    monkeypatch.setenv(fetch.FOLDER_VARIABLE, str(tmp_path / "empty"))
    monkeypatch.setattr(fetch, "downloaded", refused)
    settings = {"data": [["colon", 2000]], "points": 2, "spca_every": 1, "repeats": 1, "seed": 0}
    results = run(tables34.EXPERIMENT, settings, tmp_path)
    assert results.cells == {}
    assert all("offline" in reason for reason in results.failures.values())
    assert tables34.section(settings, results.cells).findings == ()
    assert isinstance(results, Results)


def refused(*_):
    raise DataUnavailable("offline")


def test_kept_sections_join_a_later_report(tmp_path):
    reproduce(["table1"], tmp_path, effort="tiny")
    report = reproduce(["figure3"], tmp_path, effort="tiny")
    assert [section.name for section in report.sections] == ["table1", "figure3"]
    assert textwrap.shorten(report.command, 60) == "dcgev reproduce table1 figure3 --tiny --seed 0"
