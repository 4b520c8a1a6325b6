"""Prints what pip must install, from pyproject.toml: what the package and its development need, or the named groups."""

import sys

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]

groups = project["optional-dependencies"]
needed = [r for name in sys.argv[1:] for r in groups[name]] or project["dependencies"] + groups["dev"]
print(*(r.replace(" ", "") for r in needed))  # no spaces, so that a shell may split the line
