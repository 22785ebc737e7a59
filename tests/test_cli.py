"""The command line as a person and as a program meet it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from dcgev_cvx import __version__, cli, comparison, datasets, sparse_gev
from dcgev_cvx._numerics import checks
from dcgev_cvx.cli import inputs, main, solve, tables
from dcgev_cvx.errors import InvalidParameter


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch):
    for name in ("COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)


def run(capsys, *argv):
    """(exit code, stdout, stderr) of one command."""
    code = main([str(arg) for arg in argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def in_a_new_process(*argv, **settings):
    return subprocess.run(
        [sys.executable, *argv],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        **settings,
    )


# what the user sees


def test_help_loads_nothing_heavy():
    code = "import sys; from dcgev_cvx.cli import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = in_a_new_process("-c", code)
    assert done.returncode == 0
    assert "solve" in done.stdout
    assert "solvers" in done.stdout
    for heavy in ("numpy", "scipy", "cvxpy", "rich"):
        assert f"'{heavy}'" not in done.stderr


def test_python_m_is_the_same_command():
    done = in_a_new_process("-m", "dcgev_cvx", "--version")
    assert (done.returncode, done.stdout) == (0, f"dcgev {__version__}\n")


def test_solve_pitprops(capsys):
    code, out, err = run(capsys, "solve", "pitprops", "--rho", 4.84)
    assert (code, err) == (0, "")
    for name in ("topdiam", "length", "ringbut", "bowmax", "bowdist", "whorls"):
        assert name in out
    assert "moist" not in out
    assert "6 of 13" in out
    assert "3.77096, 89.39% of λmax(A,B) = 4.21863" in out
    assert "converged" in out
    assert "stationarity" in out


def test_tables_fit_eighty_columns_and_carry_no_colour(capsys):
    for argv in (["solve", "pitprops", "--rho", "4.84", "--trace"], ["solvers"]):
        _, out, _ = run(capsys, *argv)
        assert "\x1b" not in out
        assert max(len(line) for line in out.splitlines()) <= 80
        assert all(line == line.rstrip() for line in out.splitlines())


def test_a_narrow_terminal_cuts_no_number(capsys, monkeypatch):
    code, wide, _ = run(capsys, "path", "pitprops", "--rho", "3,2")
    monkeypatch.setenv("COLUMNS", "20")
    assert (code, wide) == run(capsys, "path", "pitprops", "--rho", "3,2")[:2]
    _, out, _ = run(capsys, "solve", "pitprops", "--rho", 4.84)
    assert "3.77096" in out
    monkeypatch.setenv("COLUMNS", "wide")
    assert run(capsys, "path", "pitprops", "--rho", "3,2")[:2] == (code, wide)


def test_a_terminal_without_width_loses_no_line(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert run(capsys, "solve", "pitprops", "-k", 2)[1].startswith("pitprops: n = 13")


def test_json_escapes_what_the_stream_cannot_write(tmp_path):
    (tmp_path / "a.csv").write_text("α,β\n2,1\n1,2\n", encoding="utf-8")
    argv = ("-m", "dcgev_cvx", "solve", str(tmp_path / "a.csv"), "--rho", "0.1", "--json")
    done = in_a_new_process(*argv, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert [loading["name"] for loading in json.loads(done.stdout)["loadings"]] == ["α", "β"]


def test_long_and_hostile_names_are_shown_whole_and_harmless(capsys, tmp_path):
    names = ["a" * 90, "[red]not markup[/red]", "\x1b[31mred"]
    path = tmp_path / "named.npz"
    np.savez(path, A=np.diag([3.0, 2.5, 2.0]) + 1.0, names=np.array(names))
    code, out, _ = run(capsys, "solve", path, "--rho", 0, "--max-iter", 2000)
    assert code == 0
    assert "".join(out.split()).count("a" * 20) >= 1
    assert sum(line.strip().split()[0].count("a") for line in out.splitlines() if line.strip().startswith("aa")) == 90
    assert "[red]not markup[/red]" in out
    assert "\x1b" not in out


def test_many_loadings_are_cut_with_a_word(capsys, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.eye(60) + 1.0)
    code, out, _ = run(capsys, "solve", path, "--rho", 0)
    assert code == 0
    assert "the 40 largest of 60 nonzeros; --json lists all" in out


def test_trace_is_the_audit(capsys):
    _, out, _ = run(capsys, "solve", "pitprops", "--rho", 4.84, "--trace")
    lines = out.splitlines()
    assert lines[0].split() == ["l", "f(x)", "g(x,y)", "g-f", "step", "nnz", "mu", "KKT", "solver"]
    rows = [line.split() for line in lines[1:] if line and line.split()[0].isdigit() and len(line.split()) == 9]
    assert [int(row[0]) for row in rows] == list(range(len(rows)))
    assert len(rows) == sparse_gev(datasets.pitprops(), rho=4.84).n_iter + 1
    f = [float(row[1]) for row in rows]
    assert f == sorted(f, reverse=True)
    assert all(float(row[3]) >= -1e-12 for row in rows)
    assert all(float(row[7]) <= 1e-12 and row[8] == "CLARABEL" for row in rows[1:])


def test_json_is_json_and_nothing_else(capsys):
    code, out, err = run(capsys, "solve", "pitprops", "--rho", 4.84, "--json", "--trace")
    assert (code, err) == (0, "")
    data = json.loads(out)
    result = sparse_gev(datasets.pitprops(), rho=4.84)
    assert data["x"] == result.x.tolist()
    assert data["f"] == result.f
    assert data["converged"] is True
    assert data["iterations"] == len(data["history"]) - 1 == result.n_iter
    assert [entry["index"] for entry in data["loadings"]] == list(result.support)
    assert data["renormalized_value"] == pytest.approx(3.77096, abs=1e-5)
    assert data["certificate"]["stationarity"] <= 1e-6
    assert "history" not in json.loads(run(capsys, "solve", "pitprops", "--rho", 4.84, "--json")[1])


@pytest.mark.parametrize("engine", ["cvxpy", "native"])
def test_a_trace_is_json_with_every_engine(capsys, engine):
    code, out, _ = run(capsys, "solve", "pitprops", "--rho", 4.84, "--json", "--trace", "--engine", engine)
    history = json.loads(out)["history"]
    assert code == 0
    assert all(len(step["x"]) == 13 for step in history)
    assert any(step["origin"] is not None for step in history) is (engine == "native")


def test_json_has_no_nan():
    assert solve.finite({"a": [1.0, float("inf")], "b": float("nan"), "c": "x"}) == {
        "a": [1.0, None],
        "b": None,
        "c": "x",
    }


def test_solvers_are_tried_and_not_just_listed(capsys):
    code, out, _ = run(capsys, "solvers", "--json")
    assert code == 0
    found = json.loads(out)["installed"]
    for solver in ("CLARABEL", "SCS", "ECOS"):
        assert all(found[solver]["steps"].values())
        assert found[solver]["version"]
    osqp = found["OSQP"]["steps"]
    assert (osqp["MetricLassoStep"], osqp["FisherStep"], osqp["QCQPStep"]) == (True, True, False)


def test_missing_solvers_come_with_the_command_that_installs_them(capsys, monkeypatch):
    monkeypatch.setattr("dcgev_cvx.steps.backend.installed_solvers", lambda: ("CLARABEL",))
    _, out, _ = run(capsys, "solvers")
    assert "pip install ecos" in out


def test_settings_reach_the_program(capsys):
    argv = ["solve", "indefinite", "--rho", 0.3, "--eps", 0.01, "--tau", 9, "--shift", "metric", "--solver", "scs"]
    code, out, _ = run(capsys, *argv, "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["problem"]["eps"], data["problem"]["tau"], data["problem"]["shift"]) == (0.01, 9.0, "metric")
    assert list(data["solvers"]) == ["SCS"]


# how it ends


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--rho", 400], "collapsed: x = 0 minimises the surrogate (the penalty outweighs A); lower --rho."),
        (
            ["--rho", 4.84, "--max-iter", 2],
            "ran out of iterations before reaching a stationary point; raise --max-iter.",
        ),
    ],
)
@pytest.mark.parametrize("output", [[], ["--json"]])
def test_a_run_without_convergence_exits_with_1_and_says_why(capsys, argv, sentence, output):
    code, out, err = run(capsys, "solve", "pitprops", *argv, *output)
    assert code == 1
    assert err == f"dcgev: {sentence}\n"
    if output:
        assert json.loads(out)["converged"] is False


def test_a_failing_solver_exits_with_1_and_says_what_happened(capsys, monkeypatch):
    import cvxpy as cp

    def fail(*_args, **_settings):
        raise cp.SolverError("no more memory")

    monkeypatch.setattr(cp.Problem, "solve", fail)
    code, out, err = run(capsys, "solve", "pitprops", "--rho", 1)
    assert code == 1
    assert "no more memory" in " ".join(out.split())
    assert "try another --solver" in err


def test_ctrl_c_exits_with_130(capsys, monkeypatch):
    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(inputs, "read_pencil", interrupt)
    assert run(capsys, "solve", "pitprops", "--rho", 1) == (130, "", "dcgev: interrupted.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_a_full_disk_does_not_change_the_exit_code():
    argv = [sys.executable, "-m", "dcgev_cvx", "solve", "nowhere", "-k", "2"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        assert subprocess.run(argv, stderr=full, timeout=60, check=False).returncode == 2


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_interrupted_comparison_reports_what_is_done(capsys, monkeypatch, tmp_path, form):
    compare = comparison.compare

    def interrupted(pencil, k, *args, **settings):
        if k == 4:
            raise KeyboardInterrupt
        return compare(pencil, k, *args, **settings)

    monkeypatch.setattr(comparison, "compare", interrupted)
    page = tmp_path / "page.html"
    argv = ["compare", "pitprops", "--methods", "solve", "--html", page, *form]
    code, out, err = run(capsys, *argv, "-k", "2:6")
    assert (code, err) == (130, "dcgev: interrupted after 2 of 5 cardinalities, which are reported.\n")
    if form:
        made = json.loads(out)
        assert ([one["k"] for one in made["comparisons"]], made["ended"]) == ([2, 3], False)
    else:
        assert out.count("best support: ") == 2
    assert "k = 3" in page.read_text(encoding="utf-8")
    assert run(capsys, *argv, "-k", "4") == (130, "", "dcgev: interrupted.\n")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_interrupt_inside_one_cardinality_reports_its_finished_rows(capsys, monkeypatch, tmp_path, form):
    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("dcgev_cvx.comparison.upper_methods.cheap_bound", interrupt)
    page = tmp_path / "page.html"
    code, out, err = run(
        capsys, "compare", "pitprops", "--methods", "greedy,no-sdp", "-k", "6,7", "--html", page, *form
    )
    words = "interrupted at k = 6, after 0 of 2 cardinalities; the rows finished are reported"
    assert (code, err) == (130, f"dcgev: {words}.\n")
    if form:
        made = json.loads(out)
        assert made["ended"] is False
        assert [row["valid"] for row in made["comparisons"][0]["rows"]] == [True, False]
    else:
        assert "3.77096" in out
        assert "not finished: interrupted" in out
    assert "3.77096" in page.read_text(encoding="utf-8")


def test_an_endless_range_ends_at_the_first_k_out_of_range(capsys):
    code, _, err = run(capsys, "compare", "pitprops", "-k", f"2:{10**15}")
    assert (code, err) == (2, "dcgev: k = 14 is out of range: a cardinality lies between 1 and n = 13.\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes close differently there")
def test_a_closed_pipe_is_no_error():
    command = [sys.executable, "-m", "dcgev_cvx", "solve", "pitprops", "--rho", "4.84", "--trace"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 141


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_closed_stream_is_no_error(monkeypatch, name):
    monkeypatch.setattr(sys, name, None)  # what Python makes of `>&-` and `2>&-`
    assert main(["solve", "pitprops", "--components", "2,2", "--effort", "quick"]) == 0
    assert main(["solve", "pitprop", "-k", "2"]) == 2
    getattr(sys, name).close()


def test_a_terminal_without_greek_is_no_error():
    done = in_a_new_process(
        "-m", "dcgev_cvx", "solve", "pitprops", "--rho", "4.84", env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "? = 4.84" in done.stdout or "?? = 4.84" in done.stdout


# bad input: one line, exit code 2, no traceback

BAD = [
    (["solve", "pitprop", "--rho", 1], "'pitprop' is neither a bundled name nor a file; did you mean 'pitprops'?"),
    (["solve", "--rho", 1], "no problem was given: name a bundled one (pitprops"),
    (["solve", "pitprops", "--A", "a.npy", "--rho", 1], "DATA (pitprops) and --A (a.npy) were both given"),
    (["solve", "nowhere.npy", "--rho", 1], "nowhere.npy does not exist."),
    (["solve", "pitprops", "--B", "nowhere.csv", "--rho", 1], "nowhere.csv does not exist."),
    (["solve", ".", "--rho", 1], "is a folder"),
    (["solve", "pitprops", "--rho", -1], "rho = -1 is out of range"),
    (["solve", "pitprops", "--rho", "nan"], "rho = nan is not finite"),
    (["solve", "pitprops", "--rho", 1, "--eps", 0], "eps = 0 is out of range; it must be greater than 0"),
    (["solve", "indefinite", "--rho", 1, "--tau", 0.01], "tau = 0.01 is too small: A + τI ⪰ 0 needs tau ≥"),
    (["solve", "pitprops", "--rho", 1, "--max-iter", 0], "max_iter = 0 must be a whole number of at least 1"),
    (["solve", "pitprops", "--rho", 1, "--solver", "CLARABELL"], "did you mean 'CLARABEL'?"),
    (["solve", "pitprops", "--rho", 1, "--shift", "up"], "shift = 'up' is unknown"),
    (["solve", "pitprops", "--rho", 1, "--engine", "steam"], "engine = 'steam' is unknown"),
    (["solve", "pitprops", "--rho", 1, "--engine", "native", "--solver", "SCS"], "no meaning with --engine native"),
    (["solve", "pitprops", "--rho", 1, "--x0", "1,2"], "x0 must have length 13, got shape (2,)"),
    (["solve", "pitprops", "--rho", 1, "--x0", "nowhere.npy"], "nowhere.npy does not exist"),
    (["solve", "pitprops", "--rho", 1, "--x0", ",".join(["1"] * 13)], "x0 lies outside Ω: x0ᵀBx0 = 13 > 1"),
]


@pytest.mark.parametrize(
    ("argv", "message"), BAD, ids=lambda value: " ".join(map(str, value))[:50] if isinstance(value, list) else ""
)
def test_bad_input_is_one_line(capsys, tmp_path, monkeypatch, argv, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *argv)
    assert code == 2
    assert out == ""
    assert err.startswith("dcgev: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("argv", [[], ["slove"], ["solve", "pitprops"], ["solve", "pitprops", "--rho", "much"]])
def test_a_wrong_command_line_shows_the_usage(capsys, argv):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert err.startswith("usage: dcgev")


# files

A = np.array([[2.0, 0.5, 0.25], [0.5, 1.0, 0.125], [0.25, 0.125, 3.0]])
B = np.array([[1.0, 0.25, 0.0], [0.25, 2.0, 0.0], [0.0, 0.0, 1.5]])


def csv_text(matrix, names=None, rows=None, mark=","):
    lines = [mark.join(([""] if rows else []) + list(names))] if names else []
    for i, row in enumerate(matrix):
        lines.append(mark.join(([rows[i]] if rows else []) + [repr(float(v)) for v in row]))
    return "\n".join(lines) + "\n"


WRITERS = {
    "plain.npy": lambda path: np.save(path, A),
    "single.npy": lambda path: np.save(path, A.astype(np.float32)),
    "fortran.npy": lambda path: np.save(path, np.asfortranarray(A)),
    "only.npz": lambda path: np.savez(path, anything=A),
    "sparse.npz": lambda path: scipy.sparse.save_npz(path, scipy.sparse.csr_array(A)),
    "named.npz": lambda path: np.savez(path, A=A, names=np.array(["u", "v", "w"])),
    "bare.csv": lambda path: path.write_text(csv_text(A)),
    "header.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"])),
    "labels.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], ["u", "v", "w"])),
    "index.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], ["0", "1", "2"])),
    "short.csv": lambda path: path.write_text("u,v,w\n" + csv_text(A, None, ["u", "v", "w"])),
    "semicolon.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], mark=";")),
    "tab.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"], mark="\t")),
    "bom.csv": lambda path: path.write_text(csv_text(A, ["u", "v", "w"]), encoding="utf-8-sig"),
    "crlf.csv": lambda path: path.write_bytes(csv_text(A, ["u", "v", "w"]).replace("\n", "\r\n").encode()),
    "quoted.csv": lambda path: path.write_text('"u","v","w"\n' + csv_text(A)),
    "frame.csv": lambda path: path.write_text("0,1,2\n" + csv_text(A)),
    "dense.mtx": lambda path: scipy.io.mmwrite(path, A, precision=17),
    "coordinate.mtx": lambda path: scipy.io.mmwrite(path, scipy.sparse.coo_array(A), precision=17),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_matrix(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    pencil = inputs.read_pencil(str(path), None, None)
    assert np.array_equal(pencil.A, A)
    by_file = {"frame.csv": ("0", "1", "2")}
    unnamed = {
        "plain.npy",
        "single.npy",
        "fortran.npy",
        "only.npz",
        "sparse.npz",
        "bare.csv",
        "dense.mtx",
        "coordinate.mtx",
    }
    assert pencil.names == (None if name in unnamed else by_file.get(name, ("u", "v", "w")))


def test_A_and_B_from_two_files(tmp_path, capsys):
    a, b = tmp_path / "a.csv", tmp_path / "b.npy"
    a.write_text(csv_text(A, ["u", "v", "w"]))
    np.save(b, B)
    code, out, _ = run(capsys, "solve", "--A", a, "--B", b, "--rho", 0.1, "--json")
    assert code == 0
    assert json.loads(out)["problem"]["lambda_max"] == pytest.approx(
        float(max(np.linalg.eigvals(np.linalg.solve(B, A)).real))
    )


def test_pencil_and_factor_in_one_npz(tmp_path):
    np.savez(tmp_path / "p.npz", A=A, B=B)
    pencil = inputs.read_pencil(str(tmp_path / "p.npz"), None, None)
    assert np.array_equal(pencil.A, A)
    assert np.array_equal(pencil.B, B)
    C = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "c.npz", C=C)
    assert np.allclose(inputs.read_pencil(str(tmp_path / "c.npz"), None, None).dense()[0], C.T @ C)


@pytest.mark.parametrize("name", sorted(inputs.BUNDLED))
def test_every_bundled_name_is_a_pencil(name):
    assert inputs.read_pencil(name, None, None).n >= 2


MTX = b"%%MatrixMarket matrix coordinate "
HEADER = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999, 9999999), }".ljust(
    117
)
HEADER += b"\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"u,v\n", "has a header and no numbers below it"),
        ("a.csv", b"1,2\n3\n", "line 2: 1 entries where 2 are expected"),
        ("a.csv", b"u,v\n1,0\n0,x\n", "line 3, entry 2: 'x' is not a number"),
        ("a.csv", b"u;v\n1,5;0\n0;1\n", "line 2, entry 1: '1,5' is not a number. Write decimals with a point."),
        ("a.csv", b" \n\n \t\n", "a.csv is empty"),
        ("a.csv", b'"u,v\n1,0\n0,1\n', "could not be read as .csv: a quotation mark is opened and never closed"),
        ("a.csv", b",u,v\nu,1,0\nv,0,x\n", "line 3, entry 3: 'x' is not a number"),
        ("a.csv", b"\xff\xfe\x00", "could not be read as .csv: it is not UTF-8 text (byte 1); save it as UTF-8"),
        ("a.csv", b"\n\nu;v\n\n1;x\n0;1\n", "line 5, entry 2: 'x' is not a number"),
        ("a.csv", b"u,v\n1_0,0\n0,1\n", "line 2, entry 1: '1_0' is not a number"),
        ("a.csv", b"1 2\n2 1\n", "has no column of numbers; they are separated by comma, semicolon or tab"),
        ("a.csv", b"u,v\n" + b"1" * 200_000 + b",0\n0,1\n", "field larger than field limit"),
        ("a.csv", b"NA,0\n0,1\n1,1\n", "line 1: 'NA' among numbers is neither a header nor a row"),
        ("a.csv", b"1,\n0,1\n1,1\n", "line 1: '' among numbers is neither a header nor a row"),
        ("a.csv", b"r1,1,0\nr2,0,1\n", "line 1: 'r1' among numbers is neither a header nor a row"),
        ("a.csv", b",u,v\nv,1,0\nu,0,1\n", "and its rows have the same labels in another order"),
        ("a.csv", b"1,nan\nnan,1\n", "A has 2 entries that are NaN or infinite"),
        ("a.csv", b"1,2,3\n4,5,6\n", "holds 2×3 numbers; A must be square"),
        ("a.csv", b"1,2\n3,4\n", "A is not symmetric"),
        ("a.npy", b"not numpy", "it is no array of numbers, or one of pickled objects, which are never loaded"),
        ("a.npy", HEADER, "does not fit in memory: Unable to allocate"),
        ("a.npz", b"not a zip", "could not be read as .npz"),
        ("a.mtx", b"%%nonsense\n", "could not be read as .mtx"),
        ("a.mtx", MTX + b"integer general\n1 1 1\n1 1 99999999999999999999\n", "Integer out of range"),
        ("a.mtx", MTX + b"real general\n9999999 9999999 1\n1 1 1.0\n", "A as a dense matrix is 9999999×9999999"),
        ("a.mtx", MTX + b"complex general\n1 1 1\n1 1 1.0 2.0\n", "A is complex"),
        ("noending", b"1", "has no ending; files are read by their ending"),
        ("a.txt", b"1", "ends in '.txt'; files are read by their ending: .npy, .npz, .csv, .mtx"),
    ],
)
def test_unreadable_files_are_explained(capsys, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    code, out, err = run(capsys, "solve", tmp_path / name, "--rho", 1)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_pickled_arrays_are_not_opened(capsys, tmp_path):
    np.save(tmp_path / "a.npy", np.array([[SimpleNamespace()]], dtype=object), allow_pickle=True)
    code, _, err = run(capsys, "solve", tmp_path / "a.npy", "--rho", 1)
    assert code == 2
    assert "could not be read as .npy" in err


def test_a_misspelt_file_gets_the_nearest(capsys, tmp_path):
    np.save(tmp_path / "covariance.npy", A)
    _, _, err = run(capsys, "solve", tmp_path / "covarience.npy", "--rho", 1)
    assert "did you mean 'covariance.npy'?" in err


def test_names_of_A_and_B_must_agree(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text(csv_text(A, ["u", "v", "w"]))
    b.write_text(csv_text(B, ["u", "w", "v"]))
    with pytest.raises(InvalidParameter, match="differently, first 'v' and 'w'"):
        inputs.read_pencil(None, str(a), str(b))


def test_a_second_B_is_refused(tmp_path):
    np.savez(tmp_path / "p.npz", A=A, B=B)
    np.save(tmp_path / "b.npy", B)
    with pytest.raises(InvalidParameter, match="bring their own B"):
        inputs.read_pencil(str(tmp_path / "p.npz"), None, str(tmp_path / "b.npy"))


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"one": A, "two": B}, "holds the arrays one, two: name one A"),
        ({"B": B}, "holds B and no A: add the array A"),
        ({}, "holds no arrays: name one A"),
    ],
)
def test_arrays_without_an_A_are_refused(tmp_path, arrays, text):
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.raises(InvalidParameter, match=text):
        inputs.read_pencil(str(tmp_path / "p.npz"), None, None)


def test_a_link_to_nothing_is_called_that(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    with pytest.raises(InvalidParameter, match="is a link to a file that does not exist"):
        inputs.read_pencil(str(tmp_path / "a.csv"), None, None)


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.npz", "a.mtx"])
def test_a_pipe_is_not_waited_for(capsys, tmp_path, name):
    os.mkfifo(tmp_path / name)
    assert run(capsys, "solve", tmp_path / name, "--rho", 1)[2].endswith(
        "is a pipe or a device; a file is needed: copy what it gives into one.\n"
    )
    assert run(capsys, "solve", "pitprops", "--rho", 1, "--x0", tmp_path / name)[0] == 2


def test_a_device_is_not_read_without_an_end(capsys, tmp_path):
    (tmp_path / "a.csv").symlink_to("/dev/zero")
    assert "is a pipe or a device" in run(capsys, "solve", tmp_path / "a.csv", "-k", 1)[2]


def test_an_archive_that_unpacks_without_measure_is_refused(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(checks, "MAX_BYTES", 1000)
    np.savez_compressed(tmp_path / "a.npz", A=np.eye(20))
    _, _, err = run(capsys, "solve", tmp_path / "a.npz", "-k", 1)
    assert "A.npy in" in err
    assert "takes 3,328 bytes (> 1,000). Store fewer rows or columns." in err


def test_indices_beyond_the_matrix_are_refused(capsys, tmp_path):
    np.savez(
        tmp_path / "a.npz",
        format=b"csr",
        shape=[2, 2],
        data=[1.0, 1.0],
        indices=[0, 10**6],  # SciPy would write there
        indptr=[0, 1, 2],
    )
    assert "A is not a matrix of numbers: indices must be < 2" in run(capsys, "solve", tmp_path / "a.npz", "-k", 1)[2]


@pytest.mark.parametrize("given", [[""], ["--A", ""], ["pitprops", "--B", ""], ["pitprops", "--x0", ""]])
def test_an_empty_name_is_no_folder(capsys, given):
    code, _, err = run(capsys, "solve", "--rho", 1, *given)
    assert code == 2
    assert "''" in err


def test_names_of_other_files_are_not_listed(tmp_path):
    (tmp_path / "quite_another.csv").write_text("1\n")
    with pytest.raises(InvalidParameter, match=r"zzz.npy does not exist\.$"):
        inputs.read_pencil(str(tmp_path / "zzz.npy"), None, None)


def test_only_line_ends_end_lines(tmp_path):
    (tmp_path / "a.csv").write_text("u\u2028v,w\x0bz\r\n2,1\r\n1,2\r\n", encoding="utf-8", newline="")
    assert inputs.read_pencil(str(tmp_path / "a.csv"), None, None).names == ("u\u2028v", "w\x0bz")


def test_starts(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[0.5], [0.25]]))
    (tmp_path / "x.csv").write_text("0.5,0.25\n")
    scipy.io.mmwrite(tmp_path / "x.mtx", scipy.sparse.coo_array(np.array([[0.5, 0.25]])))
    for text in ("0.5,0.25", *(str(tmp_path / name) for name in ("x.npy", "x.csv", "x.mtx"))):
        assert inputs.read_start(text).tolist() == [0.5, 0.25]
    assert inputs.read_start(None) is None
    np.save(tmp_path / "m.npy", np.eye(2))
    with pytest.raises(InvalidParameter, match="one row or one column"):
        inputs.read_start(str(tmp_path / "m.npy"))


# the pieces


def test_every_command_has_the_two_functions():
    for command in cli.COMMANDS:
        assert callable(command.add)
        assert any(name.startswith("run") and callable(getattr(command, name)) for name in dir(command))
        assert command.__doc__.startswith("`dcgev ")


def test_tiny_numbers():
    assert (tables.tiny(0.0), tables.tiny(2.345e-9)) == ("0", "2.3e-09")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("verify leaves.py:step --level step", "leaves.py could not be imported: SystemExit: 3"),
        ("verify own.py:step --level step --html no/page.html", "--html no/page.html: cannot be written"),
        ("verify own.py:step --level step --html=", "--html = '' must be the path of a file or folder"),
        ("vectors export own.py --level step --quick", "DIR own.py cannot be made a folder"),
        ("vectors check . ", "ANSWERS.json = '' must be the path of a file or folder"),
        ("lab step --port 99999", "--port = 99999 must be a whole number of at least 1 and at most 65535"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_work(capsys, monkeypatch, tmp_path, argv, message):
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    (tmp_path / "own.py").write_text("def step(*given):\n    raise AssertionError('called')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dcgev_cvx.cli.verify.trial", lambda *given: pytest.fail("the trial began"))
    monkeypatch.setattr("dcgev_cvx.cli.lab.replaced_by", lambda words: pytest.fail("the server began"))
    code, out, err = run(capsys, *argv.split(" "))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
