"""A real browser for the tests: headless Chromium through its driver, or a loud skip."""

import json
import shutil

import pytest

PROGRAMS = ("chromium", "chromedriver")


def open_browser():
    """A driver, or a skip that says what is missing."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        missing.append("selenium")
    if missing:
        pytest.skip(f"NO BROWSER TEST: {', '.join(missing)} not installed (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1400"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def complaints(driver):
    """Errors on the console."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def outside_requests(driver):
    """Addresses asked for that are neither this machine nor a file."""
    own = (
        "http://127.0.0.1",
        "http://localhost",
        "ws://127.0.0.1",
        "ws://localhost",
        "file:",
        "data:",
        "blob:",
        "chrome",
    )
    asked = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
            params = message["params"]
            asked.append(params["request"]["url"] if "request" in params else params["url"])
    return [url for url in asked if not url.startswith(own)]


def wait_for(driver, condition, seconds=30):
    """The first true value of a condition."""
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, seconds, ignored_exceptions=[StaleElementReferenceException]).until(condition)
