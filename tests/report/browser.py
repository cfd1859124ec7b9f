"""A real browser for the tests of pages, and a folder for what it saw."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROME = (
    shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
)
IS_REQUIRED = bool(os.environ.get("PROTOLABEL_REQUIRE_BROWSER"))
SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
PHONE = 390
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def launched_browser():
    """A browser; the test is skipped where there is none, unless one is required."""
    if not IS_REQUIRED:
        pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
        if CHROME is None:
            pytest.skip("no chromium or google-chrome is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROME, args=ARGUMENTS)
        yield browser
        browser.close()


class Visits:
    """Pages that were opened, each with what went wrong in it."""

    def __init__(self, browser):
        self._browser = browser
        self._opened = []

    def open(self, path, name, *, width=1280, height=900, scheme="light", fragment=""):
        """Open a file; anything it asks for elsewhere, or says to the console, is a problem."""
        context = self._browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        page = context.new_page()
        problems = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append("dialog"), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith("file:") else problems.append(request.url)
            ),
        )
        page.goto(path.as_uri() + fragment)
        self._opened.append((context, page, problems, f"{name}-{width}-{scheme}"))
        return page

    def close(self):
        """Keep a picture of every page and check that nothing went wrong."""
        SCREENSHOTS.mkdir(exist_ok=True)
        for context, page, problems, name in self._opened:
            page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
            context.close()
            assert (SCREENSHOTS / f"{name}.png").stat().st_size > 10_000
            assert problems == []
