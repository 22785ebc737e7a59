"""A function in another process: what it is given, and what it does beside answering, are as in this one."""

import numpy as np
import pytest

from dcgev_cvx.cli import solver_process
from dcgev_cvx.cli.solver_process import FunctionProcess
from dcgev_cvx.errors import InvalidParameter, SolverFailed
from dcgev_cvx.verify.levels import strided

SOURCE = """
import os
import pickle
import warnings
import numpy as np

seen, buffer = {}, np.zeros(2)

def layouts(A, B, k):
    flags = A.flags
    return np.array([flags.c_contiguous, flags.f_contiguous, flags.writeable, A.dtype.itemsize, A[0, 1]], float)

def same_array(A, B, k):
    return float(seen.setdefault(id(A), A) is A and len(seen) == 1)

def changes(A, B, k):
    A[0, 0] = 7.0
    return 1.0

def one_buffer(A, B, k):
    buffer[:] = k
    return buffer

def talks(A, B, k):
    print("hello")
    warnings.warn("careful")
    return [1.0, 2.0]

def other(A, B, k):
    return {1, 2}

def refuses(A, B, k):
    raise NotImplementedError("k = 1")

def fails(A, B, k):
    raise ValueError("no")

def leaves(A, B, k):
    os._exit(3)

class Trap:
    def __reduce__(self):
        return os._exit, (0,)

def traps(A, B, k):
    dumps = pickle.dumps
    pickle.dumps = lambda message: dumps(Trap())
    return 1.0

def babbles(A, B, k):
    dumps = pickle.dumps
    pickle.dumps = lambda message: dumps(5)
    return 1.0
"""


@pytest.fixture
def start(tmp_path):
    """A process for a function of the source."""
    file = tmp_path / "functions.py"
    file.write_text(SOURCE, encoding="utf-8")
    processes = []

    def started(name):
        processes.append(FunctionProcess(f"{file}:{name}", "cardinality", time_limit=20.0))
        return processes[-1]

    yield started
    for process in processes:
        process.close()


def test_arrays_keep_their_layout(start):
    solver, A = start("layouts"), np.array([[1.0, 2.0], [3.0, 4.0]])
    frozen = A.copy()
    frozen.flags.writeable = False
    arrays = (A, np.asfortranarray(A), strided(A), frozen, A.astype(np.float32))
    rows = [solver(array, A, 1).tolist() for array in arrays]
    assert rows == [[1, 0, 1, 8, 2], [0, 1, 1, 8, 2], [0, 0, 1, 8, 2], [1, 0, 0, 8, 2], [1, 0, 1, 4, 2]]


def test_an_array_that_is_passed_again_is_the_same_array(start):
    solver, A = start("same_array"), np.eye(2)
    assert solver(A, np.eye(2), 1) == 1.0
    A[0, 0] = 5.0
    assert solver(A, np.eye(2), 1) == 1.0
    assert solver(A.copy(), np.eye(2), 1) == 0.0


def test_changed_arguments_and_overwritten_answers_change_here(start):
    A = np.eye(2)
    start("changes")(A, np.eye(2), 1)
    assert A[0, 0] == 7.0
    solver = start("one_buffer")
    first = solver(np.eye(2), np.eye(2), 1)
    solver(np.eye(2), np.eye(2), 2)
    assert first.tolist() == [2.0, 2.0]


def test_printing_and_warnings_are_repeated_here(start, capsys):
    with pytest.warns(UserWarning, match="careful"):
        assert start("talks")(np.eye(2), np.eye(2), 1) == [1.0, 2.0]
    assert capsys.readouterr().out == "the function printed\n"


def test_what_is_no_answer_is_raised_or_named(start):
    arguments = np.eye(2), np.eye(2), 1
    assert type(start("other")(*arguments)).__name__ == "set"
    with pytest.raises(NotImplementedError, match="k = 1"):
        start("refuses")(*arguments)
    with pytest.raises(SolverFailed, match="raised ValueError: no"):
        start("fails")(*arguments)
    with pytest.raises(SolverFailed, match="exit code 3"):
        start("leaves")(*arguments)
    with pytest.raises(InvalidParameter, match="has no 'nothing'"):
        start("nothing")


@pytest.mark.parametrize(("name", "reason"), [("traps", "posix._exit|nt._exit"), ("babbles", "not subscriptable")])
def test_an_answer_runs_no_code_here(start, name, reason):
    solver = start(name)
    with pytest.raises(SolverFailed, match=f"its process sent an answer that cannot be read.*({reason})"):
        solver(np.eye(2), np.eye(2), 1)
    assert solver.branches() == []
    assert solver.text((1, 0, 1, 1)) == ("", "")


def test_an_import_without_an_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(solver_process, "IMPORTING", 0.1)
    (tmp_path / "endless.py").write_text("while True: pass")
    with pytest.raises(InvalidParameter, match=r"was not imported within 0.1 s: allow more by --time-limit"):
        FunctionProcess(f"{tmp_path / 'endless.py'}:f", "bound", time_limit=0.1)
