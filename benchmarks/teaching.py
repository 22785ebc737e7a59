"""How fast the lab is in a real browser: from command to first result, from a key on a slider to what it changes."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from .report import Measure, Skipped, at_most, installed, of_the_tests

LABS = ("broken", "gap", "majoriser", "playground", "step")
"""The apps with sliders."""
RIGHT, LEFT = "\ue014", "\ue012"
"""The keys as WebDriver names them, pressed in turn: no slider reaches its end, and each meets the first picture."""


def run(repeats: int) -> Iterator[Measure | Skipped]:
    """Every measure of the section."""
    browser = of_the_tests("browser")
    if browser.missing() or not installed("marimo"):
        yield Skipped("the lab in a browser", f"{browser.REMEDY} '.[lab]'")
        return
    driver = browser.open_browser()
    try:
        for name in LABS:
            yield from lab(browser, driver, name, repeats)
    finally:
        driver.quit()


def lab(browser: Any, driver: Any, name: str, repeats: int) -> Iterator[Measure]:
    """The first result of an app, and its slowest slider."""
    begin = perf_counter()
    with browser.served(name) as address:
        driver.get(address)
        browser.wait_for(driver, browser.has_result, 60)
        yield at_most(f"dcgev lab {name}: first result", perf_counter() - begin, "s", 8.0)
        medians = [
            statistics.median(browser.answer_seconds(driver, thumb, key) for key in repeats * (RIGHT, LEFT))
            for thumb in browser.sliders(driver)
        ]
        yield at_most(f"lab {name}: slowest slider", max(medians), "s", 0.5, f"{len(medians)} sliders")
