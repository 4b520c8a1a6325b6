"""The command line: backslice demo."""

import typer

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Gradients of slices, from the command line.")


def _print_version(wanted: bool) -> None:
    if wanted:
        from . import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


@app.command()
def demo() -> None:
    """Compute gradients of slices in all three dialects and check each by brute force.

    Example: backslice demo
    """
    from .demo import run

    if not run():
        raise typer.Exit(1)


def main() -> None:
    app()


if __name__ == "__main__":
    main()
