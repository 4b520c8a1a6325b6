"""Prints requirements from pyproject.toml: those of the package and its command line, or of the named groups."""

import sys

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

with open("pyproject.toml", "rb") as file:
    configuration = tomllib.load(file)

groups = configuration["project"]["optional-dependencies"] | configuration["dependency-groups"]
needed = [requirement for name in sys.argv[1:] for requirement in groups[name]]
if not needed:
    needed = configuration["build-system"]["requires"] + configuration["project"]["dependencies"] + groups["cli"]
print(*(requirement.replace(" ", "") for requirement in needed))  # without spaces, so that a shell can split the line
