"""The command line: backslice demo."""

from pathlib import Path

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


@app.command()
def targets() -> None:
    """List the SIMD targets of this machine, best first; * marks the one in use.

    Example: BACKSLICE_FORCE_TARGET=AVX2 backslice targets
    """
    from . import simd_target, simd_targets

    for name in simd_targets():
        typer.echo(f"{'*' if name == simd_target() else ' '} {name}")


@app.command()
def bench(
    output: Path = typer.Option(Path("build/bench"), "-o", "--output", help="Folder for bench.json and bench.png."),
    peer: list[str] = typer.Option([], "--peer", help="Only these peers (may be repeated)."),
    only: str = typer.Option("", "--only", help="Only workloads whose name contains this."),
    rounds: int = typer.Option(2, min=1, help="How often the peers take turns."),
    quick: bool = typer.Option(False, "--quick", help="Two small workloads, one round."),
) -> None:
    """Time backslice beside every peer that is installed (make bench installs them).

    Example: backslice bench --peer numpy --only "4096"
    """
    from .bench.command import run

    if not run(output, peer, only, rounds, quick):
        raise typer.Exit(1)


def main() -> None:
    app()


if __name__ == "__main__":
    main()
