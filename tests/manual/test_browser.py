"""The manual in Chromium, opened from disk, with no network: `make docs-test`."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from site_pages import ROOT, SITE, pages

SCREENSHOTS = ROOT / "build" / "screenshots"
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
SHOWN = ("index", "tutorial", "operations/slice_grad", "performance", "examples/convolution",
         "api/python/slices", "api/cpp/tensor_arrays")  # fmt: skip
EVERY_PAGE = [path.relative_to(SITE).as_posix() for path in pages()]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module", params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def tab(request, browser) -> Iterator[Page]:
    context = browser.new_context(viewport=request.param, offline=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def complaints(tab) -> Iterator[list[str]]:
    """Collect the browser's complaints during a test."""
    found: list[str] = []
    listeners = {
        "console": lambda message: found.append(message.text) if message.type in ("error", "warning") else None,
        "pageerror": lambda error: found.append(str(error)),
        "requestfailed": lambda request: found.append(f"not loaded: {request.url}"),
    }
    for event, listener in listeners.items():
        tab.on(event, listener)
    yield found
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)


def open_page(tab: Page, name: str) -> None:
    tab.goto((SITE / name).as_uri())


@pytest.mark.parametrize("name", EVERY_PAGE)
def test_page_opens_without_a_complaint_and_fits_the_screen(tab, complaints, name):
    open_page(tab, name)
    assert complaints == []
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


# Headers have 120 columns; the format of C++ programs sets theirs.
NARROW = [name for name in EVERY_PAGE if not name.startswith("api/cpp")]


@pytest.mark.parametrize("name", NARROW)
def test_code_needs_no_sideways_scrolling_on_a_desktop(tab, name):
    if tab.viewport_size == DESKTOP:
        open_page(tab, name)
        blocks = tab.locator(".bd-article pre").evaluate_all(
            "found => found.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"
        )
        assert blocks == []


def test_search_finds_sparse(tab, complaints):
    open_page(tab, "tutorial.html")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("sparse")
    tab.keyboard.press("Enter")
    tab.get_by_text("Search finished").wait_for()  # results appear one by one before this text
    results = tab.locator("#search-results li a")
    assert results.count() >= 5
    results.first.click()
    tab.wait_for_url(lambda url: "search.html" not in url)
    assert "sparse" in tab.locator("article").inner_text().lower()
    assert complaints == []


def test_menus_lead_from_page_to_page(tab, complaints):
    open_page(tab, "index.html")
    if tab.viewport_size == PHONE:
        tab.locator("button.primary-toggle").click()
    tab.get_by_role("link", name="Python API").locator("visible=true").first.click()
    assert tab.url.endswith("api/python.html")
    if tab.viewport_size == PHONE:
        tab.locator("button.primary-toggle").click()
    tab.get_by_role("link", name="Sparse tensors").locator("visible=true").first.click()
    assert tab.url.endswith("api/python/sparse.html")
    assert complaints == []


@pytest.mark.parametrize("name", SHOWN)
def test_screenshot(tab, name):
    open_page(tab, f"{name}.html")
    width = tab.viewport_size["width"]
    path = Path(SCREENSHOTS / f"{name.replace('/', '_')}_{width}.png")
    tab.screenshot(path=path)
    assert path.stat().st_size > 10_000
