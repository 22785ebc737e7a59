"""Two checkers accept every proof that the search writes, and nothing that is not true."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_problems import null, random_cca

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.budgets import Budget
from dcgev_cvx.datasets import pitprops, planted_pca
from dcgev_cvx.exact import best_subset, branch_and_bound, brute_force, check_proof, root
from dcgev_cvx.exact.check_proof import ProofFile
from dcgev_cvx.exact.proof import matrix_hash

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@pytest.fixture(scope="module")
def in_C(tmp_path_factory):
    """The checker in C, compiled; skipped where there is no compiler."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    program = tmp_path_factory.mktemp("c") / "check_proof"
    source = ROOT / "examples" / "check_proof_c" / "check_proof.c"
    subprocess.run([COMPILER, "-O1", "-std=c11", "-Wall", "-Werror", "-o", program, source, "-lm"], check=True)

    def run(path):
        done = subprocess.run([program, path], capture_output=True, text=True, check=False)
        assert done.returncode == (0 if done.stdout else 1)
        return done.stdout + done.stderr

    return run


def in_numpy(path, *, rational=False):
    """What the checker in Python says."""
    try:
        ProofFile(path, {}, rational).check()
    except Exception as reason:  # as in check_file
        return f"refused: {reason}"
    return "accepted"


def sealed(text):
    """A file with a right checksum, whatever it says."""
    body = text.rpartition("\nend ")[0] + "\n"
    return f"{body}end {hashlib.sha256(body.encode()).hexdigest()}\n"


def planted(monkeypatch):
    """A problem on whose core a relaxation is solved, as for n > 500."""
    for module in (root, branch_and_bound):
        monkeypatch.setattr(module, "CORE_ABOVE", 20)
    monkeypatch.setattr(root, "CORE", 15)
    return best_subset(planted_pca(40, 4, samples=300, strength=6.0).pencil, 4)


def relaxed(monkeypatch, pencil, k, **limits):
    """Solved by the second tree down to small leaves."""
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", 500.0)
    monkeypatch.setattr(branch_and_bound, "CHEAP_NODES", 0)
    return best_subset(pencil, k, **limits)


def cca():
    """Two views, B not the identity."""
    return Pencil(*random_cca().dense(), blocks=(7, 7))


CASES = {
    "brute force": lambda patch: brute_force(pitprops(), 4),
    "all supports": lambda patch: best_subset(pitprops(), 5),
    "first tree": lambda patch: best_subset(planted_pca(60, 5, samples=240).pencil, 5),
    "relaxed tree": lambda patch: relaxed(patch, null(12), 4),
    "closed at the root": lambda patch: best_subset(planted_pca(30, 8, samples=400, strength=4.0).pencil, 8),
    "a metric": lambda patch: relaxed(patch, cca(), 4),
    "a budget per view": lambda patch: relaxed(patch, cca(), (2, 3)),
    "brute force per view": lambda patch: brute_force(cca(), (2, 2)),
    "three groups": lambda patch: relaxed(
        patch, cca(), Budget.of(cca(), [1, 2, 2], groups=[range(4), range(4, 9), range(9, 14)])
    ),
    "a core": planted,
    "stopped by nodes": lambda patch: relaxed(patch, null(20), 6, node_limit=9),
    "stopped at once": lambda patch: best_subset(null(30), 8, time_limit=0),
    "a factor": lambda patch: best_subset(Pencil(Gram(np.random.default_rng(2).standard_normal((6, 15)))), 4),
    "an optimum of zero": lambda patch: best_subset(Pencil(np.diag([0.0, -1.0, -2.0]), np.diag([1.0, 2.0, 3.0])), 2),
    "negative": lambda patch: relaxed(patch, Pencil(-np.diag([5.0, 4.0, 3.0, 2.0, 6.0]) - 0.1), 2),
    "large units": lambda patch: best_subset(Pencil(1e120 * null(15).A, 1e-60 * np.eye(15)), 4),
    "ill-conditioned": lambda patch: best_subset(Pencil(null(8).A, np.diag(10.0 ** -np.arange(8.0))), 3),
}


@pytest.mark.parametrize("case", CASES)
def test_every_proof_is_accepted_by_both_checkers(case, in_C, monkeypatch, tmp_path):
    found, path = CASES[case](monkeypatch), tmp_path / "proof"
    found.proof.save(path, matrices=True)
    assert in_numpy(path) == "accepted"
    assert in_C(path).startswith("accepted: n = ")
    if len(found.x) <= 15:
        assert in_numpy(path, rational=True) == "accepted"


@pytest.fixture(scope="module")
def proof_texts(tmp_path_factory):
    """Proofs with their matrices, of a tree with a relaxation, with views, and of an enumeration."""
    path, texts = tmp_path_factory.mktemp("proofs") / "proof", {}
    with pytest.MonkeyPatch.context() as patch:
        for name, (pencil, k) in {"tree": (null(13), 6), "views": (cca(), (2, 3))}.items():
            relaxed(patch, pencil, k).proof.save(path, matrices=True)
            texts[name] = path.read_text()
    best_subset(pitprops(), 4).proof.save(path, matrices=True)
    return texts | {"list": path.read_text()}


def edited(text, name, change):
    """The text with one line changed."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.split(" ")[0] == name)
    lines[at] = change(lines[at])
    return "\n".join(line for line in lines if line is not None)


def scaled(factor):
    """Change of a line of a name and one number."""
    return lambda line: f"{line.split()[0]} {float(line.split()[1]) * factor!r}"


DAMAGES = {
    "a bound below the value": ("bound", scaled(0.99), "the value exceeds the bound"),
    "a value that is not attained": ("value", scaled(1.0 + 1e-14), "the vector does not attain the value"),
    "another vector": ("x", lambda line: line.replace("x ", "x 9", 1), "the vector does not attain the value"),
    "one more nonzero": ("counts", lambda line: f"counts {int(line.split()[1]) + 1}{line[8:]}", "not proved"),
    "another label": ("labels", lambda line: f"{line[:-1]}1", "do not fit|wrong number"),
    "an entry of A": ("matrix_A", lambda line: line.replace("matrix_A 1.", "matrix_A 2.", 1), "about another A"),
    "a split dropped": ("split", lambda line: None, "not proved|is not free|after the end|not complete"),
    "a variable that is not free": ("split", lambda line: "split 999", "is not free|wrong number"),
    "small charges": ("dual", scaled(1e-3), "not proved to be positive semidefinite"),
    "no bound": ("bound", lambda line: "bound inf", "numbers expected"),
    "a bound too large for a float": ("bound", lambda line: "bound 1e999", "wrong number|numbers expected"),
    "nonsense": ("bound", lambda line: "bound one", "numbers expected"),
    "no support": ("support", lambda line: "support", "instead of"),
    "an order that does not ascend": ("support", lambda line: "support 1 0 2 3 4 5", "wrong number|must ascend"),
    "a number of variables that does not fit": ("n", lambda line: "n 14", "instead of"),
    "a number that no machine holds": ("counts", lambda line: f"counts {10**400}", "wrong number|numbers expected"),
    "a number with an underscore": ("counts", lambda line: "counts 0_6", "numbers expected"),
    "charges that are not numbers": ("charges", lambda line: line.replace(" ", " nan ", 1), "numbers expected"),
    "a charge dropped": ("charges", lambda line: line.rpartition(" ")[0], "instead of|wrong number of charges"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_false_proof_is_refused_with_the_reason(damage, proof_texts, in_C, tmp_path):
    name, change, reason = DAMAGES[damage]
    path = tmp_path / "proof"
    path.write_text(sealed(edited(proof_texts["tree"], name, change)))
    for said in (in_numpy(path), in_C(path)):
        assert said.startswith("refused: ")
        assert any(part in said for part in reason.split("|"))


def test_a_tree_without_one_of_its_lines_is_refused(proof_texts, in_C, tmp_path):
    path = tmp_path / "proof"
    for text in proof_texts.values():
        head, _, tree = text.partition("\ntree\n")
        steps = tree.split("\n")[:-2]
        kept = [i for i, step in enumerate(steps) if not step.startswith("screen")]  # the rest may hold without it
        for i in kept[:: max(1, len(kept) // 5)]:
            path.write_text(sealed("\n".join([head, "tree", *steps[:i], *steps[i + 1 :], "end 0", ""])))
            assert in_numpy(path).startswith("refused: ")
            assert in_C(path).startswith("refused: ")


@pytest.mark.parametrize("charge", [1e150, 1e154, 1e308])
def test_charges_that_overflow_prove_nothing(charge, in_C, tmp_path):
    """Scaled by zero, as numbers that overflow once were, every matrix is positive semidefinite."""
    A, B = np.ones((3, 3)), 2.0**-540 * np.eye(3)
    lines = ["dcgev-proof 1", "n 3", f"A {matrix_hash(A)}", f"B {matrix_hash(B)}", "counts 2", "labels 0 0 0"]
    lines += ["support 0", "x 1.0", f"value {2.0**540!r}", f"bound {2.0**540!r}"]  # the optimum is twice as large
    lines += [f"matrix_{name} {' '.join(map(repr, M.ravel().tolist()))}" for name, M in (("A", A), ("B", B))]
    lines += ["dual 1.0", "variables 0 1 2", f"charges {' '.join([repr(charge)] * 9)}", "tree", "bound 1", "end 0", ""]
    path = tmp_path / "proof"
    path.write_text(sealed("\n".join(lines)))
    assert "not proved to be positive semidefinite" in in_numpy(path)
    assert "not proved to be positive semidefinite" in in_C(path)


def test_damage_on_the_way_is_refused(proof_texts, in_C, tmp_path):
    text, path, rng = proof_texts["tree"], tmp_path / "proof", np.random.default_rng(0)
    for _ in range(6):
        i = int(rng.integers(14, len(text) - 70))
        path.write_text(f"{text[:i]}{'7' if text[i] != '7' else '3'}{text[i + 1 :]}")
        assert in_numpy(path) == "refused: damaged: the checksum differs"
        assert in_C(path) == "refused: damaged: the checksum differs\n"
    for content in ("", "dcgev-proof 1\n", text[: len(text) // 2], "PK\x03\x04", text.replace("dcgev", "other")):
        path.write_text(content)
        assert in_numpy(path) == "refused: it is not a proof file, or it ends early"
        assert in_C(path) == "refused: it is not a proof file, or it ends early\n"


def claim_is_true(text, found_values):
    """Does the text claim a bound that brute force confirms, and a value that some support of it has?"""
    lines = dict(line.partition(" ")[::2] for line in text.partition("\ndual")[0].partition("\ntree")[0].split("\n"))
    n, counts = int(lines["n"]), [int(c) for c in lines["counts"].split()]
    labels = np.array([int(g) for g in lines["labels"].split()])
    A = np.array(lines["matrix_A"].split(), dtype=float).reshape(n, n)
    B = np.eye(n) if lines["B"] == "identity" else np.array(lines["matrix_B"].split(), dtype=float).reshape(n, n)
    key = (lines["A"], lines["B"], *counts, *labels.tolist())
    if key not in found_values:
        pencil = Pencil(A, B)
        budget = Budget.of(pencil, counts, groups=[np.flatnonzero(labels == g).tolist() for g in range(len(counts))])
        found_values[key] = brute_force(pencil, budget).value
    truth = found_values[key]
    return float(lines["value"]) <= truth + 1e-12 * abs(truth) and float(lines["bound"]) >= truth - 1e-12 * abs(truth)


def number_below(number, rng):
    """A number that is a little smaller: from one unit in the last place to all of it."""
    return rng.choice([np.nextafter(number, -np.inf), number - 10.0 ** -rng.uniform(1, 12) * abs(number)])


def altered(text, rng):
    """A proof changed by someone who wants it to say more than is true, with a checksum that is right."""
    lines = text.split("\n")[:-2]
    heads = [line.split(" ")[0] for line in lines]
    root = heads.index("tree") + 1

    def at(name):
        places = [i for i, head in enumerate(heads) if head == name]
        return int(rng.choice(places)) if places else None

    def digit():
        i = int(rng.integers(1, len(lines)))
        words = lines[i].split(" ")
        j = int(rng.integers(len(words)))
        place = int(rng.integers(len(words[j])))
        words[j] = words[j][:place] + str(rng.integers(10)) + words[j][place + 1 :]
        lines[i] = " ".join(words)

    def line():
        i, j = rng.integers(1, len(lines), size=2)
        lines[i : i + int(rng.integers(2))] = [lines[j]] * int(rng.integers(2))

    def leaf():  # instead of a split, one of its branches: the other is not covered
        i = at("split") or at("list")
        del lines[i if rng.random() < 0.5 else int(rng.integers(root, len(lines)))]

    def order():
        i, j = rng.integers(root, len(lines), size=2)
        lines[i], lines[j] = lines[j], lines[i]

    def reason():  # the dual of another leaf, U = 0, or no enumeration
        i = at(rng.choice(["bound", "list"])) or at("list")
        lines[i] = f"bound {rng.integers(heads.count('dual') + 1)}"

    def screened():  # more variables, or one twice
        i = at("screen")
        if i is not None:
            lines[i] += f" {rng.integers(13)}"
        else:
            lines.insert(root, f"screen {rng.integers(heads.count('dual') + 1)} {rng.integers(13)}")

    def charge():
        i = at("charges")
        if i is not None:
            charges = lines[i].split(" ")
            j = int(rng.integers(1, len(charges)))
            new = [0.0, -float(charges[j]), 1e300, 1e-320, 10.0 ** rng.uniform(-9, 2) * float(charges[j])]
            charges[j] = rng.choice([*map(repr, new), "nan", "inf", "1e999", "0x10", "1_0", "five", "9" * 400])
            lines[i] = " ".join(charges)

    def ends():  # a bound below the truth, a value above it
        i = heads.index("bound")
        lines[i] = f"bound {float(number_below(float(lines[i].split()[1]), rng))!r}"
        value = heads.index("value")
        if rng.random() < 0.5:
            lines[value] = f"value {float(-number_below(-float(lines[value].split()[1]), rng))!r}"

    def budget():
        i = heads.index(str(rng.choice(["counts", "labels"])))
        numbers = lines[i].split(" ")
        numbers[int(rng.integers(1, len(numbers)))] = str(rng.integers(-1, 4))
        lines[i] = " ".join(numbers)

    def matrix():  # another pencil, with the hashes that belong to it
        i = at(rng.choice(["matrix_A", "matrix_B"])) or at("matrix_A")
        name, n = heads[i][-1], int(lines[1].split()[1])
        M = np.array(lines[i].split(" ")[1:], dtype=float).reshape(n, n)
        p, q = rng.integers(n, size=2)
        M[p, q] = M[q, p] = M[p, q] * (1.0 + 10.0 ** rng.uniform(-9, 1))
        if rng.random() < 0.1:
            M[p, q] = rng.choice([np.nan, np.inf, 1.0])
        lines[i] = f"matrix_{name} {' '.join(map(repr, M.ravel().tolist()))}"
        lines[heads.index(name)] = f"{name} {matrix_hash(M)}"

    def metric():
        lines[heads.index("B")] = "B identity"

    def cut():
        del lines[int(rng.integers(1, len(lines))) :]

    changes = [digit, line, leaf, order, reason, screened, charge, ends, budget, matrix, metric, cut]
    changes[rng.choice(len(changes), p=np.array([2, 1, 3, 1, 2, 2, 3, 3, 1, 3, 0.2, 0.8]) / 22)]()
    return sealed("\n".join([*lines, "end 0", ""]))


def falsified(proof_texts, in_C, tmp_path, count):
    """Alter proofs: both checkers agree, and what they still accept is true. How many were refused."""
    path, rng, refused, values = tmp_path / "proof", np.random.default_rng(3), 0, {}
    texts = list(proof_texts.values())
    for _ in range(count):
        text = altered(texts[rng.integers(len(texts))], rng)
        path.write_text(text)
        no = [said.startswith("refused: ") for said in (in_numpy(path), in_C(path))]
        assert no[0] == no[1], text
        assert no[0] or claim_is_true(text, values)
        refused += no[0]
    return refused


def test_what_is_accepted_is_true(proof_texts, in_C, tmp_path):
    assert falsified(proof_texts, in_C, tmp_path, 40) > 20


@pytest.mark.slow
def test_what_is_accepted_of_a_thousand_altered_proofs_is_true(proof_texts, in_C, tmp_path):
    assert falsified(proof_texts, in_C, tmp_path, 1000) > 500


def test_the_script_shares_nothing_with_the_package_and_reads_matrices_from_a_file(tmp_path):
    found = best_subset(null(14), 5)
    found.proof.save(tmp_path / "proof")
    np.savez(tmp_path / "both.npz", A=null(14).A)
    np.savez(tmp_path / "other.npz", A=null(14, rng=1).A)
    script = shutil.copy(check_proof.__file__, tmp_path / "check_proof.py")

    def run(*words):
        command = [sys.executable, "-I", script, tmp_path / "proof", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        return done.returncode, done.stdout + done.stderr

    assert run("--matrices", tmp_path / "both.npz")[0] == 0
    assert "dcgev_cvx" not in Path(script).read_text().replace("dcgev_cvx/exact/check_proof.py", "")
    assert run()[1] == "refused: A is not in the file: give it by --matrices FILE.npz\n"
    assert run("--matrices", tmp_path / "other.npz") == (1, "refused: the proof is about another A (its hash)\n")
    np.savez(tmp_path / "metric.npz", A=null(14).A, B=2.0 * np.eye(14))
    assert run("--matrices", tmp_path / "metric.npz")[1] == "refused: the proof is about B = I\n"
    found.proof.save(tmp_path / "proof", matrices=True)
    assert run()[0] == 0
    assert run("--matrices", tmp_path / "other.npz")[0] == 1
    assert run("--matrices", tmp_path / "absent.npz")[1].startswith("refused: ")
    assert run("--matrices", tmp_path / "proof")[1].startswith("refused: ")
