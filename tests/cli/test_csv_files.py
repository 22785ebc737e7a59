"""The layout of .csv files is recognised, told, and asked for where it is in doubt."""

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
    "shuffled index": (FRAME.set_axis(rng.permutation(12)).to_csv(), "column 1 holds row names"),
    "read and written again": (FRAME.to_csv().replace(",u", "Unnamed: 0,u", 1), "column 1 holds row names ('0', …)"),
    "read and written twice": (
        FRAME.reset_index(names="Unnamed: 0").to_csv(),
        "column 1 holds row names ('0', …). {path}: column 2 holds row names ('0', …)",
    ),
    "row names": (NAMED.to_csv(), "column 1 holds row names ('s0', …)"),
    "named row names": (NAMED.to_csv(index_label="sample"), "column 1 holds row names ('s0', …)"),
    "comment": ("# made by hand\n" + PLAIN, "lines that begin with # were left out"),
    "byte order mark": ("\ufeff" + PLAIN, ""),
    "Windows": (PLAIN.replace("\n", "\r\n"), ""),
    "old Macintosh": (PLAIN.replace("\n", "\r"), ""),
    "tabs": (PLAIN.replace(",", "\t"), ""),
    "semicolons": (PLAIN.replace(",", ";"), ""),
    "spaces": (PLAIN.replace(",", ", "), ""),
    "empty rows at the end": (PLAIN + ",,\n,,\n\n", ""),
    "blank lines": (PLAIN.replace("\n", "\n\n"), ""),
    "quoted": (FRAME.to_csv(index=False, quoting=1), ""),
}


def read(path, text, header=None, index=None):
    """The table of a file and the notes on how it was understood."""
    path.write_bytes(text.encode())
    options = CsvOptions(header, index)
    return read_csv(path, options), " ".join(options.notes)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_numbers(tmp_path, layout):
    text, note = LAYOUTS[layout]
    table, notes = read(tmp_path / "X.csv", text)
    assert np.array_equal(table.numbers(), FRAME.to_numpy())
    assert table.header == ["u", "v", "w"]
    assert note.format(path=tmp_path / "X.csv") in notes
    assert bool(notes) == bool(note)


@pytest.mark.parametrize("names", [[0, 1, 2], [2001, 2002, 2003], [1990, 2000, 2010]])
@pytest.mark.parametrize("index", [True, False])
def test_a_header_of_numbers_is_no_sample(tmp_path, names, index):
    table, notes = read(tmp_path / "X.csv", FRAME.set_axis(names, axis=1).to_csv(index=index))
    assert np.array_equal(table.numbers(), FRAME.to_numpy())
    assert table.header == [str(name) for name in names]
    assert "is the header" in notes


@pytest.mark.parametrize(
    "text", ["1.5,2.5\n0.5,1.0\n", "2,1,0\n1,2,1\n0,1,2\n", "2,2,5\n1.5,2.5,1\n", "5.5\n", "3,1\n"]
)
def test_a_first_line_that_cannot_be_names_is_a_row(tmp_path, text):
    table, _ = read(tmp_path / "X.csv", text)
    assert table.header is None
    assert len(table.lines) == text.count("\n")


@pytest.mark.parametrize("names", [("s0", "s1", "s2"), ("1", "2", "3")])
def test_a_header_without_a_name_for_the_row_names_as_r_writes_it(tmp_path, names):
    rows = "".join(f"{name},{i}.5,2.5\n" for i, name in enumerate(names))
    table, notes = read(tmp_path / "X.csv", '"u","v"\n' + rows)
    assert (table.header, table.index) == (["u", "v"], list(names))
    assert table.numbers().tolist() == [[0.5, 2.5], [1.5, 2.5], [2.5, 2.5]]
    assert "column 1 holds row names" in notes


@pytest.mark.parametrize("columns", [range(3), (1990, 1995, 1992)])
@pytest.mark.parametrize("index", [range(4), (3, 0, 2, 1), ("a", "b", "c", "d")])
def test_a_frame_of_counts_as_pandas_writes_it(tmp_path, columns, index):
    frame = pd.DataFrame([[3, 1, 4], [1, 5, 9], [2, 6, 5], [3, 5, 8]], columns=columns, index=index)
    table, _ = read(tmp_path / "X.csv", frame.to_csv())
    assert (table.header, table.index) == ([*map(str, columns)], [*map(str, index)])
    assert np.array_equal(table.numbers(), frame.to_numpy())


def test_separators_at_the_end_of_every_line_are_left_out(tmp_path):
    table, _ = read(tmp_path / "X.csv", "u,v,\n1.5,2,\n3,4.5,\n")
    assert (table.header, table.numbers().tolist()) == (["u", "v"], [[1.5, 2.0], [3.0, 4.5]])


def test_a_semicolon_in_a_quoted_name_is_no_separator(tmp_path):
    table, _ = read(tmp_path / "X.csv", '"u;t",v\n1.5,2\n3,4.5\n')
    assert (table.header, table.numbers().tolist()) == (["u;t", "v"], [[1.5, 2.0], [3.0, 4.5]])


def test_utf_16(tmp_path):
    (tmp_path / "X.csv").write_text(PLAIN, encoding="utf-16")
    assert np.array_equal(read_csv(tmp_path / "X.csv", CsvOptions()).numbers(), FRAME.to_numpy())


COUNTS = "3,1,4\n1,5,9\n2,6,5\n3,5,8\n"
HEADER, INDEX = "pass --header or --no-header", "--index-column 1, or --index-column none to keep it"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1,2\n" + COUNTS, HEADER),
        (COUNTS, HEADER),
        ("7,3,5\n1.5,2.5,0.5\n3.5,0.1,2.5\n", HEADER),
        ("1100.5,1101.0,1101.5\n0.1,0.2,0.7\n", HEADER),
        ("s0,1.5,2.5\ns1,0.5,0.1\n", HEADER),
        ("NA,NA\n1.5,2.5\n", HEADER),
        (",5,3\n1,2,4\n2,6,1\n2,1,1\n", HEADER),
        ("a,a,b,b\n0,1,0,1\n0.5,1.5,2.5,0.1\n", "names repeat, and '0, 1, 0, 1' below may be a second header"),
        ("a,a,b\n1990,1991,1992\n0.5,1.5,2.5\n", "names repeat, and '1990, 1991, 1992' below"),
        ("0,0,1,1\n0,1,0,1\n0.5,1.5,2.5,0.1\n", HEADER),
        ("id,u\n1,1.5\n2,2.5\n3,0.5\n", INDEX),
        (",Unnamed: 0,u\n0,0.5,1.5\n1,0.7,2.5\n", INDEX),
        ("id,u\n3,1.5\n1,2.5\n2,0.5\n", INDEX),
        ("0.5,1.5\n0.5,2.5\n2.5,0.5\n", INDEX),
        (",u\n0.5,1.5\n0.7,2.5\n", INDEX),
        (",u\na,1.5\na,2.5\n", INDEX),
        ("kind,u\na,1.5\na,2.5\n", "'a' is not a number. Drop a column of text, or give --index-column"),
        ("a;b\n1,5;2\n2,5;3.5\n", "line 2, column 'a': '1,5' is not a number. Write decimals with a point"),
        (
            "p,b\n5%,2\n6 %,3.5\n",
            "'5%' is not a number. Write decimals with a point, without units",
        ),
        ("a,b\nTrue,2\nFalse,3.5\nTrue,1\n", "'True' is not a number. Drop a column of text"),
        ("x\n1,5\n2,5\n", "line 2: 2 entries where the first line has 1"),
        ("u,v\n1,5,2\n3,5,4\n7,5,1\n", "name each column in the header, row names too"),
        ("u,v\n1,5,2\n2,5,4\n", "name each column in the header, row names too"),
        ("u,v\n1,2\n,\n3,4\n", "line 3 is empty: delete it, or fill the gap"),
        ("u\n1\n\n3\n", "line 3 is empty: delete it, or fill the gap"),
        ("u,v\n1,\n", "line 2, column 'v': '' is not a number. Drop the row or the column, or fill the gap"),
        ('u,v\n1,"1,234.5"\n', "without units and separators of thousands"),
        ("u,v\n1,2\0\n", "is not a number"),
        ("u,v\n1,2.\x1c\n", "is not a number"),
        ("u,v\n", "has a header and no numbers below it"),
    ],
)
def test_doubt_is_an_error(tmp_path, text, message):
    with pytest.raises(InvalidParameter) as caught:
        read(tmp_path / "X.csv", text)[0].numbers()
    assert message in str(caught.value)


def test_the_last_of_several_unnamed_columns_names_the_rows(tmp_path):
    table, _ = read(tmp_path / "X.csv", NAMED.reset_index(names="Unnamed: 0").to_csv())
    assert table.index == list(NAMED.index)
    assert table.header == ["u", "v", "w"]


def test_options_decide(tmp_path):
    path, counts, ids = tmp_path / "X.csv", "0,1,2\n" + COUNTS, "id,u\n1,1.5\n2,2.5\n3,0.5\n4,1.0\n"
    assert read(path, counts, header=True, index="none")[0].numbers().shape == (4, 3)
    assert read(path, counts, header=False, index="none")[0].numbers().shape == (5, 3)
    assert read(path, "a,a\n0,1\n0.5,1.5\n", header=True)[0].numbers().shape == (2, 2)
    for chosen, width in (("id", 1), ("1", 1), ("none", 2)):
        assert read(path, ids, index=chosen)[0].numbers().shape == (4, width)
    with pytest.raises(InvalidParameter, match="has no column --index-column ix; did you mean 'id'"):
        read(path, ids, index="ix")


def test_rows_are_matched_by_name(run, tmp_path):
    Y = (NAMED @ [[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]] + rng.standard_normal((12, 2))).set_axis(["p", "q"], axis=1)
    order = rng.permutation(12)
    NAMED.to_csv(tmp_path / "X.csv")
    Y.iloc[order].to_csv(tmp_path / "Y.csv")
    argv = ("solve", "--task", "cca", "--X", tmp_path / "X.csv", "--Y", tmp_path / "Y.csv", "--ridge", 0.1)
    code, out, err = run(*argv, "-k", 5, "--json")
    assert code == 0
    assert "matched by their names" in err
    assert [*json.loads(out)["components"][0]["loadings"]] == ["u", "v", "w", "p", "q"]
    found = json.loads(out)["problem"]["lambda_max"]
    assert found == pytest.approx(cca_pencil(NAMED.to_numpy(), Y.to_numpy(), ridge=0.1).lambda_max)
    Y.set_axis([f"t{i}" for i in range(12)]).to_csv(tmp_path / "Y.csv")
    code, _, err = run(*argv, "-k", 2)
    assert (code, err.count("\n")) == (2, 1)
    assert "have different row labels ('s0' …)" in err


def test_labels_are_matched_by_name(run, tmp_path):
    y = pd.Series(np.where(NAMED["u"] > 0, "high", "low"), index=NAMED.index, name="kind")
    NAMED.to_csv(tmp_path / "X.csv")
    y.iloc[rng.permutation(12)].to_csv(tmp_path / "y.csv")
    argv = ("solve", tmp_path / "X.csv", "--task", "fda", "--y", tmp_path / "y.csv", "--ridge", 0.1, "-k", 2)
    code, out, err = run(*argv, "--json")
    assert code == 0, err
    assert "matched by their names" in err
    expected = fda_pencil(NAMED.to_numpy(), y.to_numpy(), ridge=0.1).lambda_max
    assert json.loads(out)["problem"]["lambda_max"] == pytest.approx(expected)


def test_no_loading_is_lost_under_repeated_names(run_json, tmp_path):
    FRAME.set_axis(["u", "u", "u"], axis=1).to_csv(tmp_path / "X.csv", index=False)
    found = run_json("solve", tmp_path / "X.csv", "--task", "pca", "-k", 3)["components"][0]
    assert set(found["loadings"]) == {"u", "u.1", "u.2"}
    assert found["value"] == pytest.approx(pca_pencil(FRAME).lambda_max)


def test_a_point_that_may_group_thousands_is_told(tmp_path):
    assert "1.500 is read as a decimal number" in read(tmp_path / "X.csv", "u;v\n1.500;2\n3;-12.250\n")[1]
    assert read(tmp_path / "X.csv", "u;v\n1.500;2\n3;0.25\n")[1] == ""


def test_negative_numbers_are_no_names(tmp_path):
    table, notes = read(tmp_path / "X.csv", "-1,-11\n13,4\n-10,2\n")
    assert (table.header, table.index, notes) == (None, None, "")
