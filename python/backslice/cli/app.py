"""The commands and their options. Each command's work is in the module of its name, imported when it is used."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
import typer.core

from . import Failure, Usage, one_line
from .arguments import SliceCommand


class Commands(typer.core.TyperGroup):
    """A group of commands whose help fits a screen: it shows only the most used option for completion."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)
        for param in params:
            if isinstance(param, typer.core.TyperOption) and param.name == "show_completion":
                param.hidden = True
        return params


app = typer.Typer(
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help='Gradients of slices. Example: backslice explain 4,6 "1:3, ::2"',
)


def among(*names: str) -> Callable[[], list[str]]:
    """Return the shell's completions for the value of an option."""
    return lambda: list(names)


DTYPES = among("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int32", "int64")
SHAPE = typer.Option(..., "--shape", metavar="4096,4096", help="Shape of x and of its gradient.")
INDEX = typer.Option(None, "--index", metavar='"1:3, ::2"', help="The slice in NumPy's notation.")
TF = typer.Option(None, "--tf", metavar="begin=.. end=..", help="In TensorFlow's notation; also strides=.., masks.")
ONNX = typer.Option(None, "--onnx", metavar="starts=.. ends=..", help="In ONNX's notation; also axes=.. and steps=..")
DTYPE = typer.Option(
    None, "--dtype", metavar="bfloat16", autocompletion=DTYPES, help="Dtype of raw items in an .npy file."
)
OUTPUT = typer.Option(..., "-o", "--output", metavar="FILE", help="Result: .npy, .npz:name, .safetensors:name or -.")
FORCE = typer.Option(False, "--force", help="Overwrite an existing file.")
JSON = typer.Option(False, "--json", help="Print JSON.")
ORDERS = ("in_order", "any")
DIALECTS = ("python", "tf", "onnx", "all")
DEVICES = ("cpu", "cuda")
DEVICE = typer.Option(
    "cpu", "--device", metavar="cuda", autocompletion=among(*DEVICES), help="Where it runs: cpu or cuda."
)
X_SHAPE = typer.Argument(metavar="SHAPE", help="Shape of x, such as 4,6.")
X_INDEX = typer.Argument(None, metavar="INDEX", help="The slice in NumPy's notation, or an option below.")


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
    dy: str = typer.Argument(metavar="DY", help="Gradient of the slice: a file, or - for a pipe."),
    shape: str = SHAPE,
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """Compute the gradient of a slice.

    The result is DY at the selected elements of x, and zero elsewhere.

    Example: backslice grad dy.npy --shape 4,6 --index "1:3, ::2" -o dx.npy
    """
    from . import dense
    from .arguments import read_shape, read_spec

    spec, extents = read_spec(index, tf, onnx), read_shape(shape)
    _report(dense.grad(dy, extents, spec, dtype, _output(output, force, "dx", as_json)), as_json)


@app.command("slice", cls=SliceCommand)
def slice_(
    x: str = typer.Argument(metavar="X", help="Array to slice: a file, or - for a pipe."),
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """Take a slice of an array in a file.

    Example: backslice slice model.safetensors:embed --index ":100" -o part.npy
    """
    from . import dense
    from .arguments import read_spec

    spec = read_spec(index, tf, onnx)
    _report(dense.slice_(x, spec, dtype, _output(output, force, "y", as_json)), as_json)


@app.command("sparse-grad")
def sparse_grad(
    file: str = typer.Argument(metavar="FILE.npz", help="Arrays by name, or - for a pipe."),
    order: str = typer.Option(
        "in_order", "--order", metavar="any", autocompletion=among(*ORDERS), help="Order of the rows: in_order or any."
    ),
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """Compute the gradient of a sparse slice.

    The file holds SparseSliceGrad's backprop_val_grad, input_indices, input_start and output_indices; or grad,
    input_indices, start and size.

    Example: backslice sparse-grad slices.npz -o dx.npy
    """
    from . import sparse

    if order not in ORDERS:
        raise Usage(f"--order is {order!r}, expected {' or '.join(ORDERS)}")
    _report(sparse.sparse_grad(file, order, dtype, _output(output, force, "dx", as_json)), as_json)


@app.command("ragged-grad")
def ragged_grad(
    file: str = typer.Argument(metavar="FILE.npz", help="Arrays by name, or - for a pipe."),
    dtype: str | None = DTYPE,
    output: str = OUTPUT,
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """Compute the gradient of a ragged tensor's values.

    The file holds row_splits (or row_splits_0, row_splits_1, ... for nested rows), dense_values_shape, and
    piece_<i>, the gradient of row i, for each row that has one.

    Example: backslice ragged-grad rows.npz -o dvalues.npy
    """
    from . import ragged

    _report(ragged.ragged_grad(file, dtype, _output(output, force, "dx", as_json)), as_json)


@app.command("explain", cls=SliceCommand)
def explain(
    shape: str = X_SHAPE,
    positional: str | None = X_INDEX,
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dtype: str = typer.Option(
        "float32", "--dtype", metavar="float32", autocompletion=DTYPES, help="Dtype of the gradient."
    ),
    svg: Path | None = typer.Option(None, "--svg", metavar="FILE", help="Save the picture as SVG."),
    png: Path | None = typer.Option(None, "--png", metavar="FILE", help="Save the picture as PNG."),
    everything: bool = typer.Option(False, "--all", help="Add other dialects, details and other libraries."),
    device: str = DEVICE,
    bandwidth: float | None = typer.Option(
        None, "--bandwidth", metavar="GB/s", help="Of the CUDA device: 4200, unless given."
    ),
    force: bool = FORCE,
    as_json: bool = JSON,
) -> None:
    """Show the selected elements and the cost of the gradient.

    Example: backslice explain 4,6 "1:3, ::2" --svg slice.svg
    """
    from . import explain as command
    from .arguments import read_selection, read_shape, read_spec
    from .console import console
    from .dtypes import movable_dtype
    from .outputs import check_target

    cuda = _bandwidth(device, bandwidth)
    selection = read_selection(read_spec(index, tf, onnx, positional), read_shape(shape))
    kind = movable_dtype(dtype)
    for path in (svg, png):
        if path is not None:
            check_target(path, force)
    for path, form in ((svg, "svg"), (png, "png")):  # before printing, which ends early if `head` closes the pipe
        if path is not None:
            _draw(selection, form, path, force)
    info = command.facts(selection, kind, cuda)
    _print_result(info, as_json, lambda: command.show(selection, info, console(), everything))


@app.command("convert", cls=SliceCommand)
def convert(
    shape: str = X_SHAPE,
    positional: str | None = X_INDEX,
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    to: str = typer.Option(
        "all", "--to", metavar="DIALECT", autocompletion=among(*DIALECTS), help="python, tf, onnx or all."
    ),
    as_json: bool = JSON,
) -> None:
    """Translate a slice into another dialect.

    Warns if the same numbers would select other elements.

    Example: backslice convert 5 --onnx starts=-10 ends=INT_MIN steps=-1 --to python
    """
    from ..suggestions import did_you_mean
    from . import convert as command
    from .arguments import read_shape, read_spec
    from .console import console

    if to not in DIALECTS:
        raise Usage(f"--to is {to!r}, expected one of {', '.join(DIALECTS)}{did_you_mean(to, DIALECTS)}")
    wanted = DIALECTS[:-1] if to == "all" else (to,)
    result = command.convert(read_shape(shape), read_spec(index, tf, onnx, positional), wanted)
    _print_result(result, as_json, lambda: command.show(result, wanted, console(), console(stderr=True)))


@app.command("explore", cls=SliceCommand)
def explore(
    shape: str | None = typer.Argument(None, metavar="SHAPE", help="Shape of x, such as 4,6."),
    positional: str | None = X_INDEX,
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    from_disk: bool = typer.Option(False, "--file", help="Open the page from disk, without a server."),
    browser: bool = typer.Option(True, "--browser/--no-browser", help="Open it, or only print its address."),
) -> None:
    """Explore slices in the browser while you type.

    The page is served from this machine on 127.0.0.1 until Ctrl-C, and sends no data.

    Example: backslice explore 4,6 "1:3, ::2"
    """
    from . import explore as command
    from .arguments import read_selection, read_shape, read_spec

    extents = None if shape is None else read_shape(shape)
    spec = None
    if extents is not None and any(given is not None for given in (positional, index, tf, onnx)):
        spec = read_spec(index, tf, onnx, positional)
        read_selection(spec, extents)
    elif extents is None and any(given is not None for given in (index, tf, onnx)):
        raise Usage('the shape is missing: backslice explore 4,6 "1:3, ::2"')
    show = command.open_file if from_disk else command.serve
    show(browser, command.fragment(extents, spec))


@app.command("check", cls=SliceCommand)
def check(
    given: str = typer.Argument(metavar="GRADIENT", help="A file, or a function of dy: mine.py:grad."),
    shape: str = SHAPE,
    index: str | None = INDEX,
    tf: str | None = TF,
    onnx: str | None = ONNX,
    dy: str | None = typer.Option(None, "--dy", metavar="FILE", help="dy, required if GRADIENT is a file."),
    dtype: str | None = DTYPE,
    rtol: float = typer.Option(0.0, "--rtol", min=0, help="Relative tolerance."),
    forward: str | None = typer.Option(
        None, "--forward", metavar="mine.py:fwd", help="Your own slice, a function of x."
    ),
    as_json: bool = JSON,
) -> None:
    """Check your own gradient, element by element.

    It is compared with finite differences and with backslice's result.

    Example: backslice check mine.py:grad --shape 4,6 --index "1:3, ::2"
    """
    from . import check as command
    from .arguments import read_selection, read_shape, read_spec
    from .console import console
    from .inputs import is_array_file

    selection = read_selection(read_spec(index, tf, onnx), read_shape(shape))
    if is_array_file(given) and dy is None:
        raise Usage("--dy is missing: name the file of the dy that this gradient was computed from")
    command.check_size(selection)
    result = command.check(given, selection, command.read_dy(dy, selection, dtype), dtype, rtol, forward)
    _print_result(result, as_json, lambda: command.show(result, console()))
    if not result["agrees"]:
        raise typer.Exit(1)


@app.command("onnx")
def onnx_model(
    model: Path = typer.Argument(metavar="MODEL", help="An .onnx file, of any opset."),
    as_json: bool = JSON,
) -> None:
    """List the slices of an ONNX model.

    Shows pictures of them and the costs of their gradients.

    Example: backslice onnx model.onnx
    """
    from . import onnx_models as command
    from .console import console

    info = command.facts(model)
    _print_result(command.for_json(info) if as_json else {}, as_json, lambda: command.show(info, console()))


@app.command("doctor")
def doctor(as_json: bool = JSON) -> None:
    """Check the installation, for bug reports.

    Shows processor, caches, SIMD, threads, CUDA devices, memory, versions, adapters and peers.

    Example: backslice doctor > report.txt
    """
    from . import doctor as command
    from .console import console

    _warn_of_variables()
    found = command.facts()
    _print_result(found, as_json, lambda: command.show(found, console()))


@app.command("demo")
def demo() -> None:
    """Take a tour of the five operations, with pictures.

    Each result is checked by brute force.

    Example: backslice demo
    """
    from . import tour
    from .console import console

    if not tour.run(console()):
        raise typer.Exit(1)


@app.command("targets")
def targets(as_json: bool = JSON) -> None:
    """List the SIMD targets of this machine.

    The best is first; * marks the one in use.

    Example: BACKSLICE_FORCE_TARGET=AVX2 backslice targets
    """
    from .._core import simd_target, simd_targets

    names, used = simd_targets(), simd_target()
    lines = [f"{'*' if name == used else ' '} {name}" for name in names]
    _warn_of_variables()
    _print_result({"targets": names, "in_use": used}, as_json, lambda: typer.echo("\n".join(lines)))


def _warn_of_variables() -> None:
    """Print a warning for each BACKSLICE_... variable with an invalid value."""
    from .._core import environment_problems
    from .streams import say

    for problem in environment_problems():
        say(f"warning: {problem}")


def _complete_peers() -> list[str]:
    from ..bench.places import PLACES

    return list({peer: None for place in PLACES.values() for peer in place.peers})


@app.command("verify")
def verify(
    framework: str = typer.Argument(metavar="FRAMEWORK", help="jax, onnxruntime, tensorflow or torch."),
    seed: int = typer.Option(0, "--seed", metavar="N", help="Seed of the random programs."),
    seconds: float = typer.Option(20, "--seconds", metavar="N", help="For how long."),
) -> None:
    """Check the slice gradients of a framework.

    Runs random programs in the installed framework, with backslice's adapter and without it, and prints those with a
    wrong result. Exit code: 0 if there are none, 1 if there are, 2 if the framework is missing or broken.

    Example: backslice verify torch --seconds 60
    """
    from . import verify as command
    from .console import console

    if command.run(framework, seed, seconds, console()).deviations:
        raise typer.Exit(1)


@app.command("bench")
def bench(
    output: Path = typer.Option(
        Path("backslice-bench"), "-o", "--output", metavar="FOLDER", help="Folder for bench.json and bench.png."
    ),
    peer: list[str] = typer.Option(
        [], "--peer", metavar="PEER", autocompletion=_complete_peers, help="Only this peer; may be repeated."
    ),
    only: str = typer.Option("", "--only", metavar="TEXT", help="Only workloads whose name contains TEXT."),
    rounds: int = typer.Option(2, min=1, help="Number of rounds; the peers take turns."),
    quick: bool = typer.Option(False, "--quick", help="Two small workloads, one round."),
    force: bool = typer.Option(False, "--force", help="Overwrite the results of an earlier run."),
    device: str = DEVICE,
    sweep: bool = typer.Option(False, "--sweep", help="Random slices beside NumPy; for it alone:"),
    seed: int = typer.Option(0, "--seed", metavar="N", help="Seed of the random slices."),
    cases: int = typer.Option(
        0, "--cases", metavar="N", help="Number of slices, instead of seconds.", show_default=False
    ),
    seconds: float = typer.Option(60, "--seconds", metavar="N", help="Time for the sweep."),
    threads: int = typer.Option(0, "--threads", metavar="N", help="Threads of backslice.", show_default=False),
) -> None:
    """Compare the speed of backslice with other libraries.

    Skips libraries that are not installed; make bench installs them.

    Example: backslice bench --peer numpy --only 4096
    """
    from ..bench import command
    from ..bench.sweep import command as sweeping

    _check_device(device)
    if sweep and device != "cpu":
        raise Usage("--sweep compares on the CPU")
    if sweep:
        sweeping.run(sweeping.Sweep(output, peer, only, seed, cases, seconds, threads, force))
    else:
        command.run(output, peer, only, rounds, quick, force, device)


def _check_device(device: str) -> None:
    if device not in DEVICES:
        raise Usage(f"--device is {device!r}, expected {' or '.join(DEVICES)}")


def _bandwidth(device: str, given: float | None) -> float | None:
    """Return a CUDA device's bytes per second; None for the CPU, whose memory is measured."""
    from .explain import H200

    _check_device(device)
    if given is None:
        return H200 if device == "cuda" else None
    if device == "cpu":
        raise Usage("--bandwidth is for --device cuda: that of the CPU is measured")
    if not 0 < given < float("inf"):
        raise Usage(f"--bandwidth is {given:g}, expected GB/s, such as 4200")
    return given * 1e9


def _output(text: str, force: bool, name: str, as_json: bool) -> Any:
    from .outputs import output_at

    if text == "-" and as_json:
        raise Usage("--json and -o - both write to standard output: write the result to a file")
    return output_at(text, force, name)


def _print_result(result: dict[str, Any], as_json: bool, show: Callable[[], None]) -> None:
    """Print a command's result as JSON, or in the command's own form for people."""
    if as_json:
        typer.echo(json.dumps(result))
    else:
        show()


def _report(done: dict[str, Any], as_json: bool) -> None:
    from ..units import human_bytes, human_seconds

    cost = f"{human_bytes(done['bytes'])} in {human_seconds(done['seconds'])}"
    line = f"{done['output']}: {done['dtype']} {done['shape']}, {cost}"
    _print_result(done, as_json, lambda: typer.echo(one_line(line), err=True))


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
