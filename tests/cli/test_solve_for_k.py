"""`dcgev solve -k` and `--components`."""

from dcgev_cvx import components, datasets


def test_solve_for_a_cardinality(run):
    code, out, err = run("solve", "pitprops", "-k", 4)
    assert (code, err) == (0, "")
    assert "2.93748, 69.63% of λmax(A,B)" in out
    assert "22.60% of tr(A)" in out
    assert "no ρ̃ tried gives this k" in out
    assert max(len(line) for line in out.splitlines()) <= 80


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
