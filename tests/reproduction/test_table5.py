"""Table 5: what is compared with the paper, and a corpus that is known by its content."""

from dcgev_cvx.reproduction import reproduce
from dcgev_cvx.reproduction.corpora import planted_translations
from dcgev_cvx.reproduction.table5 import aroc_finding, other_findings


def test_findings_compare_claims_not_digits():
    dense = {"documents": [1800, 500], "CCA": {"500": [0.999, 0.9]}, "shuffled": {"500": [0.5, 0.0]}}
    sparse = {"deflated": [0.995, 0.9], "plain": [0.6, 0.1], "zeros": 0.88, "evaluations": 1700}
    assert aroc_finding(500, dense, sparse).verdict.value == "agree"
    for worse in ({"deflated": [0.990, 0.9]}, {"zeros": 0.8}):
        assert aroc_finding(500, dense, {**sparse, **worse}).verdict.value == "differs"
    chance, plain, similarities = other_findings(500, dense, sparse)
    assert [f.verdict.value for f in (chance, plain, similarities)] == ["agree", "differs", "differs"]
    assert plain.ours == "60.00, and 99.50 with the scores that deflation defines"
    assert similarities.ours == "94 % of them"


def test_the_report_names_the_corpus_and_never_claims_hansard(tmp_path):
    corpus = planted_translations(rng=4)
    corpus.save(tmp_path / "mine.npz")
    report = reproduce(["table5"], tmp_path / "out", effort="tiny", corpus=str(tmp_path / "mine.npz"))
    section = report.sections[0]
    assert "Corpus: mine.npz, not the paper's Hansard" in section.setup
    assert [table.name for table in section.tables] == ["table5"]
    assert str(tmp_path) not in report.command


def test_another_file_under_the_same_name_is_another_corpus(tmp_path):
    path = tmp_path / "mine.npz"
    arocs = []
    for seed in (4, 5):
        planted_translations(rng=seed).save(path)
        report = reproduce(["table5"], tmp_path / "out", effort="tiny", corpus=str(path))
        arocs.append(report.sections[0].tables[0].rows[0][1])
    fresh = reproduce(["table5"], tmp_path / "fresh", effort="tiny", corpus=str(path))
    assert arocs[0] != arocs[1] == fresh.sections[0].tables[0].rows[0][1]


def test_a_damaged_corpus_is_a_reason_in_the_report(tmp_path):
    (tmp_path / "no.npz").write_text("bags")
    report = reproduce(["table5"], tmp_path, effort="tiny", corpus=str(tmp_path / "no.npz"))
    assert "no.npz is not a corpus file" in report.sections[0].missing[0]
