"""python -m backslice is the command line."""

from .cli import main

main()
