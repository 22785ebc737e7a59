"""The lab: every app runs as a script, survives impossible settings, and two of them move in a browser."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from browser import answer_seconds, complaints, open_browser, outside_requests, served, sliders, wait_for

FOLDER = Path(__file__).parent.parent / "examples" / "lab"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
marimo = pytest.importorskip("marimo", reason="NO LAB TEST: marimo is not installed (pip install '.[lab]')")


def run(name, **controls):
    """The app's outputs as HTML, with the controls set to these values."""
    app = runpy.run_path(str(FOLDER / f"{name}.py"))["app"]
    defs = {key: SimpleNamespace(value=value) for key, value in controls.items()}
    outputs, _ = app.run(defs=defs) if defs else app.run()
    return "".join(marimo.as_html(output).text for output in outputs if output is not None)


def test_seven_labs_are_there():
    assert NAMES == ["broken", "dcp", "gap", "majoriser", "own_step", "playground", "step"]


@pytest.mark.parametrize("name", NAMES)
def test_the_app_runs_as_a_script(name):
    assert len(run(name)) > 500


PLAYGROUND = {
    "problem": "pit props (PCA)",
    "shift": "identity",
    "start": "leading eigenvector",
    "rho": 4.8,
    "eps": 1e-8,
    "extra": 0.0,
    "k": 6,
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "6 nonzeros"),
        ({"eps": 0.0}, "eps = 0 is out of range"),
        ({"k": 99}, "k = 99 is out of range"),
        ({"k": 0}, "k = 0 is out of range"),
        ({"problem": "singular B"}, "B is not positive definite"),
        ({"rho": 400.0}, "collapsed"),
        ({"start": "zero"}, "collapsed"),
        ({"problem": "two views (CCA)", "shift": "metric", "rho": 0.1}, "converged"),
        ({"problem": "indefinite A", "extra": 2.0, "start": "all ones"}, "certificate"),
    ],
)
def test_impossible_settings_show_the_packages_own_words(change, words):
    assert words in run("playground", **{**PLAYGROUND, **change})


def test_a_text_that_is_no_number_gets_the_packages_own_words():
    assert "is not a real number" in run("playground", **{**PLAYGROUND, "eps": "small"})


@pytest.mark.parametrize("name", NAMES)
def test_every_lab_asks_three_or_four_questions_whose_answers_fold_out(name):
    app = runpy.run_path(str(FOLDER / f"{name}.py"))["app"]
    prompts = marimo.as_html(app.run()[0][-1]).text
    assert "Predict, then try" in prompts
    assert "<marimo-accordion" in prompts
    assert 3 <= prompts.count("<div data-kind=") + prompts.count('<span class="markdown') - 1 <= 5


def test_stepping_shows_the_sandwich_of_that_step():
    controls = {"problem": "two variables", "rho": 0.5, "log_eps": -1.0, "tau": 3.0, "length": 0.5, "angle": 50}
    first, later = run("step", at=0, **controls), run("step", at=7, **controls)
    assert "l = 0" in first
    assert "l = 7" in later


def test_the_start_may_lie_on_the_sphere_and_decides_where_mm_ends():
    controls = {
        "problem": "pit props, 13 variables",
        "at": 30,
        "rho": 0.0,
        "log_eps": -1.0,
        "tau": 0.0,
        "length": 1.0,
    }
    assert "-2.37" in run("step", angle=90, **controls)  # the second eigenvector: −λ₂
    assert "-4.2186" in run("step", angle=60, **controls)


def test_the_gap_lab_shows_a_gap_that_the_exact_optimum_closes():
    assert "gap 2.6 %" in run("gap", k=4, exact=False)
    assert "the optimum is 2.93748, proved" in run("gap", k=4, exact=True)
    _, defs = runpy.run_path(str(FOLDER / "gap.py"))["app"].run()
    assert defs["k"].stop == defs["pencil"].n
    rows = defs["comparison"](4, True).rows
    assert {defs["names"][row.method].split(":")[0] for row in rows} == {"d.c.", "SDP", "exact"}


def test_dcp_repair_ends_well():
    tangents = {"quadratic": "its tangent at y", "penalty": "its tangent in |x| at y"}
    broken = run("dcp", **{**tangents, "quadratic": "−xᵀ(A + τI)x, as it is"}, constraint="xᵀBx ≤ 1")
    assert "The whole is not DCP" in broken
    assert "these are not: -(QuadForm" in broken
    assert "which inequality suffices?" in run("dcp", **tangents, constraint="xᵀBx = 1")
    wrong = run("dcp", **{**tangents, "penalty": "with ρ̃ in place of ρ_ε"}, constraint="xᵀBx ≤ 1")
    assert "You used ρ̃ where ρ_ε" in wrong
    assert "right: it is DCP" in run("dcp", **tangents, constraint="xᵀBx ≤ 1")


def h_of(**change):
    controls = {"y": 0.4, "curvature": 0.0, "slope": 0.0, "height": 0.0, "kink": 0.0, **change}
    return run("majoriser", **controls)


def test_a_parabola_is_no_majoriser_at_zero_and_a_kink_makes_it_one():
    assert "This y:</strong> h cuts f" in h_of(curvature=-1.5)
    assert "This y:</strong> h lies above f" in h_of(curvature=4.0)
    assert "This y:</strong> h cuts f" in h_of(y=0.0, curvature=12.0)
    assert "It cuts f: h(x, y)" in h_of(curvature=4.0)
    assert "right: it touches, lies above and is convex" in h_of(y=0.0, kink=2.1)


@pytest.fixture(scope="module")
def own_step():
    _, defs = runpy.run_path(str(FOLDER / "own_step.py"))["app"].run()
    return defs["judged"], defs["starter"]


def test_own_step_starts_with_exactly_two_faults(own_step):
    judged, starter = own_step
    penalty = starter.replace("- rho_eps / (np", "- 0.5 * rho_eps / (np")
    solver = "    import dcgev_cvx as d\n    from dcgev_cvx.steps.native import native_step\n"
    solver += "    return native_step(d.SparseGEV(d.Pencil(A, B), rho, eps, tau), y).x\n"
    results = [judged(source).text for source in (starter, penalty, penalty.split("    length")[0] + solver)]
    assert [text.count("fails") for text in results] == [3, 1, 0]
    assert "B = I, τ = 0”: KKT row" in results[0]
    assert "general B, τ = 0.7”" in results[1]
    assert "Every check passes." in results[2]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1/0", "raises ZeroDivisionError in line 1"),
        ("def step(:", "raises SyntaxError"),
        ("x = 1", "There is no function called step."),
        ("def step(A, B, y, rho, eps, tau): pass", "returns None"),
        ("def step(A, B, y, rho, eps, tau):\n    while True: pass", "no answer within 0.5 s"),
        ("while True: pass", "no answer within 0.5 s"),
        ("import sys; sys.exit(2)", "raises SystemExit"),
    ],
)
def test_own_step_outlives_any_code(own_step, source, words):
    assert words in own_step[0](source, seconds=0.5).text


def test_the_wrong_suspect_shows_only_for_a_b_that_is_not_diagonal():
    controls = {"rho": 0.5, "log_eps": -1.0, "tau": 1.0, "diagonal": 2.0, "angle": 40}
    assert "<strong>NO" not in run("broken", off=0.0, **controls)
    assert "<strong>NO" in run("broken", off=0.5, **controls)
    assert "B is not positive definite" in run("broken", off=2.0, **controls)


@pytest.mark.parametrize(("name", "slider", "seen"), [("step", 0, "l = 1"), ("gap", 0, "k = 5: the optimum")])
def test_in_a_browser_a_slider_moves_number_and_picture(name, slider, seen):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    driver = open_browser()
    try:
        with served(name) as address:
            driver.get(address)
            before = wait_for(driver, image, 60)
            thumbs = sliders(driver)
            assert answer_seconds(driver, thumbs[slider], Keys.ARROW_RIGHT, limit=30.0) < 30.0
            wait_for(driver, lambda d: seen in d.find_element(By.TAG_NAME, "body").text, 30)
            wait_for(driver, lambda d: image(d) not in (None, before), 30)
            assert complaints(driver) == []
            assert outside_requests(driver) == []
    finally:
        driver.quit()


def image(driver):
    """The source of the picture, once there is one; apps keep theirs in shadow roots."""
    sources = driver.execute_script(
        "const found = [];"
        "const walk = root => root.querySelectorAll('*').forEach(e => {"
        "  if (e.tagName === 'IMG' && e.src.startsWith('data:image')) found.push(e.src);"
        "  if (e.shadowRoot) walk(e.shadowRoot); });"
        "walk(document); return found"
    )
    return sources[0] if sources else None
