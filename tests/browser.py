"""A real browser for tests and benchmarks, headless Chromium through its driver, and a lab served to it."""

import importlib.util
import json
import re
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from time import sleep

import pytest

PROGRAMS = ("chromium", "chromedriver")
REMEDY = "apt-get install chromium chromium-driver; pip install selenium"


def missing():
    """What a browser needs and is not there."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    return absent if importlib.util.find_spec("selenium") else [*absent, "selenium"]


def open_browser():
    """A driver, or a loud skip that says what is missing."""
    if missing():
        pytest.skip(f"NO BROWSER TEST: {', '.join(missing())} not installed ({REMEDY})")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,1400"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def resize(driver, width, height=1000):
    """Show pages at this width; Chromium itself has no window narrower than 500 pixels."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


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


@contextmanager
def served(name):
    """`dcgev lab NAME` on a free port; gives the address that it prints."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "dcgev_cvx", "lab", name, "--headless", "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            for line in server.stdout:
                if found := re.search(r"http://\S+", line):
                    yield found.group().replace("localhost", "127.0.0.1")
                    break
        finally:
            stop(server)


def stop(server):
    """End the command and the server that it started."""
    server.terminate()
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()


def has_result(driver):
    """Whether an app shows a picture or a table."""
    return driver.execute_script("return document.querySelector('img, table') !== null")


def sliders(driver):
    """The thumbs of an app's sliders; apps keep theirs in shadow roots."""
    return driver.execute_script(
        "return [...document.querySelectorAll('marimo-slider')].flatMap("
        "s => [...s.shadowRoot.querySelectorAll('[role=slider]')])"
    )


WATCH = """
const seen = () => {
  const found = [];
  const walk = root => root.querySelectorAll('img, table, marimo-callout-output').forEach(
    e => found.push(e.src || e.innerText || e.dataset.html));
  walk(document);
  return found.join();
};
const before = seen();
window.pressed = window.changed = null;
document.addEventListener('keydown', () => { window.pressed = performance.now(); }, {capture: true, once: true});
const look = () => {
  if (seen() !== before) window.changed = performance.now(); else requestAnimationFrame(look);
};
look();
"""


def answer_seconds(driver, thumb, key, limit=10.0):
    """Seconds from a key pressed on a slider to a picture, table or message that has changed; inf after the limit."""
    driver.execute_script(WATCH)
    thumb.send_keys(key)
    for _ in range(round(limit / 0.05)):
        pressed, changed = driver.execute_script("return [window.pressed, window.changed]")
        if changed is not None:
            return 1e-3 * (changed - pressed)
        sleep(0.05)
    return float("inf")
