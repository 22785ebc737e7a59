"""Figure 6: the claims on planted songs, and a folder without CAL500."""

from dcgev_cvx.reproduction import reproduce


def test_the_experiment_reports_the_claims(tmp_path):
    report = reproduce(["figure6"], tmp_path, effort="tiny")
    section = report.sections[0]
    assert "planted songs, not CAL500" in section.setup
    assert section.findings[0].verdict.value == "agree"
    assert (tmp_path / "figures" / "figure6.png").exists()


def test_a_folder_without_cal500_is_a_reason_in_the_report(tmp_path):
    report = reproduce(["figure6"], tmp_path, effort="tiny", data={"songs": str(tmp_path)})
    assert "put CAL500.arff into that folder" in report.sections[0].missing[0]
