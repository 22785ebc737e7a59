"""The reader of CAL500.arff, on files written here, and the planted songs."""

import numpy as np
import pytest

from dcgev_cvx import DataUnavailable, InvalidParameter
from dcgev_cvx.reproduction.songs import cal500, planted_songs


def arff(features=68, words=174, songs=502, kind="label", seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((songs, features)).round(4), rng.integers(0, 2, size=(songs, words))
    lines = ["% a comment", "@relation CAL500", ""]
    lines += [f"@attribute 'Mean Acc {j}' numeric" for j in range(features)]
    lines += [f'@attribute "Word {j}" {kind}' for j in range(words)]
    lines += ["@data"] + [",".join([*map(str, x), *map(str, y)]) for x, y in zip(X, Y, strict=True)]
    return X, Y, "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", ["label", "{0,1}", "{0, 1}", "{1,0}"])
def test_mulans_form_is_read(tmp_path, kind):
    X, Y, text = arff(kind=kind)
    (tmp_path / "CAL500.arff").write_text(text, encoding="utf-8")
    songs = cal500(tmp_path)
    assert np.array_equal(songs.audio, X)
    assert np.array_equal(songs.tags, Y)
    assert songs.words[2] == "Word 2"
    assert songs.agreement is None
    assert not songs.audio.flags.writeable


def test_soft_annotations_are_read_if_present(tmp_path):
    (tmp_path / "CAL500.arff").write_text(arff()[2], encoding="utf-8")
    soft = np.random.default_rng(1).random((502, 174)).round(3)
    lines = "\n".join(",".join(map(str, row)) for row in soft)
    (tmp_path / "softAnnotations.txt").write_text(lines, encoding="utf-8")
    assert np.array_equal(cal500(tmp_path).agreement, soft)
    (tmp_path / "softAnnotations.txt").write_text(lines[: lines.index("\n")], encoding="utf-8")
    with pytest.raises(DataUnavailable, match=r"must hold 502 × 174 numbers; got \(1, 174\)"):
        cal500(tmp_path)
    (tmp_path / "softAnnotations.txt").write_text("much", encoding="utf-8")
    with pytest.raises(DataUnavailable, match="is not a table of numbers"):
        cal500(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("@data", ""), "cannot be read as an ARFF file"),
        (lambda text: text.replace("'Mean Acc 3' numeric", "'Mean Acc 3' string"), "cannot be read as an ARFF file"),
        (lambda text: text.replace("@attribute 'Mean Acc 3' numeric\n", ""), "cannot be read as an ARFF file"),
        (lambda text: text + "1,2,3\n", "cannot be read as an ARFF file"),
        (lambda text: text + ",".join(["x"] * 242), "cannot be read as an ARFF file"),
        (lambda text: text + ",".join(["nan"] * 68 + ["0"] * 174), "missing or infinite"),
        (lambda text: text + ",".join(["?"] * 68 + ["0"] * 174), "missing or infinite"),
        (
            lambda text: text + ",".join(["0.5"] * 68 + ["0"] * 174),
            r"holds \(503, 68\) numbers and \(503, 174\) labels",
        ),
        (lambda text: text.replace("'Mean Acc 3' numeric", "'Mean Acc 3' {0,1}"), "cannot be read as an ARFF file"),
        (lambda text: text[: text.index("@data")] + "@data\n" + ("0.5," * 241 + "0.5\n") * 502, "cannot be read"),
    ],
)
def test_wrong_columns_are_named(tmp_path, change, said):
    (tmp_path / "CAL500.arff").write_text(change(arff()[2]), encoding="utf-8")
    with pytest.raises(DataUnavailable, match=said):
        cal500(tmp_path)


def test_an_absent_file_says_what_to_fetch(tmp_path):
    with pytest.raises(DataUnavailable, match=r"put CAL500\.arff into that folder"):
        cal500(tmp_path)
    (tmp_path / "CAL500.arff").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataUnavailable, match="cannot be read"):
        cal500(tmp_path)


def test_planted_songs_know_their_noise():
    songs = planted_songs(200, 10, 30, 12, rng=3)
    assert songs.tags.shape == (200, 30)
    assert len(songs.noisy) == 12
    assert set(np.unique(songs.tags)) == {0.0, 1.0}
    assert np.all((songs.agreement >= 0.0) & (songs.agreement <= 1.0))
    assert np.array_equal(planted_songs(200, 10, 30, 12, rng=3).audio, songs.audio)
    with pytest.raises(InvalidParameter, match="noisy = 30 must lie between 0 and words = 30"):
        planted_songs(words=30, noisy=30)
