"""The built site: links, public names, equations, no requests to other servers, pictures that move in a browser."""

import inspect
import os
import re
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from browser import complaints, open_browser, outside_requests, resize, wait_for

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

    rooms = [getattr(dcgev_cvx, name) for name in dcgev_cvx.__all__ if inspect.ismodule(getattr(dcgev_cvx, name))]
    names = {(module, name) for module in [dcgev_cvx, *rooms] for name in module.__all__}
    return {home(module, name) for module, name in names if not inspect.ismodule(getattr(module, name))}


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
    unlinked = {name for name in wanted - linked if not name.startswith(("test_", "_numerics."))}
    assert len(wanted) > 60
    assert unlinked == set()


def test_a_page_typesets_every_equation_that_it_cites(site):
    from prose import PLAIN, anchor, equations_cited

    for source in DOCS.rglob("*.md"):
        name = source.relative_to(DOCS).with_suffix("").as_posix()
        cited = equations_cited(source.read_text(encoding="utf-8"))
        if name in PLAIN or {*MADE, "slides"} & set(name.split("/")) or not cited:
            continue
        page = (site / f"{name}.html").read_text(encoding="utf-8")
        section = page[page.index('<section id="equations-cited">') :]
        for row in cited:
            place = section[section.index(f'id="{anchor(row)}"') :].split("</tr>")[0]
            assert row[0] in place, f"{name}: {row[0]} without its number"
            assert 'class="math' in place, f"{name}: {row[0]} is not typeset"


def test_the_page_of_a_model_shows_formula_source_and_printed_problem(site):
    for name in set(dcgev_cvx.models.__all__) - {"show"}:
        stem = name.removesuffix("_by_group").replace("_", "-")
        page = (site / "reference" / "models" / f"{stem}.html").read_text(encoding="utf-8")
        section = page[page.index(f'id="dcgev_cvx.models.{name}"') :]
        assert 'class="math' in section
        text = re.sub(r"<[^>]*>", "", section)
        assert f"def {name}(" in text
        assert re.search(r"^(minimize|maximize) ", text, re.MULTILINE), name


def test_the_first_screen_says_what_shows_one_picture_and_one_command(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    article = text[text.index("<article") : text.index("</article>")]
    assert article.count('class="moving-picture"') == 1
    words = re.sub(r"<[^>]*>", "", article)
    assert "Sparse PCA, CCA and Fisher discriminant analysis" in words
    assert "dcgev solve pitprops -k 4" in words


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
        assert set(stated) <= {"0.1", "0.2"}, f"{page.name} states {stated}"  # a size, and a start to try


WIDTHS = (1400, 390)


@pytest.fixture(scope="module")
def driver():
    driver = open_browser()
    yield driver
    driver.quit()


def opened(driver, page, width):
    """A page at a width, once its formulas and pictures are drawn; the log of earlier pages is dropped."""
    from selenium.webdriver.common.by import By

    complaints(driver), outside_requests(driver)
    resize(driver, width)
    driver.get(page.as_uri())
    for kind in ("mjx-container svg", ".moving-picture .rows tr, .moving-loadings .bar"):
        wait_for(driver, lambda d, kind=kind: d.find_elements(By.CSS_SELECTOR, kind), 60)
    driver.execute_script("document.documentElement.style.scrollBehavior = 'auto'")  # a click would hit a moving page


def looks(driver, number=0):
    """What a moving picture shows: its drawing, its status and its table."""
    return driver.execute_script(
        "const p = document.querySelectorAll('.moving-picture')[arguments[0]];"
        "return [p.querySelector('.view svg').innerHTML, p.querySelector('.status').textContent,"
        " [...p.querySelectorAll('tbody tr')].map(r => [...r.cells].map(c => c.textContent))]",
        number,
    )


def find(driver, selector, number=0):
    return driver.find_elements("css selector", ".moving-picture")[number].find_element("css selector", selector)


def number_of(text):
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("number", [0, 1], ids=["line", "plane"])
def test_in_a_browser_the_picture_steps_plays_resets_and_is_dragged(site, driver, width, number):
    from selenium.webdriver.common.action_chains import ActionChains

    opened(driver, site / "tutorials" / "moving-majoriser.html", width)
    find(driver, "button:nth-child(3)", number).click()  # reset
    assert len(looks(driver, number)[2]) == 1
    find(driver, "button:nth-child(1)", number).click()  # step
    find(driver, "button:nth-child(1)", number).click()
    rows = looks(driver, number)[2]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    for before, after in pairwise(rows):
        f, g = number_of(after[2]), number_of(after[3])
        assert f <= g + 1e-4
        assert g <= number_of(before[2]) + 1e-4

    handle = find(driver, ".handle", number)
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", handle)
    start = rows[0][1]
    ActionChains(driver).click_and_hold(handle).move_by_offset(-25, 0).release().perform()
    rows = looks(driver, number)[2]
    assert rows[0][1] != start
    assert len(rows) == 3  # the whole path moves with its start

    play = find(driver, "button:nth-child(2)", number)
    play.click()
    assert play.text == "Pause"
    wait_for(driver, lambda d: len(looks(d, number)[2]) >= 5)
    wait_for(driver, lambda d: "fixed point" in looks(d, number)[1] or len(looks(d, number)[2]) > 40, 120)
    if play.text == "Pause":
        play.click()
    assert complaints(driver) == []
    assert outside_requests(driver) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("number", [0, 1], ids=["line", "plane"])
def test_in_a_browser_every_slider_of_the_picture_answers_the_keyboard(site, driver, width, number):
    from selenium.webdriver.common.keys import Keys

    opened(driver, site / "tutorials" / "moving-majoriser.html", width)
    count = len(driver.find_elements("css selector", ".moving-picture")[number].find_elements("css selector", "label"))
    assert count == 3 + number
    for row in range(1, count + 1):
        before = looks(driver, number)
        find(driver, f".panel label:nth-child({row}) input", number).send_keys(Keys.ARROW_LEFT * 3)
        after = looks(driver, number)
        assert all(now != then for now, then in zip(after, before, strict=True)), f"slider {row}"
    step = find(driver, "button:nth-child(1)", number)
    rows = len(looks(driver, number)[2])
    step.send_keys(Keys.ENTER)
    step.send_keys(Keys.SPACE)
    assert len(looks(driver, number)[2]) == rows + 2
    assert complaints(driver) == []


def test_in_a_browser_the_picture_computes_what_the_package_computes(site, driver):
    from test_moving_picture import COMPUTE, cases, compare

    opened(driver, site / "tutorials" / "moving-majoriser.html", 1400)
    given = list(cases())
    compare(given, driver.execute_script(f"const data = arguments[0]; return {COMPUTE.strip()}", given))


def test_in_a_browser_the_path_slider_moves_the_loadings(site, driver):
    from selenium.webdriver.common.keys import Keys

    opened(driver, site / "tutorials" / "rho-to-k.html", 390)
    drawn = "return document.querySelector('.moving-loadings svg').innerHTML"
    before = driver.execute_script(drawn)
    driver.find_element("css selector", ".moving-loadings input").send_keys(Keys.END)
    assert driver.execute_script(drawn) != before
    assert complaints(driver) == []
    assert outside_requests(driver) == []


CLIPPED = """
const page = document.documentElement;
const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
const wide = [...document.querySelectorAll('article *, .toc-drawer *')].filter(e => {
  const box = e.getBoundingClientRect();
  if (box.width < 2 || (box.right <= page.clientWidth + 1 && box.left >= -1)) return false;
  for (let up = e; up && up !== page; up = up.parentElement)
    if (scrolls(up) || up.tagName === 'MJX-CONTAINER') return false;
  return getComputedStyle(e).visibility !== 'hidden' && getComputedStyle(e).position !== 'fixed';
});
return [page.scrollWidth - page.clientWidth, wide.slice(0, 3).map(e => e.outerHTML.slice(0, 120))];
"""


@pytest.mark.parametrize("width", [1400, 1366, 390])
def test_in_a_browser_no_page_is_wider_than_the_screen(site, driver, width):
    resize(driver, width)
    pages = [page for shelf in ("", *SHELVES, "gallery") for page in sorted((site / shelf).glob("*.html"))]
    cut = {}
    for page in pages:
        driver.get(page.as_uri())
        driver.execute_async_script("window.MathJax ? MathJax.startup.promise.then(arguments[0]) : arguments[0]()")
        assert not driver.find_elements("css selector", "mjx-merror, [data-mml-node=merror]"), page.name
        over, elements = driver.execute_script(CLIPPED)
        if over > 0 or (elements and width != 390):
            cut[page.name] = over, elements
    assert cut == {}
    assert complaints(driver) == []
