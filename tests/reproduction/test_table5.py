"""Table 5: a run continues at the next component, and a corpus is known by its content."""

import pytest

from dcgev_cvx.reproduction import EXPERIMENTS, reproduce
from dcgev_cvx.reproduction.table5 import SavedComponents
from dcgev_cvx.reproduction.translated_texts import planted_translations


class Interrupted(Exception):
    pass


def test_an_interrupted_run_continues_with_the_next_component(tmp_path, monkeypatch):
    append = SavedComponents.append
    calls = []

    def kept(self, component):
        append(self, component)
        calls.append(component)
        if len(calls) == 3:
            raise Interrupted

    monkeypatch.setattr(SavedComponents, "append", kept)
    with pytest.raises(Interrupted):
        reproduce(["table5"], tmp_path, effort="tiny")
    (parts,) = tmp_path.glob("results/table5-*/parts")
    assert len(list(parts.iterdir())) == 3
    report = reproduce(["table5"], tmp_path, effort="tiny")
    assert len(calls) == 4  # 4 components in all: one was missing
    assert not report.sections[0].missing
    (parts / "component-0002.json").write_text("{", encoding="utf-8")
    (parts.parent / "sparse-4.json").unlink()
    reproduce(["table5"], tmp_path, effort="tiny")
    assert len(calls) == 7  # 2, 3 and 4 were computed again
    assert calls[-1].rows == calls[3].rows


def test_the_report_names_the_corpus_and_never_claims_hansard(tmp_path):
    corpus = planted_translations(rng=4)
    corpus.save(tmp_path / "mine.npz")
    report = reproduce(["table5"], tmp_path / "out", effort="tiny", data={"corpus": str(tmp_path / "mine.npz")})
    section = report.sections[0]
    assert "Corpus: mine.npz, not the paper's Hansard" in section.setup
    assert [table.name for table in section.tables] == ["table5", "table5-words"]
    assert EXPERIMENTS["table5"].settings["quick"]["corpus"] == "manpages"


def test_another_file_under_the_same_name_is_another_corpus(tmp_path):
    path = tmp_path / "mine.npz"
    arocs = []
    for seed in (4, 5):
        planted_translations(rng=seed).save(path)
        report = reproduce(["table5"], tmp_path / "out", effort="tiny", data={"corpus": str(path)})
        arocs.append(report.sections[0].tables[0].rows[0][1])
    fresh = reproduce(["table5"], tmp_path / "fresh", effort="tiny", data={"corpus": str(path)})
    assert arocs[0] != arocs[1] == fresh.sections[0].tables[0].rows[0][1]


def test_a_damaged_corpus_is_a_reason_in_the_report(tmp_path):
    (tmp_path / "no.npz").write_text("bags")
    report = reproduce(["table5"], tmp_path, effort="tiny", data={"corpus": str(tmp_path / "no.npz")})
    assert "no.npz is not a corpus file" in report.sections[0].missing[0]
