"""`dcgev solve`: what is printed, how it ends, and what is refused."""

import json

import numpy as np
import pytest

from dcgev_cvx import components, datasets, sparse_gev
from dcgev_cvx.exact.check_proof import ProofFile


def test_solve_pitprops(run):
    code, out, err = run("solve", "pitprops", "--rho", 4.84)
    assert (code, err) == (0, "")
    for name in ("topdiam", "length", "ringbut", "bowmax", "bowdist", "whorls"):
        assert name in out
    assert "moist" not in out
    assert "6 of 13" in out
    assert "3.77096, 89.39% of λmax(A,B) = 4.21863" in out
    assert "converged" in out
    assert "stationarity" in out


def test_many_loadings_are_cut_with_a_word(run, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.eye(60) + 1.0)
    code, out, _ = run("solve", path, "--rho", 0)
    assert code == 0
    assert "and 20 more; --json lists all" in out


def test_trace_is_the_audit(run):
    _, out, _ = run("solve", "pitprops", "--rho", 4.84, "--trace")
    lines = out.splitlines()
    assert lines[0].split() == ["l", "f(x)", "g(x,y)", "g-f", "step", "nnz", "mu", "KKT", "solver"]
    rows = [line.split() for line in lines[1:] if line and line.split()[0].isdigit() and len(line.split()) == 9]
    assert [int(row[0]) for row in rows] == list(range(len(rows)))
    assert len(rows) == sparse_gev(datasets.pitprops(), rho=4.84).n_iter + 1
    f = [float(row[1]) for row in rows]
    assert f == sorted(f, reverse=True)
    assert all(float(row[3]) >= -1e-12 for row in rows)
    assert all(float(row[7]) <= 1e-12 and row[8] == "CLARABEL" for row in rows[1:])


def test_json_is_json_and_nothing_else(run):
    code, out, err = run("solve", "pitprops", "--rho", 4.84, "--json", "--trace")
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
    assert "history" not in json.loads(run("solve", "pitprops", "--rho", 4.84, "--json")[1])


@pytest.mark.parametrize("engine", ["cvxpy", "native"])
def test_a_trace_is_json_with_every_engine(run, engine):
    code, out, _ = run("solve", "pitprops", "--rho", 4.84, "--json", "--trace", "--engine", engine)
    history = json.loads(out)["history"]
    assert code == 0
    assert all(len(step["x"]) == 13 for step in history)
    assert any(step["origin"] is not None for step in history) is (engine == "native")


def test_settings_reach_the_program(run):
    argv = ["solve", "indefinite", "--rho", 0.3, "--eps", 0.01, "--tau", 9, "--shift", "metric", "--solver", "scs"]
    code, out, _ = run(*argv, "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["problem"]["eps"], data["problem"]["tau"], data["problem"]["shift"]) == (0.01, 9.0, "metric")
    assert list(data["solvers"]) == ["SCS"]


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
def test_a_run_without_convergence_exits_with_1_and_says_why(run, argv, sentence, output):
    code, out, err = run("solve", "pitprops", *argv, *output)
    assert code == 1
    assert err == f"dcgev: {sentence}\n"
    if output:
        assert json.loads(out)["converged"] is False


def test_a_failing_solver_exits_with_1_and_says_what_happened(run, monkeypatch):
    import cvxpy as cp

    def fail(*_args, **_settings):
        raise cp.SolverError("no more memory")

    monkeypatch.setattr(cp.Problem, "solve", fail)
    code, out, err = run("solve", "pitprops", "--rho", 1)
    assert code == 1
    assert "no more memory" in " ".join(out.split())
    assert "try another --solver" in err


BAD = [
    (["solve", "pitprops", "-k", "four"], "argument -k: 'four' must be a whole number such as 4, or per view 5+5"),
    (["solve", "pitprops", "-k", "2+2"], "the pencil has none"),
    (["solve", "pitprops", "-k", 2, "--proof", "p"], "--proof belongs to -k with --exact."),
    (["solve", "pitprops", "-k", 2, "--exact", "--proof", "."], "--proof ."),
    (["solve", "pitprops", "--rho", 1, "--exact"], "--exact proves the optimum for one k: give -k."),
    (["solve", "pitprops", "--components", "2,2", "--exact"], "--exact proves the optimum for one k: give -k."),
    (["solve", "pitprops", "-k", 2, "--exact", "--effort", "high"], "--effort belongs to -k and --components."),
    (["solve", "pitprops", "-k", 2, "--exact", "--time-limit", -1], "time_limit = -1 is out of range"),
    (["solve", "pitprops", "--rho", 1, "--solver", "FOO"], "solver 'FOO' is unknown; known: "),
    (["--versoin"], "dcgev has no option '--versoin': did you mean '--version'?"),
    (["--A", "a.csv"], "dcgev has no option '--A': a command comes first, as in `dcgev compare --A …`."),
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
    (["solve", "pitprops", "--rho", 1, "--x0", "x.npy"], "argument --x0: 'x.npy' must be numbers with commas"),
    (["solve", "pitprops", "--rho", 1, "--x0", ",".join(["1"] * 13)], "x0 lies outside Ω: x0ᵀBx0 = 13 > 1"),
]


@pytest.mark.parametrize(
    ("argv", "message"), BAD, ids=lambda value: " ".join(map(str, value))[:50] if isinstance(value, list) else ""
)
def test_bad_input_is_one_line(run, tmp_path, monkeypatch, argv, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*argv)
    assert code == 2
    assert out == ""
    assert err.startswith("dcgev: ")
    assert err.count("\n") == 1
    assert message in err


# -k and --components


def test_solve_for_a_cardinality(run):
    code, out, err = run("solve", "pitprops", "-k", 4)
    assert (code, err) == (0, "")
    assert "2.93748, 69.63% of λmax(A,B)" in out
    assert "22.60% of tr(A)" in out
    assert "no ρ̃ tried gives this k" in out
    assert out.startswith("The best 4 of 13 variables: length, topdiam, bowdist and whorls. They explain")
    assert "22.6% of the variance, and no other 4 explain more (all 715 tried)." in " ".join(out.split())
    assert max(len(line) for line in out.splitlines()) <= 80


def test_without_all_supports_nothing_is_called_the_best(run, tmp_path):
    path = tmp_path / "a.npy"
    G = np.random.default_rng(0).standard_normal((60, 60))
    np.save(path, G @ G.T)
    _, out, _ = run("solve", path, "-k", 8)
    assert out.startswith("8 of 60 variables: ")
    assert "Whether others are better is not known" in " ".join(out.split())


def test_a_number_per_view_is_shown_with_the_views(run):
    code, out, _ = run("solve", "planted-cca", "-k", "2+2")
    assert code == 0
    words = " ".join(out.split())
    assert "Their correlation is 0.5333, and no other 2+2 have a larger correlation (all 36,100 tried)." in words
    assert {line.split()[1] for line in out.splitlines() if "█" in line} == {"X", "Y"}


def test_solve_for_several_components(run):
    code, out, err = run("solve", "pitprops", "--components", "6,2,2,1,1,1")
    assert (code, err) == (0, "")
    assert "projector trace  77.05% of tr(A)" in out
    assert "plain sum        80.19% of tr(A)" in out
    assert "orthogonalized-hotelling" in out
    assert max(len(line) for line in out.splitlines()) <= 80


def test_json_is_the_library_s_answer(run_json):
    made = run_json("solve", "pitprops", "--components", "3,2", "--deflation", "schur")
    found = components(datasets.pitprops(), [3, 2], deflation="schur")
    assert [part["value"] for part in made["components"]] == list(found.values)
    assert made["explained"]["projector_trace"] == found.projector_trace().tolist()
    assert made["deflation"] == "schur"


def test_the_loadings_and_everything_are_written(run, tmp_path):
    code, _, err = run("solve", "pitprops", "-k", 4, "--out", tmp_path / "x.csv")
    assert code == 0
    assert "x.csv is written." in err
    rows = [line.split(",") for line in (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["variable", "x"]
    assert len(rows) == 14
    assert sum(float(value) != 0.0 for _, value in rows[1:]) == 4
    run("solve", "pitprops", "--rho", 4.84, "--out", tmp_path / "run.json")
    made = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert made["converged"] is True
    assert run("solve", "pitprops", "-k", 4, "--out", tmp_path / "x.txt")[0] == 2


def test_loadings_are_drawn(run, tmp_path):
    for argv in (("-k", 4), ("--components", "2,2"), ("--rho", 4.84)):
        file = tmp_path / f"{argv[0].strip('-')}.svg"
        assert run("solve", "pitprops", *argv, "--plot", file)[0] == 0
        assert "topdiam" in file.read_text(encoding="utf-8") or "<svg" in file.read_text(encoding="utf-8")


def test_columns_of_different_scale_get_a_hint_that_scale_answers(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4)) * [1.0, 1.0, 1000.0, 1.0]
    lines = ["a,b,c,d", *(",".join(map(str, row)) for row in X)]
    (tmp_path / "x.csv").write_text("\n".join(lines), encoding="utf-8")
    _, out, err = run("solve", tmp_path / "x.csv", "--task", "pca", "-k", 1)
    assert "c varies" in err
    assert "--scale" in err
    assert "of 4 variables: c." in out
    assert run("solve", tmp_path / "x.csv", "--task", "pca", "-k", 1, "--scale")[2] == ""


def test_fda_is_scaled_too_and_its_value_stays(run_json, tmp_path):
    rng = np.random.default_rng(1)
    y = np.repeat(["u", "v"], 30)
    X = rng.standard_normal((60, 3)) * [1.0, 10.0, 1.0] + (y == "u")[:, None]
    lines = ["a,b,c,kind", *(",".join([*map(str, row), label]) for row, label in zip(X, y, strict=True))]
    (tmp_path / "x.csv").write_text("\n".join(lines), encoding="utf-8")
    argv = ("solve", tmp_path / "x.csv", "--task", "fda", "--y", "kind", "-k", 2)
    plain, scaled = run_json(*argv)["components"][0], run_json(*argv, "--scale")["components"][0]
    assert scaled["value"] == pytest.approx(plain["value"], rel=1e-9)
    assert scaled["support"] == plain["support"]


def test_the_optimum_is_proved_and_its_proof_can_be_checked(run, tmp_path):
    path = tmp_path / "proof"
    code, out, err = run("solve", "pitprops", "-k", 6, "--exact", "--proof", path)
    assert code == 0
    assert "no other 6 explain more" in out
    assert f"{path} is written." in err
    check = ProofFile(str(path), {}, False)
    check.check()
    assert check.value == pytest.approx(3.7709596)


def test_a_proof_that_a_limit_ends_says_how_far_it_came(run, tmp_path):
    np.save(tmp_path / "a.npy", np.corrcoef(np.random.default_rng(0).standard_normal((60, 40)).T))
    words = ("solve", "--A", tmp_path / "a.npy", "-k", 9, "--exact", "--time-limit", 0)
    code, out, _ = run(*words)
    assert code == 1
    assert "is not known" in out
    assert "stopped by the time limit" in " ".join(out.split())
    code, out, _ = run(*words, "--json")
    exact, component = json.loads(out)["exact"], json.loads(out)["components"][0]
    assert exact["status"] == "OUT_OF_TIME"
    assert exact["upper_bound"] > component["value"]
