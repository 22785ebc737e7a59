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
from dcgev_cvx.reproduction import reproduce, running
from dcgev_cvx.reproduction.running import Task, checked_jobs, load, save


def square(x, calls=None):
    """A task's work; `calls` records what was really computed."""
    if calls is not None:
        with Path(calls).open("a") as handle:
            handle.write(f"{x}\n")
    if x == 13:
        raise InvalidParameter("13 is refused.")
    return {"square": x * x, "draw": float(np.random.default_rng(x).standard_normal())}


def run(xs, out, calls=None, **options):
    """(results, failures) of one task per x in the folder `out`."""
    tasks = [Task(f"x{x}", square, {"x": x, "calls": calls}) for x in xs]
    return running.run("toy", tasks, out, **options)


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
    first = run([1, 2, 3], tmp_path / "out", calls)
    second = run([1, 2, 3], tmp_path / "out", calls, progress=messages)
    assert first == second
    assert list(first[0]) == ["x1", "x2", "x3"]
    assert messages.texts == ["3 of 3 results are on disk already."]
    assert messages.counts == [(3, 3)]
    assert len(Path(calls).read_text().split()) == 3


def test_a_damaged_result_is_computed_again_and_reported(tmp_path):
    whole = run([1, 2, 3, 4], tmp_path)
    (tmp_path / "x1.json").write_text("{ half a fi")
    changed = json.loads((tmp_path / "x2.json").read_text())
    changed["result"]["square"] = 5
    (tmp_path / "x2.json").write_text(json.dumps(changed))
    (tmp_path / "x3.json").write_bytes(b"\xff\xfe\x00")
    messages = Messages()
    assert run([1, 2, 3, 4], tmp_path, progress=messages) == whole
    assert messages.texts[0] == "1 of 4 results are on disk already."
    assert messages.texts[1:] == [
        f"the saved result x{i} is damaged or of other data; it is computed again." for i in (1, 2, 3)
    ]


def test_a_result_of_other_arguments_or_another_version_is_not_used(tmp_path, monkeypatch):
    first, second = tmp_path / "x1.json", tmp_path / "x2.json"
    save(first, {"x": 1, "y": 2}, {"square": 1})
    assert load(first, {"y": 2, "x": 1}) == {"square": 1}
    assert load(first, {"x": 2, "y": 2}) is None
    second.write_text(first.read_text())
    assert load(second, {"x": 1, "y": 2}) is None
    monkeypatch.setattr(running, "__version__", "another")
    assert load(first, {"x": 1, "y": 2}) is None


def test_a_result_nested_without_end_is_damaged(tmp_path):
    (tmp_path / "x.json").write_text("[" * 100_000)
    assert load(tmp_path / "x.json", {}) is None


def test_a_task_that_fails_is_not_saved_and_the_others_are(tmp_path):
    messages = Messages()
    results, failures = run([1, 13, 2], tmp_path, progress=messages)
    assert set(results) == {"x1", "x2"}
    assert failures == {"x13": "InvalidParameter: 13 is refused."}
    assert messages.texts == ["x13 could not be computed: InvalidParameter: 13 is refused."]
    assert not (tmp_path / "x13.json").exists()


def test_a_full_disk_leaves_finished_results_intact(tmp_path, full_disk_after):
    full_disk_after(1)  # the first result
    with pytest.raises(DataUnavailable, match=r"No space left on device.*finished results are intact"):
        run([1, 2, 3], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x1.json"]
    full_disk_after(None)
    assert len(run([1, 2, 3], tmp_path)[0]) == 3


def test_an_interrupt_leaves_finished_results_intact(tmp_path):
    def impatient(name, finished, total, message):
        if finished:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([1, 2, 3], tmp_path, progress=impatient)
    messages = Messages()
    run([1, 2, 3], tmp_path, progress=messages)
    assert messages.texts == ["1 of 3 results are on disk already."]


def test_kill_9_and_resume(tmp_path):
    """A run killed without warning in the middle continues where it was and gives the same numbers."""
    command = [sys.executable, "-m", "dcgev_cvx", "reproduce", "table1", "--tiny", "--out", str(tmp_path)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("results/tiny-0/table1/*PCA.json")) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.read_bytes() for path in tmp_path.glob("results/tiny-0/table1/*.json")}
    assert before
    killed, whole = (reproduce(["table1"], out, effort="tiny") for out in (tmp_path, tmp_path / "fresh"))
    assert all(path.read_bytes() == content for path, content in before.items())
    assert killed.findings == whole.findings


# ---- workers


def test_the_number_of_workers_changes_no_number(tmp_path):
    assert run([1, 2, 3], tmp_path / "two", jobs=2) == run([1, 2, 3], tmp_path / "one")


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(MissingPackage, match=r"joblib: pip install 'dcgev-cvx\[reproduce\]'"):
        run([1, 2], tmp_path, jobs=2)


def test_a_timed_task_runs_in_this_process(tmp_path):
    tasks = [Task(f"t{i}", os.getpid, {}, timed=i > 1) for i in range(4)]
    found, _ = running.run("toy", tasks, tmp_path, jobs=2)
    assert os.getpid() not in (found["t0"], found["t1"])
    assert found["t2"] == found["t3"] == os.getpid()


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "2"])
def test_bad_number_of_jobs(jobs):
    with pytest.raises(InvalidParameter, match=r"jobs \(-1 for all cores\) = .* must be a whole number of at least 1"):
        checked_jobs(jobs)


def killed():
    os.kill(os.getpid(), 9)


def test_a_killed_worker_costs_its_tasks_and_is_one_line(tmp_path):
    messages = Messages()
    tasks = [Task("first", os.getpid, {}), *(Task(f"last{i}", killed, {}) for i in range(3))]
    _, failures = running.run("toy", tasks, tmp_path, jobs=2, progress=messages)
    assert {"last0", "last1", "last2"} <= set(failures)
    assert ["a worker process was killed" in text for text in messages.texts] == [True]
    again, _ = running.run("toy", [Task("last0", os.getpid, {})], tmp_path, jobs=2)
    assert again


def test_silence_is_broken(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "QUIET", 0.05)
    messages = Messages()
    tasks = [Task("slow", time.sleep, {}), Task("next", os.getpid, {})]
    monkeypatch.setattr(running, "outcome_of", lambda task: (task.key, time.sleep(0.2), ""))
    running.run("toy", tasks, tmp_path, progress=messages)
    assert messages.texts[0] == "0.05 s without a result; waiting for 2 from this process."


def test_more_jobs_than_cores_are_capped():
    said = []
    cores = checked_jobs(-1, said.append)
    assert cores >= 1
    assert not said
    assert checked_jobs(10**6, said.append) == cores
    assert said == [f"1000000 jobs were asked for; {cores} run, one for each core."]
