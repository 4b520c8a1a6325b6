"""Reads the pages of the built manual for the tests: their links, anchors and loaded files."""

from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"


class Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif (tag == "link" and found.get("rel") != "search") or tag in ("script", "img"):
            named = [found[name] for name in ("src", "href") if name in found]
            self.loaded += [source for source in named if not source.startswith("data:")]  # data: is in the page itself


def pages() -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts}
