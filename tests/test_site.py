"""The built site: links, public names, equations, no requests to other servers, sliders that work in a browser."""

import importlib
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from browser import complaints, open_browser, outside_requests, wait_for

import dcgev_cvx

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BUILT = DOCS / "_build" / "html"
COMMAND = "python -m sphinx -W --keep-going -j 2 -b html docs docs/_build/html"
SHELVES = ("tutorials", "how-to", "explanation", "reference")
MADE = ("api", "gallery", "_build")

sys.path.insert(0, str(DOCS / "_tools"))


@pytest.fixture(scope="module")
def site():
    """The built site; `.ci/run` builds it before it runs these tests."""
    done = BUILT / "objects.inv"
    sources = [path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in MADE]
    if not done.exists():
        pytest.skip(f"SITE NOT BUILT, NOT TESTED: run {COMMAND}")
    stale = [path.name for path in sources if path.stat().st_mtime > done.stat().st_mtime]
    if stale:
        pytest.skip(f"SITE OLDER THAN {len(stale)} PAGES ({stale[0]}), NOT TESTED: run {COMMAND}")
    return BUILT


class Links(HTMLParser):
    """What a page points at, and what can be pointed at in it."""

    def __init__(self, page):
        super().__init__()
        self.hrefs, self.loaded, self.ids = [], [], set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id"))
        if tag == "a" and given.get("href"):
            self.hrefs.append(given["href"])
        source = given.get("src") or (given.get("href") if tag == "link" else None)
        if source:
            self.loaded.append(source)


@pytest.fixture(scope="module")
def pages(site):
    return {page: Links(page) for page in site.rglob("*.html") if "_static" not in page.parts}


def test_no_page_loads_anything_from_elsewhere(pages):
    for page, links in pages.items():
        outside = [url for url in links.loaded if url.startswith(("http:", "https:", "//"))]
        assert not outside, f"{page.name}: {outside}"


def test_every_internal_link_leads_somewhere(pages):
    for page, links in pages.items():
        for href in links.hrefs:
            url = urlparse(href)
            if url.scheme or url.netloc:
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            assert target.exists(), f"{page.name}: {href}"
            if url.fragment and target in pages:
                assert unquote(url.fragment) in pages[target].ids, f"{page.name}: {href}"


def test_no_page_shows_the_inside_of_python(pages):
    for page in pages:
        text = re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8"))
        assert not re.search(r"TypeAliasForwardRef|typing\.Literal|object at 0x", text), page.name


def test_every_page_is_reachable_from_the_first(site, pages):
    seen, todo = set(), [site / "index.html"]
    while todo:
        page = todo.pop()
        if page in seen or page not in pages:
            continue
        seen.add(page)
        todo += [(page.parent / unquote(urlparse(href).path)).resolve() for href in pages[page].hrefs]
    left = {page.relative_to(site).as_posix() for page in set(pages) - seen if "_modules" not in page.parts}
    assert left <= {"genindex.html", "py-modindex.html", "search.html"}


def public_names():
    """The full names of all public objects, as they are documented."""
    from api import home

    modules = [dcgev_cvx, *(importlib.import_module(f"dcgev_cvx.{name}") for name in dcgev_cvx._MODULES)]
    return {home(module, name) for module in modules for name in module.__all__}


def test_every_public_name_has_a_page():
    from api import listing

    documented = {
        f"{module}.{name}" for module, page in listing().items() for name in [*page["own"], *page["constants"]]
    }
    documented |= {f"dcgev_cvx.models.{name}" for name in dcgev_cvx.models.__all__}
    assert len(public_names()) > 80
    assert public_names() - documented == set()


def test_every_public_name_is_documented(site):
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as handle:
        inventory = InventoryFile.load(handle, "", os.path.join)
    kinds = getattr(inventory, "data", inventory)  # a plain dict in some versions of Sphinx
    known = {name for kind, names in kinds.items() if kind.startswith("py:") for name in names}
    assert public_names() - known == set()


def test_every_code_name_of_the_equation_index_is_a_link(site):
    page = (site / "equation-index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'title="dcgev_cvx\.[\w.]+"><code[^>]*><span class="pre">([\w.]+)', page))
    source = (DOCS / "equation-index.md").read_text(encoding="utf-8")
    wanted = set(re.findall(r"`((?:[a-z_]+\.)+\w+)`", source))
    unlinked = {name for name in wanted - linked if not name.startswith(("test_", "reproduction.", "_numerics."))}
    assert len(wanted) > 60
    assert unlinked == set()


def test_the_models_page_shows_formula_source_and_printed_problem(site):
    page = (site / "reference" / "models.html").read_text(encoding="utf-8")
    for name in set(dcgev_cvx.models.__all__) - {"show"}:
        section = page[page.index(f'<section id="{name.replace("_", "-")}">') :].split("</section>")[0]
        assert 'class="math' in section
        text = re.sub(r"<[^>]*>", "", section)
        assert f"def {name}(" in text
        assert re.search(r"^(minimize|maximize) ", text, re.MULTILINE), name


def test_the_first_screen_says_what_shows_one_picture_and_one_command(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    article = text[text.index("<article") : text.index("</article>")]
    assert article.count("<img") == 1
    assert "Sparse PCA, CCA and Fisher discriminant analysis" in article
    assert "dcgev lab step" in re.sub(r"<[^>]*>", "", article)


def test_the_shelves_hold_every_page_of_theirs():
    for shelf in SHELVES:
        index = (DOCS / shelf / "index.md").read_text(encoding="utf-8")
        for page in [*(DOCS / shelf).glob("*.md"), *(DOCS / shelf).glob("*.rst")]:
            assert page.stem == "index" or re.search(rf"^{page.stem}$", index, re.MULTILINE), page


PROSE = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)|^---.*?^---|<[^>]*>|Section\s[\d.]+",
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("shelf", SHELVES)
def test_prose_states_no_result_that_its_page_does_not_compute(shelf):
    for page in (DOCS / shelf).glob("*.md"):
        prose = PROSE.sub(" ", page.read_text(encoding="utf-8"))
        stated = re.findall(r"(?<![\w.:])\d+\.\d+(?![\w.])|\d+(?:\.\d+)?\s?%", prose)
        assert set(stated) <= {"0.1"}, f"{page.name} states {stated}"


def test_in_a_browser_maths_is_set_and_the_slider_moves_the_majoriser(site):
    from selenium.webdriver.common.by import By

    driver = open_browser()
    try:
        for name, label in (("moving-majoriser", "y = "), ("rho-to-k", "ρ̃ = ")):
            driver.get((site / "tutorials" / f"{name}.html").as_uri())
            wait_for(driver, lambda d: d.find_elements(By.CSS_SELECTOR, "mjx-container svg"), 60)
            wait_for(driver, lambda d: d.find_elements(By.CSS_SELECTOR, ".slider-label"), 60)
            before = drawn(driver)
            assert before[0].startswith(label)
            wait_for(driver, lambda d, old=before: moved(d, old))
            assert complaints(driver) == []
            assert outside_requests(driver) == []
    finally:
        driver.quit()


def moved(driver, before):
    """Click the middle of the slider's rail; have label and picture changed? The page may still be shifting."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By

    rail = driver.find_element(By.CSS_SELECTOR, ".slider-rail-touch-rect")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", rail)
    ActionChains(driver).move_to_element(rail).click().pause(0.3).perform()
    return all(now != then for now, then in zip(drawn(driver), before, strict=True))


def drawn(driver):
    """The slider's label and the shape of the second curve, or of the bars."""
    from selenium.webdriver.common.by import By

    label = driver.find_element(By.CSS_SELECTOR, ".slider-label").text
    shapes = driver.find_elements(By.CSS_SELECTOR, ".scatterlayer .js-line, .barlayer path")
    return label, "".join(shape.get_attribute("d") or "" for shape in shapes)
