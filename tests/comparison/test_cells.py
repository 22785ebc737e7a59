"""Cells are saved one by one: damaged files are computed again, a failure is a reason, killed workers are replaced."""

import json
import os
import signal
import socket

import pytest

from dcgev_cvx import DataUnavailable, InvalidParameter
from dcgev_cvx.comparison import Cell, run_cells
from dcgev_cvx.comparison.cells import cell_key, dask_cluster, named_backend


def square(x):
    if x == 13:
        raise RuntimeError("unlucky")
    return {"square": x * x, "seconds": 0.1 * x}


def squares(*numbers):
    return [Cell(f"c{x}", square, {"x": x}) for x in numbers]


def test_results_are_read_and_only_what_is_missing_or_damaged_is_computed(tmp_path):
    cells, told = squares(1, 2, 3), []
    run_cells(cells, tmp_path)
    files = {cell.key: tmp_path / f"{cell.key}.json" for cell in cells}
    files["c1"].write_text(files["c1"].read_text().replace('"square": 1', '"square": 7'))
    files["c2"].write_text(files["c2"].read_text()[:-20])
    stamp = files["c3"].stat().st_mtime_ns
    results, failures = run_cells(cells, tmp_path, progress=lambda *now: told.append(now))
    assert [results[f"c{x}"]["square"] for x in (1, 2, 3)] == [1, 4, 9]
    assert failures == {}
    assert files["c3"].stat().st_mtime_ns == stamp
    assert told[0] == (1, 3, "1 of 3 results are saved already")
    assert told[-1] == (3, 3, "")


def test_a_result_of_other_arguments_is_computed_again(tmp_path):
    run_cells([Cell("one", square, {"x": 2})], tmp_path)
    assert run_cells([Cell("one", square, {"x": 3})], tmp_path)[0]["one"]["square"] == 9


def test_a_failed_cell_has_a_reason_is_not_saved_and_does_not_stop_the_others(tmp_path):
    results, failures = run_cells(squares(12, 13, 14), tmp_path)
    assert list(results) == ["c12", "c14"]
    assert failures == {"c13": "RuntimeError: unlucky"}
    assert not (tmp_path / "c13.json").exists()


def test_an_interrupt_keeps_what_is_finished(tmp_path):
    def stop(finished, total, message):
        if finished == 2:
            raise KeyboardInterrupt

    found = {}
    with pytest.raises(KeyboardInterrupt):
        run_cells(squares(1, 2, 3, 4), tmp_path, progress=stop, results=found)
    assert sorted(found) == ["c1", "c2"] == sorted(path.stem for path in tmp_path.iterdir())


@pytest.mark.slow
def test_workers_give_the_files_that_one_process_gives(tmp_path):
    for folder, jobs in (("one", 1), ("two", 2)):
        run_cells(squares(*range(12)), tmp_path / folder, jobs=jobs)
    for path in (tmp_path / "one").iterdir():
        assert path.read_text() == (tmp_path / "two" / path.name).read_text()


def once_killed(x, marker):
    if x == 5 and not os.path.exists(marker):  # noqa: PTH110 - runs in a worker
        with open(marker, "w"):  # noqa: PTH123
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return x


@pytest.mark.slow
def test_the_cells_of_a_killed_worker_are_computed_again(tmp_path):
    lines = []
    cells = [Cell(f"k{x}", once_killed, {"x": x, "marker": str(tmp_path / "marker")}) for x in range(10)]
    results, failures = run_cells(cells, None, jobs=2, progress=lambda done, total, line: lines.append(line))
    assert results == {f"k{x}": x for x in range(10)}
    assert failures == {}
    assert [line for line in lines if line.startswith("a worker was killed")]


def test_a_timed_cell_runs_after_the_others_in_this_process():
    order = []
    cells = [Cell("timed", lambda: order.append("timed"), timed=True, identity="t")]
    cells += [Cell("other", lambda: order.append("other"), identity="o")]
    run_cells(cells, None)
    assert order == ["other", "timed"]


def test_keys_are_file_names_and_differ_where_names_differ():
    assert cell_key("a/b: c") != cell_key("a b c")
    assert "/" not in cell_key("../../etc/passwd")
    assert len(cell_key("x" * 500)) < 100


def test_bad_input():
    with pytest.raises(InvalidParameter, match="jobs"):
        run_cells(squares(1), None, jobs=0)
    with pytest.raises(InvalidParameter, match="not known to joblib"):
        named_backend("lokyy")


def test_an_address_where_no_scheduler_answers(monkeypatch):
    """A name without a port, and a server of another kind, which accepts the connection and says nothing."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("dcgev_cvx.comparison.cells.CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for address in ("nowhere", f"tcp://127.0.0.1:{silent.getsockname()[1]}"):
            with pytest.raises(DataUnavailable, match=f"no Dask scheduler answers at '{address}'"):
                dask_cluster(address).__enter__()


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_results(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        results, _ = run_cells(squares(*range(8)), tmp_path, backend=dask_cluster(cluster.scheduler_address))
    assert {key: result["square"] for key, result in results.items()} == {f"c{x}": x * x for x in range(8)}
    assert len(json.loads((tmp_path / "c3.json").read_text())["check"]) == 64
