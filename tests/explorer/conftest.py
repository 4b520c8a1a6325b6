"""Runs the explorer in headless Chromium, from disk and without a network."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "build" / "explorer" / "slice_explorer.html"
SCREENSHOTS = ROOT / "build" / "screenshots"
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 360, "height": 780}
PATIENCE = 60_000  # milliseconds, for busy machines; does not delay results that are there already
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    assert PAGE.is_file(), "make explorer builds the page"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


class Tab:
    """A page, and the browser's complaints and requests."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on(
            "console", lambda message: self._complain(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: self._complain(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def _complain(self, text: str) -> None:
        self.complaints.append(text)

    def open(self, link: str = "") -> Page:
        """Open the page for the first time, with its first picture."""
        self.page.goto("about:blank")
        self.page.goto(PAGE.as_uri() + link)
        # wait_for_function would evaluate text inside the page, which its policy forbids.
        self.page.locator("#results[aria-busy=false]").wait_for(state="attached")
        return self.page

    def follow(self, link: str) -> None:
        """Open another link in the same page."""
        with self.page.expect_event("framenavigated"):
            self.page.evaluate("link => { location.hash = link; }", link)
        # The page's listener runs in a task of its own, which is queued already.
        self.page.evaluate("() => new Promise((done) => setTimeout(done))")

    def type(self, shape: str, index: str) -> None:
        """Type a slice, and clear the other slices."""
        self.page.evaluate("document.getElementById('more-slices').open = true")
        for field, text in (("shape", shape), ("more", ""), ("index", index)):
            self.page.fill(f"#{field}", text)

    def ask(self, **fields: str) -> Any:
        return self.page.evaluate("fields => backsliceExplorer.ask(fields)", fields)


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    context = browser.new_context(viewport=DESKTOP, offline=True, accept_downloads=True, has_touch=True)
    context.set_default_timeout(PATIENCE)
    opened = Tab(context.new_page())
    yield opened
    context.close()
    assert opened.complaints == []
    assert {url.split("#")[0] for url in opened.requests if not url.startswith(("blob:", "data:", "about:"))} <= {
        PAGE.as_uri()
    }
