"""The three rules for .csv files, and the options that override them."""

import json

import numpy as np
import pandas as pd
import pytest

from dcgev_cvx import cca_pencil, fda_pencil, pca_pencil
from dcgev_cvx.cli.csv_files import CsvOptions, read_csv
from dcgev_cvx.errors import InvalidParameter

rng = np.random.default_rng(5)
FRAME = pd.DataFrame(rng.standard_normal((12, 3)).round(3), columns=["u", "v", "w"])
PLAIN = FRAME.to_csv(index=False)
NAMED = FRAME.set_axis([f"s{i}" for i in range(12)])

LAYOUTS = {
    "plain": (PLAIN, ""),
    "index of pandas": (FRAME.to_csv(), "column 1 holds row names ('0', …)"),
    "read and written again": (FRAME.to_csv().replace(",u", "Unnamed: 0,u", 1), "column 1 holds row names ('0', …)"),
    "row names": (NAMED.to_csv(), "column 1 holds row names ('s0', …)"),
    "named row names": (NAMED.to_csv(index_label="sample"), "column 1 holds row names ('s0', …)"),
    "byte order mark": ("\ufeff" + PLAIN, ""),
    "Windows": (PLAIN.replace("\n", "\r\n"), ""),
    "tabs": (PLAIN.replace(",", "\t"), ""),
    "semicolons": (PLAIN.replace(",", ";"), ""),
    "spaces": (PLAIN.replace(",", ", "), ""),
    "empty rows at the end": (PLAIN + ",,\n,,\n\n", ""),
    "quoted": (FRAME.to_csv(index=False, quoting=1), ""),
}


def read(path, text, **options):
    """The table of a file and the notes on how it was understood."""
    path.write_bytes(text.encode())
    settings = CsvOptions(**options)
    return read_csv(path, settings), " ".join(settings.notes)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_numbers(tmp_path, layout):
    text, note = LAYOUTS[layout]
    table, notes = read(tmp_path / "X.csv", text)
    assert np.array_equal(table.numbers(), FRAME.to_numpy())
    assert table.header == ["u", "v", "w"]
    assert note in notes
    assert bool(notes) == bool(note)


@pytest.mark.parametrize("names", [[0, 1, 2], [1, 2, 3]])
@pytest.mark.parametrize("index", [True, False])
def test_a_header_that_counts_is_no_sample(tmp_path, names, index):
    table, notes = read(tmp_path / "X.csv", FRAME.set_axis(names, axis=1).to_csv(index=index))
    assert np.array_equal(table.numbers(), FRAME.to_numpy())
    assert table.header == [str(name) for name in names]
    assert "--no-header if it is data" in notes


@pytest.mark.parametrize("text", ["1.5,2.5\n0.5,1.0\n", "2,1,0\n1,2,1\n0,1,2\n", "5.5\n", "1\n2\n", "1990,1991\n3,4\n"])
def test_any_other_first_line_of_numbers_is_a_row(tmp_path, text):
    table, notes = read(tmp_path / "X.csv", text)
    assert table.header is None
    assert len(table.lines) == text.count("\n")
    assert notes == ""


def test_a_semicolon_in_a_quoted_name_is_no_separator(tmp_path):
    table, _ = read(tmp_path / "X.csv", '"u;t",v\n1.5,2\n3,4.5\n')
    assert (table.header, table.numbers().tolist()) == (["u;t", "v"], [[1.5, 2.0], [3.0, 4.5]])


def test_nothing_is_a_comment(tmp_path):
    """A sample whose first cell was #N/A used to be left out in silence, or taken for the header."""
    with pytest.raises(InvalidParameter, match=r"line 3, column 'u': '#N/A' is not a number"):
        read(tmp_path / "X.csv", "u,v\n1,2\n#N/A,3\n4,5\n")[0].numbers()
    with pytest.raises(InvalidParameter, match=r"line 1, column 1: '#N/A' is not a number"):
        read(tmp_path / "X.csv", "#N/A,2\n1,3\n4,5\n")[0].numbers()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u,v\n1,x\n", "line 2, column 'v': 'x' is not a number. Correct or drop the line, or pass --drop COLUMN"),
        ("u,v\n1,\n", "line 2, column 'v': '' is not a number"),
        ("kind,u\na,1.5\n3,2.5\n", "line 2, column 'kind': 'a' is not a number"),
        ("a;b\n1,5;2\n2,5;3.5\n", "'1,5' is not a number. Correct or drop the line, or pass --drop COLUMN, --index"),
        ("p,b\n5%,2\n6 %,3.5\n", "'5%' is not a number"),
        ("u,v\n1_0,2\n3,4\n", "'1_0' is not a number"),
        ("u,v\n1,2\0\n", "is not a number"),
        ('u,v\n1,"1,234.5"\n', "'1,234.5' is not a number"),
        ("u,v,\n1,2,\n", "column '' has no name: name it, or pass --drop COLUMN"),
        (",Unnamed: 0,u\n0,0,1.5\n1,1,2.5\n", "column 'Unnamed: 0' has no name"),
        ("x\n1,5\n2,5\n", "line 2: 2 entries where the first line has 1"),
        ("u,v\na,1.5,2\nb,3,4\n", "name each column in the header, row names too"),
        ("u,v\n", "has a header and no numbers below it"),
        (" \n\n \t\n", "is empty"),
    ],
)
def test_what_is_no_number_is_an_error_with_its_place_and_a_remedy(tmp_path, text, message):
    with pytest.raises(InvalidParameter) as caught:
        read(tmp_path / "X.csv", text)[0].numbers()
    assert message in str(caught.value)


def test_options_override_the_rules(tmp_path):
    path, ids = tmp_path / "X.csv", "id,u\n1,1.5\n2,2.5\n"
    assert read(path, "0,1,2\n3,1,4\n")[0].numbers().shape == (1, 3)
    assert read(path, "0,1,2\n3,1,4\n", header=False)[0].numbers().shape == (2, 3)
    assert read(path, "5,5\n1,2\n", header=True)[0].header == ["5", "5"]
    for chosen, width in (("id", 1), ("1", 1), ("none", 2)):
        assert read(path, ids, index=chosen)[0].numbers().shape == (2, width)
    table, notes = read(path, "name,u,v\na,1,x\nb,2,y\n", drop=("v",))
    assert (table.index, table.numbers().tolist()) == (["a", "b"], [[1.0], [2.0]])
    assert "row names" in notes
    table, notes = read(path, "name,u,v\na,1,x\nb,2,y\n", drop=("1", "3"))
    assert (table.index, table.header, notes) == (None, ["u"], "")
    table, _ = read(path, "1,5;-2,25\n3;1e3\n", decimal=",")
    assert table.numbers().tolist() == [[1.5, -2.25], [3.0, 1000.0]]
    with pytest.raises(InvalidParameter, match=r"has no column 'ix' \(--index-column\); known: id, u"):
        read(path, ids, index="ix")
    with pytest.raises(InvalidParameter, match=r"'1\.234,5' is not a number"):
        read(path, "u;v\n1.234,5;2\n", decimal=",")[0].numbers()


def test_a_column_to_drop_must_be_in_one_of_the_files(run, tmp_path):
    NAMED.assign(t="text").to_csv(tmp_path / "X.csv")
    NAMED.rename(columns=str.upper).to_csv(tmp_path / "Y.csv")
    argv = ("solve", "--task", "cca", "--X", tmp_path / "X.csv", "--Y", tmp_path / "Y.csv", "--ridge", 0.1, "-k", 2)
    assert run(*argv, "--drop", "t", "--json")[0] == 0
    code, _, err = run(*argv, "--drop", "t", "--drop", "s")
    assert code == 2
    assert "--drop s: no .csv file that was read has such a column" in err


def test_rows_are_matched_by_name(run, tmp_path):
    Y = (NAMED @ [[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]] + rng.standard_normal((12, 2))).set_axis(["p", "q"], axis=1)
    NAMED.to_csv(tmp_path / "X.csv")
    Y.iloc[rng.permutation(12)].to_csv(tmp_path / "Y.csv")
    argv = ("solve", "--task", "cca", "--X", tmp_path / "X.csv", "--Y", tmp_path / "Y.csv", "--ridge", 0.1)
    code, out, err = run(*argv, "-k", 5, "--json")
    assert code == 0
    assert "matched by their names" in err
    assert [*json.loads(out)["components"][0]["loadings"]] == ["u", "v", "w", "p", "q"]
    found = json.loads(out)["problem"]["lambda_max"]
    assert found == pytest.approx(cca_pencil(NAMED.to_numpy(), Y.to_numpy(), ridge=0.1).lambda_max)
    Y.set_axis([f"t{i}" for i in range(12)]).to_csv(tmp_path / "Y.csv")
    code, _, err = run(*argv, "-k", 2)
    assert code == 2
    assert "have different row labels ('s0' …)" in err


def test_labels_are_matched_by_name(run, tmp_path):
    y = pd.Series(np.where(NAMED["u"] > 0, "high", "low"), index=NAMED.index, name="kind")
    NAMED.to_csv(tmp_path / "X.tsv", sep="\t")
    y.iloc[rng.permutation(12)].to_csv(tmp_path / "y.csv")
    argv = ("solve", tmp_path / "X.tsv", "--task", "fda", "--y", tmp_path / "y.csv", "--ridge", 0.1, "-k", 2)
    code, out, err = run(*argv, "--json")
    assert code == 0, err
    assert "matched by their names" in err
    expected = fda_pencil(NAMED.to_numpy(), y.to_numpy(), ridge=0.1).lambda_max
    assert json.loads(out)["problem"]["lambda_max"] == pytest.approx(expected)


def test_a_text_column_can_be_the_labels(run_json, tmp_path):
    kind = np.where(FRAME["u"] > 0, "high", "low")
    FRAME.assign(kind=kind)[["kind", "u", "v", "w"]].to_csv(tmp_path / "X.csv", index=False)
    found = run_json("solve", tmp_path / "X.csv", "--task", "fda", "--y", "kind", "-k", 2)
    assert found["problem"]["lambda_max"] == pytest.approx(fda_pencil(FRAME, kind).lambda_max)


def test_no_loading_is_lost_under_repeated_names(run_json, tmp_path):
    FRAME.set_axis(["u", "u", "u"], axis=1).to_csv(tmp_path / "X.csv", index=False)
    found = run_json("solve", tmp_path / "X.csv", "--task", "pca", "-k", 3)["components"][0]
    assert set(found["loadings"]) == {"u", "u.1", "u.2"}
    assert found["value"] == pytest.approx(pca_pencil(FRAME).lambda_max)
