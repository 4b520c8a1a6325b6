"""The recipes for package managers name this version and these dependencies. `make packaging-test` runs one of them."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"


def version() -> str:
    header = (ROOT / "include" / "backslice" / "version.h").read_text()
    return re.search(r'BACKSLICE_VERSION "([^"]+)"', header)[1]


def test_recipes_have_the_librarys_version():
    port = json.loads((PACKAGING / "vcpkg" / "backslice" / "vcpkg.json").read_text())
    assert port["version"] == version()
    recipe = (PACKAGING / "conda" / "recipe.yaml").read_text()
    assert re.search(r'^  version: "(.+)"$', recipe, re.MULTILINE)[1] == version()


def test_the_conda_recipe_has_the_dependencies_of_the_python_package():
    recipe = (PACKAGING / "conda" / "recipe.yaml").read_text()
    (listed,) = re.findall(r"^dependencies = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    for dependency in json.loads(listed):
        name, least = re.fullmatch(r"([\w-]+)>=([\d.]+)", dependency).groups()
        assert f"- {name} >={least}\n" in recipe, dependency


def test_the_manual_names_the_recipes_as_they_are():
    page = (ROOT / "docs" / "install.md").read_text()
    for recipe in ("conan/conanfile.py", "conda/recipe.yaml", "vcpkg/backslice/portfile.cmake"):
        assert (PACKAGING / recipe).is_file()
        assert re.search(rf"packaging/{recipe.partition('/')[0]}\b", page), recipe


def test_files_that_the_conan_recipe_exports_exist():
    recipe = (PACKAGING / "conan" / "conanfile.py").read_text()
    (listed,) = re.findall(r"^EXPORTED = \((.*)\)$", recipe, re.MULTILINE)
    for pattern in re.findall(r'"([^"]+)"', listed):
        assert list(ROOT.glob(pattern)), pattern
