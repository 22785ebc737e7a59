"""The teacher's material: points add up, solutions run, slides fit their pages, notebooks can be executed."""

import json
import re
import sys
from pathlib import Path

import pytest

from dcgev_cvx import teach

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "_tools"))


def text(name):
    return (DOCS / "teaching" / name).read_text(encoding="utf-8")


def parts(name):
    """The sections of the problem set or of its solutions, by number."""
    found = re.split(r"^## Problem (\d+)", text(name), flags=re.MULTILINE)[1:]
    return dict(zip(map(int, found[::2]), found[1::2], strict=True))


def test_the_points_of_every_problem_add_up_and_there_are_a_hundred():
    problems, total = parts("problems.md"), 0
    for number, body in problems.items():
        points = int(re.search(r"\((\d+) points, about \d+ minutes\)", body)[1])
        assert sum(map(int, re.findall(r"\[(\d+) p\]", body))) == points, number
        total += points
    assert total == 100
    assert 8 <= len(problems) <= 10


def test_every_problem_has_a_solution_with_the_same_points():
    problems, solutions = parts("problems.md"), parts("solutions.md")
    assert list(problems) == list(solutions)
    for number, body in problems.items():
        given = re.findall(r"\[(\d+) p\]", body)
        assert re.findall(r"\[(\d+) p\]", solutions[number]) == given, number


def test_the_computations_of_the_solutions_hold(capsys):
    code = "\n".join(
        re.findall(r"^```\{code-cell\} python\n(.*?)^```$", text("solutions.md"), re.DOTALL | re.MULTILINE)
    )
    assert code.count("assert ") >= 10
    exec(compile(code, "solutions.md", "exec"), {})
    assert "the optimum" in capsys.readouterr().out


def test_no_answer_of_an_exercise_stands_in_the_plan_before_it():
    plan = text("plan.md").split("## Before the class")[0]
    table = plan[plan.index("| minutes") : plan.index("Homework:")]
    assert "../explanation/" not in table  # those pages contain answers and come after the class


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    """The slides as HTML, where the documentation's packages are installed."""
    pytest.importorskip("mdit_py_plugins", reason="NO SLIDES: pip install '.[docs]'")
    import slides

    folder = tmp_path_factory.mktemp("slides")
    return {page.stem: page for page in slides.build(folder, pdf=False)}


def test_two_lectures_and_a_handout_are_built_with_their_figures(slides):
    assert sorted(slides) == ["handout", "lecture1", "lecture2"]
    for name in ("lecture1", "lecture2"):
        page = slides[name].read_text(encoding="utf-8")
        assert 12 <= page.count("<section>") <= 20
        assert page.count('<aside class="notes">') == page.count("<section>")
        assert page.count('<li class="fragment">') >= 10
        assert page.count("data:image/png") >= 3
        assert "python figure" not in page
        assert not re.search(r'(src|href)="http', page)
    assert 'class="moving-picture"' in slides["lecture1"].read_text(encoding="utf-8")


OVERFLOW = """
const [done, wrong] = [arguments[0], []];
const slides = [...document.querySelectorAll(".slides section")];
const look = number => {
  if (number === slides.length) return done(wrong);
  Reveal.slide(number);
  setTimeout(() => {
    const slide = slides[number];
    const [low, right] = [slide.scrollHeight - slide.clientHeight, slide.scrollWidth - slide.clientWidth];
    const filled = slide.lastElementChild.previousElementSibling.getBoundingClientRect().bottom;
    if (low > 1 || right > 1) wrong.push([number, "cut", low, right]);
    if (filled < 0.5 * window.innerHeight) wrong.push([number, "half empty"]);
    look(number + 1);
  }, 50);
};
look(0);
"""


def test_in_a_browser_every_slide_fits_its_page_and_the_handout_one_sheet(slides):
    from browser import complaints, open_browser, wait_for

    driver = open_browser()
    try:
        for name in ("lecture1", "lecture2", "handout"):
            driver.get(slides[name].as_uri())
            wait_for(driver, lambda d: d.execute_script("return document.querySelectorAll('mjx-container').length > 5"))
            driver.execute_async_script("MathJax.startup.promise.then(arguments[0])")
            if name != "handout":
                wait_for(driver, lambda d: d.execute_script("return document.documentElement.dataset.ready"))
            if name == "handout":  # A4 less two margins of 10 mm, at 96 dots per inch
                height = driver.execute_script("return document.querySelector('section').scrollHeight")
                assert height <= (297 - 20) / 25.4 * 96
            else:
                assert driver.execute_async_script(OVERFLOW) == []
            assert complaints(driver) == []
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory):
    pytest.importorskip("nbformat", reason="NO NOTEBOOKS: pip install '.[docs]'")
    import notebooks

    return {file.stem: file for file in notebooks.build(tmp_path_factory.mktemp("notebooks"))}


def test_the_notebooks_show_the_code_that_the_pages_include(notebooks):
    text = "".join(file.read_text(encoding="utf-8") for file in notebooks.values())
    assert "literalinclude" not in text
    assert "def g(self, x: Vector, y: Vector)" in text
    assert "moving picture here" in text


@pytest.mark.parametrize("name", ["exercises", "moving-majoriser", "rho-to-k"])
def test_the_notebooks_run(notebooks, name, monkeypatch, capsys):
    """Their code cells in order, in one namespace, with none of the website's tools on the path."""
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if not entry.endswith("_tools")])
    cells = json.loads(notebooks[name].read_text(encoding="utf-8"))["cells"]
    namespace = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), name, "exec"), namespace)
    out = capsys.readouterr().out
    assert name != "exercises" or out.count("not yet:") == len(teach.EXERCISES)
