"""Prints what the package and its development need, from pyproject.toml, for pip to install."""

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

with open("pyproject.toml", "rb") as file:
    project = tomllib.load(file)["project"]

# No spaces, so that a shell may split the line.
print(*(r.replace(" ", "") for r in project["dependencies"] + project["optional-dependencies"]["dev"]))
