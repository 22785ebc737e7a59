"""Tasks and their results on disk: what is loaded, computed again or refused, and what a kill leaves."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx.errors import DataUnavailable, InvalidParameter, MissingPackage
from dcgev_cvx.reproduction import EXPERIMENTS, reproduce, running
from dcgev_cvx.reproduction.running import (
    ResultFolder,
    Task,
    checked_jobs,
    differences,
    digest,
)


def square(x, calls=None):
    """A task's work; `calls` records what was really computed."""
    if calls is not None:
        with Path(calls).open("a") as handle:
            handle.write(f"{x}\n")
    if x == 13:
        raise InvalidParameter("13 is refused.")
    return {"square": x * x, "draw": float(np.random.default_rng(x).standard_normal())}


def run(xs, out, calls=None, seed=0, **options):
    """Run one task per x into the folder `out`."""
    settings = {"xs": xs, "seed": seed}
    folder = ResultFolder.of(out, "toy", settings)
    folder.prepare(settings)
    tasks = [Task(f"x{x}", square, {"x": x, "calls": calls}) for x in xs]
    return running.run("toy", tasks, folder, **options)


class Messages:
    """A Progress that records what it is told."""

    def __init__(self):
        self.texts, self.counts = [], []

    def __call__(self, name, finished, total, message):
        self.counts.append((finished, total))
        self.texts += [message] * bool(message)


# ---- results on disk


def test_finished_results_are_read_not_computed(tmp_path):
    calls, messages = str(tmp_path / "calls"), Messages()
    first = run([1, 2, 3], tmp_path, calls)
    second = run([1, 2, 3], tmp_path, calls, progress=messages)
    assert first.results == second.results
    assert (first.loaded, second.loaded) == (0, 3)
    assert messages.texts == ["3 of 3 results are on disk already."]
    assert messages.counts == [(3, 3)]
    assert len(Path(calls).read_text().split()) == 3


def test_a_damaged_result_is_computed_again_and_reported(tmp_path):
    whole = run([1, 2, 3], tmp_path)
    (folder,) = (tmp_path / "results").iterdir()
    (folder / "x1.json").write_text("{ half a fi")
    changed = json.loads((folder / "x2.json").read_text())
    changed["result"]["square"] = 5
    (folder / "x2.json").write_text(json.dumps(changed))
    (folder / "x3.json").write_bytes(b"\xff\xfe\x00")
    messages = Messages()
    again = run([1, 2, 3], tmp_path, progress=messages)
    assert again.results == whole.results
    assert again.damaged == ("x1", "x2", "x3")
    assert "the saved result x2 is damaged; it is computed again." in messages.texts


def test_a_result_of_other_arguments_is_not_used(tmp_path):
    folder = ResultFolder(tmp_path)
    folder.save("x1", {"x": 1}, {"square": 1})
    assert folder.load("x1", {"x": 1}).found
    assert folder.load("x1", {"x": 2}).damaged
    assert not folder.load("x2", {"x": 2}).damaged


def test_other_settings_raise_an_error_with_the_difference(tmp_path):
    run([1], tmp_path)
    with pytest.raises(InvalidParameter, match=r"seed: there 0, now 1") as caught:
        run([1], tmp_path, seed=1)
    assert "xs" not in str(caught.value)
    assert differences({"a": 1}, {"b": 2}) == "a: there 1, now nothing; b: there nothing, now 2"


def test_a_task_that_fails_is_not_saved_and_the_others_are(tmp_path):
    messages = Messages()
    found = run([1, 13, 2], tmp_path, progress=messages)
    assert set(found.results) == {"x1", "x2"}
    assert found.failures == {"x13": "InvalidParameter: 13 is refused."}
    assert messages.texts == ["x13 could not be computed: InvalidParameter: 13 is refused."]
    assert not list(tmp_path.glob("results/*/x13.json"))


def test_a_full_disk_leaves_finished_results_intact(tmp_path, full_disk_after):
    full_disk_after(2)  # the settings and the first result
    with pytest.raises(DataUnavailable, match=r"No space left on device.*finished results are intact"):
        run([1, 2, 3], tmp_path)
    (folder,) = (tmp_path / "results").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["settings.json", "x1.json"]
    full_disk_after(None)
    assert run([1, 2, 3], tmp_path).loaded == 1


def test_an_interrupt_leaves_finished_results_intact(tmp_path):
    def impatient(name, finished, total, message):
        if finished:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([1, 2, 3], tmp_path, progress=impatient)
    assert run([1, 2, 3], tmp_path).loaded == 1


def test_kill_9_and_resume(tmp_path):
    """A run killed without warning in the middle continues where it was and gives the same numbers."""
    command = [sys.executable, "-m", "dcgev_cvx", "reproduce", "figure2", "table1", "--tiny", "--out"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    killed = tmp_path / "killed"
    process = subprocess.Popen([*command, str(killed)], env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(killed.glob("results/*/*C*.json")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.read_bytes() for path in killed.glob("results/*/*.json")}
    assert before
    report = reproduce(["figure2", "table1"], killed, effort="tiny")
    assert all(path.read_bytes() == content for path, content in before.items())
    fresh = reproduce(["table1"], tmp_path / "fresh", effort="tiny")
    table = {section.name: section for section in report.sections}["table1"]
    assert table.findings == fresh.sections[0].findings


def test_the_order_of_keys_changes_no_hash():
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})


# ---- workers


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(entry) for key, entry in value.items() if key not in ("seconds", "total")}
    return [without_times(entry) for entry in value] if isinstance(value, list) else value


def test_the_number_of_workers_changes_no_number(tmp_path):
    experiment = EXPERIMENTS["figure2"]
    tasks = experiment.tasks({**experiment.settings["tiny"], "seed": 3})
    alone, together = (
        running.run("figure2", tasks, ResultFolder(tmp_path / str(jobs)), jobs=jobs).results for jobs in (1, 2)
    )
    assert without_times(alone) == without_times(together)


def test_a_dask_cluster_gives_the_same(tmp_path):
    import warnings

    import distributed

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster:
            found = run([1, 2, 3], tmp_path, dask=cluster.scheduler_address)
    assert found.results == run([1, 2, 3], tmp_path / "here").results


def test_no_dask_scheduler_is_an_error_of_one_sentence(tmp_path):
    with pytest.raises(DataUnavailable, match="no Dask scheduler answers at nowhere"):
        run([1, 2], tmp_path, dask="nowhere")


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    for package, options, extra in (("joblib", {"jobs": 2}, "reproduce"), ("distributed", {"dask": "x:1"}, "dask")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingPackage, match=rf"{package}: pip install 'dcgev-cvx\[{extra}\]'"):
            run([1, 2], tmp_path / package, **options)


def test_a_timed_task_runs_in_this_process(tmp_path):
    tasks = [Task(f"t{i}", os.getpid, {}, timed=i > 1) for i in range(4)]
    found = running.run("toy", tasks, ResultFolder(tmp_path), jobs=2).results
    assert found["t2"] == found["t3"] == os.getpid()


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "2"])
def test_bad_number_of_jobs(jobs):
    with pytest.raises(InvalidParameter, match="at least 1, or -1"):
        checked_jobs(jobs)


def killed():
    os.kill(os.getpid(), 9)


def test_a_killed_worker_costs_its_tasks_and_no_others(tmp_path):
    tasks = [Task("first", os.getpid, {}), Task("last", killed, {})]
    found = running.run("toy", tasks, ResultFolder(tmp_path), jobs=2)
    assert "a worker process was killed" in found.failures["last"]
    again = running.run("toy", [Task("last", os.getpid, {})], ResultFolder(tmp_path), jobs=2)
    assert again.results


def test_silence_is_broken(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "QUIET", 0.05)
    said = []
    tasks = [Task("slow", time.sleep, {}), Task("next", os.getpid, {})]
    monkeypatch.setattr(running, "outcome_of", lambda task, **_: (task.key, time.sleep(0.2), ""))
    running.run("toy", tasks, ResultFolder(tmp_path), progress=lambda *now: said.append(now[-1]))
    assert any("0.05 s without a result; waiting for 2 from this process" in line for line in said)


def test_more_jobs_than_cores_are_capped():
    said = []
    assert checked_jobs(10**6, said.append) == running.usable_cores()
    assert said[0].startswith("1000000 jobs were asked for;")
    assert checked_jobs(-1, said.append) == -1
    assert len(said) == 1


def test_a_result_nested_without_end_is_damaged(tmp_path):
    (tmp_path / "x.json").write_text("[" * 100_000)
    assert ResultFolder(tmp_path).load("x", {}).damaged
