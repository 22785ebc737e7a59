"""The site: it reaches every page, public name and tag, needs no network, and its sliders move in a browser."""

import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from browser import complaints, open_browser, outside_requests, wait_for

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
    left = {page.relative_to(site).as_posix() for page in set(pages) - seen}
    assert left <= {"genindex.html", "py-modindex.html", "search.html"}


def test_every_public_name_has_a_page_that_documents_it():
    from generate import modules, published

    names = published()
    assert len(names) > 80
    assert {home.rpartition(".")[0].removeprefix("dcgev_cvx.") for home in names.values()} <= set(modules())


def test_every_public_name_is_documented(site):
    from generate import published
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as handle:
        inventory = InventoryFile.load(handle, "", os.path.join)
    kinds = getattr(inventory, "data", inventory)  # a plain dict in some versions of Sphinx
    known = {name for kind, names in kinds.items() if kind.startswith("py:") for name in names}
    names = published()
    assert {name for name, home in names.items() if home not in known} == set()


def test_every_tag_of_the_paper_leads_to_code_and_page(site):
    from generate import cells, equation_index

    source = (DOCS / "equation-index.md").read_text(encoding="utf-8")
    tags = [row for row in map(cells, source.splitlines()) if len(row) == 4 and row[0] not in ("equation", "---")]
    shown = [row for row in map(cells, equation_index(source).splitlines()) if len(row) == 4]
    unshown = [row[0] for row in shown if row[0] in {tag[0] for tag in tags} and "](" not in row[3]]
    assert len(tags) > 60
    assert unshown == []
    page = (site / "equation-index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'title="dcgev_cvx\.([\w.]+)"><code[^>]*><span class="pre">([\w.]+)', page))
    wanted = {name for row in tags for name in re.findall(r"`([\w.]+)`", row[2])}
    assert wanted - {name for _, name in linked} == set()


def test_the_first_screen_says_what_shows_one_picture_and_one_command(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    article = text[text.index("<article") : text.index("</article>")]
    assert article.count("<img") == 1
    assert "Sparse PCA, CCA and Fisher discriminant analysis" in article
    assert "dcgev lab step" in re.sub(r"<[^>]*>", "", article)


def test_the_shelves_hold_every_page_of_theirs():
    for shelf in SHELVES:
        index = (DOCS / shelf / "index.md").read_text(encoding="utf-8")
        for page in (DOCS / shelf).glob("*.md"):
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
