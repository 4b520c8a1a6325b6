from fixtures import folder  # noqa: F401
