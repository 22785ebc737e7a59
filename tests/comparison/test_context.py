"""The search for ρ̃ that gives k nonzeros, and the time that it keeps to."""

from time import perf_counter, sleep

from dcgev_cvx import datasets, dc_pca
from dcgev_cvx.comparison import context


def test_the_search_for_rho_keeps_the_time_limit(monkeypatch):
    runs = []

    def slow(pencil, rho, engine, deadline):
        sleep(0.05)
        runs.append(rho)
        return dc_pca(pencil, rho=rho)

    monkeypatch.setattr(context, "mm_run", slow)
    context.rho_for(datasets.pitprops(), 4, "closed", perf_counter() + 0.12)
    assert len(runs) <= 4  # 24 halvings without a limit: from the leading eigenvector no ρ̃ gives four


def test_a_run_stops_at_its_deadline():
    assert context.mm_run(datasets.pitprops(), 1.0, "native", perf_counter() - 1.0).status.name == "STOPPED"


def test_the_search_ends_at_k_or_at_the_nearest_number_below():
    pencil = datasets.pitprops()
    for k, reached in ((6, 6), (4, 3)):
        rho, run = context.rho_for(pencil, k, "closed", perf_counter() + 60.0)
        assert run.converged
        assert len(run.support) == len(dc_pca(pencil, rho=rho).support) == reached
