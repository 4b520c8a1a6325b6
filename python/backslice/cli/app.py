"""The commands and their options. What they do is in the modules of their names, imported when they are used."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from . import Failure, Usage, one_line
from .arguments import SliceCommand

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help='Gradients of slices. Example: backslice explain 4,6 "1:3, ::2"',
)

SHAPE = typer.Option(..., "--shape", metavar="4096,4096", help="The shape of x, and so of the gradient.")
INDEX = typer.Option(None, "--index", metavar='"1:3, ::2"', help="The slice as NumPy says it.")
TF = typer.Option(None, "--tf", metavar="begin=.. end=..", help="As TensorFlow: also strides=.. and the five masks.")
ONNX = typer.Option(None, "--onnx", metavar="starts=.. ends=..", help="As ONNX: also axes=.. steps=..")
DTYPE = typer.Option(None, "--dtype", metavar="bfloat16", help="What the raw items of an .npy file are.")
OUTPUT = typer.Option(..., "-o", "--output", metavar="FILE", help=".npy, .npz:name, .safetensors:name, or -.")
FORCE = typer.Option(False, "--force", help="Replace a file that is there.")
JSON = typer.Option(False, "--json", help="Print JSON, for programs.")


def _print_version(wanted: bool) -> None:
    if wanted:
        from .._core import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


@app.command("grad", cls=SliceCommand)
def grad(
    dy: str = typer.Argument(metavar="DY", help="The gradient of the slice: a file, or -."),
    shape: str = SHAPE,
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """The gradient of a slice, from file to file.

    It is DY where x was taken from, and zero elsewhere.

    Example: backslice grad dy.npy --shape 4,6 --index "1:3, ::2" -o dx.npy
    """
    from . import dense
    from .arguments import read_shape, read_spec

    spec, extents = read_spec(index, tf, onnx), read_shape(shape)
    _report(dense.grad(dy, extents, spec, dtype, _output(output, force, "dx", as_json)), as_json)


@app.command("slice", cls=SliceCommand)
def slice_(
    x: str = typer.Argument(metavar="X", help="What is sliced: a file, or -."),
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """A slice of an array in a file.

    Example: backslice slice model.safetensors:embed --index ":100" -o part.npy
    """
    from . import dense
    from .arguments import read_spec

    spec = read_spec(index, tf, onnx)
    _report(dense.slice_(x, spec, dtype, _output(output, force, "y", as_json)), as_json)


@app.command("sparse-grad")
def sparse_grad(
    file: str = typer.Argument(metavar="FILE.npz", help="The arrays by name, or - for a pipe."),
    order: str = typer.Option("in_order", "--order", metavar="any", help="in_order, or any for rows in any order."),
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """The gradient of a sparse slice.

    The file holds backprop_val_grad, input_indices, input_start and output_indices, as SparseSliceGrad has
    them; or grad, input_indices, start and size.

    Example: backslice sparse-grad slices.npz -o dx.npy
    """
    from . import sparse

    if order not in ("in_order", "any"):
        raise Usage(f"--order {order!r}: it is in_order or any")
    _report(sparse.sparse_grad(file, order, dtype, _output(output, force, "dx", as_json)), as_json)


@app.command("ragged-grad")
def ragged_grad(
    file: str = typer.Argument(metavar="FILE.npz", help="The arrays by name, or - for a pipe."),
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """The gradient of a ragged tensor's values.

    The file holds row_splits (or row_splits_0, row_splits_1, ... for nested rows), dense_values_shape, and
    piece_<i>, the gradient of row i, for each row that has one.

    Example: backslice ragged-grad rows.npz -o dvalues.npy
    """
    from . import ragged

    _report(ragged.ragged_grad(file, dtype, _output(output, force, "dx", as_json)), as_json)


@app.command("explain", cls=SliceCommand)
def explain(
    shape: str = typer.Argument(metavar="SHAPE"),
    positional: str | None = typer.Argument(None, metavar="INDEX"),
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dtype: str = typer.Option("float32", "--dtype", metavar="float32", help="Of the gradient, for its cost."),
    svg: Path | None = typer.Option(None, "--svg", metavar="FILE", help="Write the picture as SVG."),
    png: Path | None = typer.Option(None, "--png", metavar="FILE", help="Write the picture as PNG."),
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """Show what a slice selects, and what its gradient costs.

    A picture, the normal form, the slice in every dialect, the cost, and what other libraries would do.

    Example: backslice explain 4,6 "1:3, ::2" --svg slice.svg
    """
    from rich.console import Console

    from . import explain as command
    from .arguments import read_selection, read_shape, read_spec
    from .dtypes import movable_dtype
    from .outputs import check_target

    selection = read_selection(read_spec(index, tf, onnx, positional), read_shape(shape))
    kind = movable_dtype(dtype)
    for path in (svg, png):
        if path is not None:
            check_target(path, force)
    told = command.facts(selection, kind)
    _tell(told, as_json, lambda: command.show(selection, told, Console()))
    for path, form in ((svg, "svg"), (png, "png")):
        if path is not None:
            _draw(selection, form, path, force)


@app.command("convert", cls=SliceCommand)
def convert(
    shape: str = typer.Argument(metavar="SHAPE"),
    positional: str | None = typer.Argument(None, metavar="INDEX"),
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    to: str = typer.Option("all", "--to", metavar="DIALECT", help="python, tf, onnx or all."),
    as_json: bool = JSON,
) -> None:
    """Say a slice in another dialect.

    Warns where the same numbers would mean something else.

    Example: backslice convert 5 --onnx starts=-10 ends=INT_MIN steps=-1 --to python
    """
    from rich.console import Console

    from .. import dialects
    from . import convert as command
    from .arguments import read_shape, read_spec

    if to not in ("all", *dialects.DIALECTS):
        raise Usage(f"--to {to!r}: the dialects are {', '.join(dialects.DIALECTS)}, or all")
    wanted = dialects.DIALECTS if to == "all" else (to,)
    result = command.convert(read_shape(shape), read_spec(index, tf, onnx, positional), wanted)
    _tell(result, as_json, lambda: command.show(result, wanted, Console(), Console(stderr=True)))


@app.command("check", cls=SliceCommand)
def check(
    given: str = typer.Argument(metavar="GRADIENT", help="A file, or module:function called with dy."),
    shape: str = SHAPE,
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dy: str | None = typer.Option(None, "--dy", metavar="FILE", help="dy; needed where GRADIENT is a file."),
    dtype: str | None = DTYPE,
    rtol: float = typer.Option(0.0, "--rtol", min=0, help="Relative difference to allow."),
    forward: str | None = typer.Option(None, "--forward", metavar="M:F", help="Your own slice, called with x."),
    as_json: bool = JSON,
) -> None:
    """Check a gradient of yours, element by element.

    Against finite differences and against backslice's.

    Example: backslice check mine:grad --shape 4,6 --index "1:3, ::2"
    """
    from rich.console import Console

    from . import check as command
    from .arguments import read_selection, read_shape, read_spec
    from .inputs import is_array_file

    selection = read_selection(read_spec(index, tf, onnx), read_shape(shape))
    if is_array_file(given) and dy is None:
        raise Usage("--dy is missing: a gradient in a file was computed from a dy, say which")
    command.check_size(selection)
    result = command.check(given, selection, command.read_dy(dy, selection, dtype), dtype, rtol, forward)
    _tell(result, as_json, lambda: command.show(result, Console()))
    if not result["agrees"]:
        raise typer.Exit(1)


@app.command("doctor")
def doctor(as_json: bool = JSON) -> None:
    """What to paste into a bug report.

    Processor, caches, SIMD, threads, memory, versions, adapters and peers.

    Example: backslice doctor > report.txt
    """
    from rich.console import Console

    from . import doctor as command

    found = command.facts()
    _tell(found, as_json, lambda: command.show(found, Console()))


@app.command("demo")
def demo() -> None:
    """A tour of the five operations, with pictures.

    Each result is checked by brute force.

    Example: backslice demo
    """
    from rich.console import Console

    from . import tour

    if not tour.run(Console()):
        raise typer.Exit(1)


@app.command("targets")
def targets(as_json: bool = JSON) -> None:
    """List the SIMD targets of this machine.

    The best first; * marks the one in use.

    Example: BACKSLICE_FORCE_TARGET=AVX2 backslice targets
    """
    from .._core import environment_problems, simd_target, simd_targets
    from .streams import say

    names, used = simd_targets(), simd_target()
    lines = [f"{'*' if name == used else ' '} {name}" for name in names]
    for problem in environment_problems():
        say(f"warning: {problem}")
    _tell({"targets": names, "in_use": used}, as_json, lambda: typer.echo("\n".join(lines)))


@app.command("bench")
def bench(
    output: Path = typer.Option(Path("build/bench"), "-o", "--output", help="Folder for bench.json and bench.png."),
    peer: list[str] = typer.Option([], "--peer", help="Only these peers (may be repeated)."),
    only: str = typer.Option("", "--only", help="Only workloads whose name contains this."),
    rounds: int = typer.Option(2, min=1, help="How often the peers take turns."),
    quick: bool = typer.Option(False, "--quick", help="Two small workloads, one round."),
) -> None:
    """Time backslice beside every peer that is installed.

    make bench installs them.

    Example: backslice bench --peer numpy --only "4096"
    """
    from ..bench.command import run

    if not run(output, peer, only, rounds, quick):
        raise typer.Exit(1)


def _output(text: str, force: bool, name: str, as_json: bool) -> Any:
    from .outputs import output_at

    if text == "-" and as_json:
        raise Usage("--json and -o - both write to standard output: write to a file")
    return output_at(text, force, name)


def _tell(found: dict[str, Any], as_json: bool, show: Callable[[], None]) -> None:
    """What a command found: JSON for programs, else as the command shows it to people."""
    if as_json:
        typer.echo(json.dumps(found))
    else:
        show()


def _report(done: dict[str, Any], as_json: bool) -> None:
    from ..units import human_bytes, human_seconds

    cost = f"{human_bytes(done['bytes'])} in {human_seconds(done['seconds'])}"
    said = f"{done['output']}: {done['dtype']} {done['shape']}, {cost}"
    _tell(done, as_json, lambda: typer.echo(one_line(said), err=True))


def _draw(selection: Any, form: str, path: Path, force: bool) -> None:
    from .. import picture
    from .outputs import replacing

    drawing = picture.of(selection)
    with replacing(path, force) as temporary:
        if form == "svg":
            temporary.write_text(picture.svg(drawing), encoding="utf-8")
            return
        try:
            picture.png(drawing, temporary)
        except ModuleNotFoundError:
            raise Failure("--png needs matplotlib: pip install matplotlib, or write --svg") from None
