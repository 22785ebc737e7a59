"""The command line as a whole: help, exit codes, streams, and errors that are one line."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from dcgev_cvx import __version__, cli
from dcgev_cvx.cli import main, problem


def test_help_loads_nothing_heavy(in_a_new_process):
    code = "import sys; from dcgev_cvx.cli import main; main(['--help']); print(sorted(sys.modules), file=sys.stderr)"
    done = in_a_new_process("-c", code)
    assert done.returncode == 0
    assert "solve" in done.stdout
    assert "verify" in done.stdout
    for heavy in ("numpy", "scipy", "cvxpy", "rich"):
        assert f"'{heavy}'" not in done.stderr


def test_python_m_is_the_same_command(in_a_new_process):
    done = in_a_new_process("-m", "dcgev_cvx", "--version")
    assert (done.returncode, done.stdout) == (0, f"dcgev {__version__}\n")


def test_json_escapes_what_the_stream_cannot_write(in_a_new_process, tmp_path):
    (tmp_path / "a.csv").write_text("α,β\n2,1\n1,2\n", encoding="utf-8")
    argv = ("-m", "dcgev_cvx", "solve", str(tmp_path / "a.csv"), "--rho", "0.1", "--json")
    done = in_a_new_process(*argv, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert [loading["name"] for loading in json.loads(done.stdout)["loadings"]] == ["α", "β"]


def test_ctrl_c_exits_with_130(run, monkeypatch):
    def interrupt(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(problem, "read_pencil", interrupt)
    assert run("solve", "pitprops", "--rho", 1) == (130, "", "dcgev: interrupted.\n")


def test_ctrl_c_during_the_imports_is_one_line(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupt)
    monkeypatch.setattr(signal, "signal", lambda *_args: None)
    assert import_module("dcgev_cvx.__main__").main() == 130
    assert capsys.readouterr().err == "dcgev: interrupted.\n"


@pytest.mark.skipif(os.name == "nt", reason="signals end processes at once there")
def test_a_signal_ends_the_command_and_its_solver_with_one_line(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import os, pathlib, time\npathlib.Path('pid.part').write_text(str(os.getpid()))\n"
        "os.rename('pid.part', 'pid')\ntime.sleep(60)\n",
        encoding="utf-8",
    )
    argv = [sys.executable, "-m", "dcgev_cvx", "verify", "slow.py:f", "--level", "bound"]
    pid = tmp_path / "pid"
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        while command.poll() is None and not pid.exists():
            time.sleep(0.05)
        command.terminate()
        assert command.communicate(timeout=30) == ("", "dcgev: ended by SIGTERM.\n")
    assert command.returncode == 143
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text(encoding="utf-8")), 0)


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGHUP there")
def test_an_ignored_signal_stays_ignored(in_a_new_process):
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from dcgev_cvx.__main__ import main; "
    code += "import sys; sys.argv[1:] = ['--version']; main(); print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)"
    assert in_a_new_process("-c", code).stdout.endswith("True\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_a_full_disk_does_not_change_the_exit_code():
    argv = [sys.executable, "-m", "dcgev_cvx", "solve", "nowhere", "-k", "2"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        assert subprocess.run(argv, stderr=full, timeout=60, check=False).returncode == 2


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


def test_a_terminal_without_greek_is_no_error(in_a_new_process):
    done = in_a_new_process(
        "-m", "dcgev_cvx", "solve", "pitprops", "--rho", "4.84", env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "? = 4.84" in done.stdout or "?? = 4.84" in done.stdout


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("slove pitprops", "there is no command 'slove'; did you mean 'solve'?"),
        ("solve pitprops", "one of the arguments --rho -k --components is required. See `dcgev solve --help`."),
        (
            "solve pitprops --rho much",
            "argument --rho: 'much' must be a number, such as 4.84. See `dcgev solve --help`.",
        ),
        ("solve pitprops -k 3 --sover SCS", "'--sover' is no argument of `dcgev solve`: did you mean '--solver'?"),
    ],
)
def test_a_wrong_command_line_is_one_line(run, argv, message):
    assert run(*argv.split()) == (2, "", f"dcgev: {message}\n")


def test_a_package_that_is_too_old_is_named(run, monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.6.3")
    assert "dcgev-cvx needs cvxpy 1.7 or newer, got 1.6.3: pip install 'cvxpy>=1.7'." in run("compare")[2]


def test_no_command_shows_the_list_of_commands(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    assert all(f"\n  {name:10} " in out for name in cli.COMMANDS)
    assert max(map(len, out.splitlines())) <= 80


def test_every_command_has_the_two_functions_and_examples_on_lines_of_their_own(run):
    for name in cli.COMMANDS:
        command = import_module(f"dcgev_cvx.cli.{name}_command")
        assert callable(command.add)
        assert any(part.startswith("run") and callable(getattr(command, part)) for part in dir(command))
        assert command.__doc__.startswith(f"`dcgev {name}")
        code, out, _ = run(name, "--help")
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80
        assert f"\nexamples:\n  dcgev {name}" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("verify leaves.py:step --level step", "leaves.py could not be imported: SystemExit: 3"),
        ("verify own.py:step --level step --junit no/page.xml", "--junit no/page.xml: cannot be written"),
        ("verify own.py:step --level step --junit=", "--junit = '' must be the path of a file or folder"),
        ("vectors export own.py --level step", "DIR own.py: this folder cannot be written to"),
        ("vectors check . ", "ANSWERS.json = '' must be the path of a file or folder"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_work(run, monkeypatch, tmp_path, argv, message):
    (tmp_path / "leaves.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    (tmp_path / "own.py").write_text("def step(*given):\n    raise AssertionError('called')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dcgev_cvx.cli.verify_command.check", lambda *given: pytest.fail("the trial began"))
    monkeypatch.setattr("dcgev_cvx.cli.lab_command.replaced_by", lambda words: pytest.fail("the server began"))
    code, out, err = run(*argv.split(" "))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_files_of_the_current_folder_are_not_imported(in_a_new_process, tmp_path):
    for name in ("numpy", "rich", "cvxpy", "scipy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')")
    done = in_a_new_process("-m", "dcgev_cvx", "solve", "pitprops", "-k", "2", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_control_characters_do_not_reach_the_terminal(run, tmp_path):
    evil = "\x1b[2Jred\x9b31m\u202e"
    header = f"{evil},b\n2,1\n1,3\n"
    (tmp_path / "a.csv").write_text(header)
    for argv in (
        ("solve", tmp_path / "a.csv", "-k", 1),
        ("solve", tmp_path / "a.csv", "-k", 1, "--json"),
        ("solve", tmp_path / "a.csv", "--rho", 0.1, "--trace"),
        ("compare", tmp_path / "a.csv", "-k", 1, "--methods", "exact,solve"),
        ("path", tmp_path / "a.csv", "--points", 2),
        ("solve", f"{evil}.csv", "-k", 1),
        ("solve", "pitprops", "-k", 1, f"--{evil}"),
        ("path", "pitprops", "--plot", f"{tmp_path / 'a.csv'}/{evil}.png"),
    ):
        _, out, err = run(*argv)
        assert not {"\x1b", "\x9b", "\u202e"} & {*out, *err}, argv


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_leaves_threads_warnings_and_numpy_as_they_were(run, tmp_path, monkeypatch, error):
    def state():
        threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        return threads, np.geterr(), list(warnings.filters), logging.root.manager.disable

    def fail(*_given, **_settings):
        raise error

    np.save(tmp_path / "A.npy", np.diag(np.arange(100.0)) + 1.0)
    before = state()
    for name in ("numpy.linalg.eigh", "scipy.linalg.eigh", "scipy.linalg.lapack.dpotrf"):
        monkeypatch.setattr(name, fail)
    with suppress(ZeroDivisionError):
        assert run("solve", tmp_path / "A.npy", "-k", 3)[0] == 130
    assert state() == before
