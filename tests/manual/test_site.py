"""The built manual is complete: links have targets, nothing is fetched, and everything public is described."""

import importlib
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import backslice
import pytest
from site_pages import ROOT, SITE, Page, pages

MODULES = ("pool", "ragged", "scipy", "awkward", "arrow", "dialects", "picture")


@pytest.fixture(scope="module")
def site() -> dict[Path, Page]:
    found = pages()
    assert len(found) > 30, "make docs builds the manual"
    return found


@pytest.fixture(scope="module")
def described() -> set[str]:
    """Return every name that the manual describes, from the inventory for links from other manuals."""
    lines = zlib.decompress((SITE / "objects.inv").read_bytes().split(b"zlib.\n", 1)[1]).decode().splitlines()
    return {re.match(r"(.*?) \w+:\w+ ", line)[1] for line in lines}


def test_every_link_leads_to_a_page_and_an_anchor(site):
    for page in site.values():
        for link in page.links:
            parts = urlsplit(link)
            if not parts.scheme:
                target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
                assert target.is_file(), f"{page.path.name}: {link}"
                if parts.fragment and target in site:
                    assert unquote(parts.fragment) in site[target].anchors, f"{page.path.name}: {link}"


def test_pages_load_nothing_from_elsewhere(site):
    for page in site.values():
        for source in page.loaded:
            path = urlsplit(source)
            assert not path.scheme and not path.netloc, f"{page.path.name}: {source}"
            assert (page.path.parent / unquote(path.path)).exists(), f"{page.path.name}: {source}"


def test_every_page_is_reached_from_the_first_one(site):
    reached, todo = set(), [SITE / "index.html"]
    while todo:
        page = todo.pop()
        if page in site and page not in reached:
            reached.add(page)
            todo += [(page.parent / unquote(urlsplit(link).path)).resolve() for link in site[page].links if link]
    made_by_sphinx = {SITE / name for name in ("search.html", "genindex.html", "py-modindex.html", "cpp-modindex.html")}
    assert set(site) - reached <= made_by_sphinx


def public_python() -> Iterator[str]:
    for name in backslice.__all__:
        value = getattr(backslice, name)
        yield f"backslice.{name}"
        if isinstance(value, type) and not issubclass(value, Exception):
            yield from (f"backslice.{name}.{member}" for member in vars(value) if not member.startswith("_"))
    for module_name in MODULES:
        module = importlib.import_module(f"backslice.{module_name}")
        yield from (f"{module.__name__}.{name}" for name in public_names(module))


def public_names(module) -> list[str]:
    if hasattr(module, "__all__"):
        return module.__all__
    return [n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", "") == module.__name__]


def test_everything_public_in_python_is_described(described):
    assert sorted(set(public_python()) - described) == []


def public_cpp() -> Iterator[str]:
    """Return the functions and classes that Doxygen found in the headers, except those that only other headers use."""
    folder = ROOT / "build" / "doxygen" / "xml"
    for path in folder.glob("*.xml"):
        for compound in ElementTree.parse(path).getroot().iter("compounddef"):
            location = compound.find("location").get("file", "")
            if compound.get("kind") in ("class", "struct") and not location.endswith("inline_vector.h"):
                yield compound.findtext("compoundname")
            if compound.get("kind") in ("class", "struct", "namespace"):
                for member in compound.iter("memberdef"):
                    is_inline_vector = member.find("location").get("file", "").endswith("inline_vector.h")
                    if member.get("kind") == "function" and member.get("prot") == "public" and not is_inline_vector:
                        yield member.findtext("qualifiedname") or member.findtext("name")


def test_everything_public_in_cpp_is_described(described):
    names = {re.sub(r"<.*>", "", name) for name in public_cpp() if "operator" not in name}
    assert len(names) > 150
    assert sorted(name for name in names if name not in described) == []


def test_the_search_index_knows_sparse():
    assert '"spars"' in (SITE / "searchindex.js").read_text() or '"sparse"' in (SITE / "searchindex.js").read_text()
