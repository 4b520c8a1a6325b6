"""The formats, strictly: the allowed content of a file, and names of arrays. Refusals are one line, before any work."""

import io
import json
import zipfile

import backslice as bs
import numpy as np
import pytest
from backslice.cli import leaving
from command_line import answer, fails, header, leftovers, npy, refuses, run

SLICE = ("--index", "...", "-o", "y.npy")


HEADERS = {
    "a version to come": (npy(header(), version=(9, 9)), "version is 9.9, expected 1.0, 2.0 or 3.0"),
    "version 0": (npy(header(), version=(0, 1)), "version is 0.1"),
    "a tuple as dtype": (npy(header("('<f4',)")), "descr is ('<f4',), which is not a dtype"),
    "items with a shape": (npy(header("('<f4', (2,))", shape="(1,)")), "without a shape"),
    "items with a shape, as text": (npy(header("'(2,)<f4'", shape="(1,)")), "without a shape"),
    "a number as dtype": (npy(header("4")), "descr is 4, which is not a dtype"),
    "a list of nothing": (npy(header("[('a',)]")), "is not a dtype"),
    "a text that is no dtype": (npy(header("'nope'")), "descr is 'nope', which is not a dtype"),
    "items without bytes": (npy(header("'|S0'"), b""), "expected items of one or more bytes"),
    "objects within fields": (npy(header("[('a', '|O')]")), "holds Python objects"),
    "an order that is text": (npy(header(order="'no'")), "fortran_order is 'no', expected True or False"),
    "an order that is a number": (npy(header(order="1")), "fortran_order is 1, expected True or False"),
    "a shape that is a list": (npy(header(shape="[2]")), "shape is [2], expected a tuple"),
    "a negative extent": (npy(header(shape="(-2,)")), "shape is (-2,), expected a tuple"),
    "an extent that is a truth": (npy(header(shape="(True, 2)")), "expected a tuple"),
    "an extent that is a float": (npy(header(shape="(2.0,)")), "expected a tuple"),
    "an extent beyond int64": (npy(header(shape="(0, 9223372036854775808)"), b""), "expected a tuple"),
    "an extent of 4000 hexadecimal digits": (npy(header(shape=f"(0x{'f' * 4000},)")), "expected a tuple"),
    "an extent of 5000 digits": (npy(header(shape=f"({'9' * 5000},)")), "header cannot be read"),
    "a product beyond int64": (npy(header(shape="(9223372036854775807,) * 0")), "header cannot be read"),
    "rank 65": (npy(header(shape=f"({'1,' * 65})"), b"\0" * 4), "maximum supported dimension"),
    "no elements, yet too many": (npy(header(shape="(0, 9223372036854775807)"), b""), "not a complete .npy file"),
    "a key too many": (npy(header()[:-1] + ", 'x': 1}"), "expected a dict of descr, fortran_order and shape"),
    "a key too few": (npy("{'descr': '<f4', 'shape': (2,)}"), "expected a dict of descr"),
    "keys of any type": (npy("{1: 2, None: 3}"), "expected a dict of descr"),
    "no dict": (npy("[1, 2]"), "expected a dict of descr"),
    "a set of a dict": (npy("{{}}"), "header cannot be read"),
    "no UTF-8 in version 3": (npy(b"{'\xff'}", version=(3, 0)), "header cannot be read"),
    "no version": (b"\x93NUMPY", "it ends before its version"),
    "half a version": (b"\x93NUMPY\1", "it ends before its version"),
    "half a length": (b"\x93NUMPY\1\0\3", "it ends within its header"),
    "nothing": (npy(""), "header cannot be read"),
    "trailing bytes": (npy(header(), b"\0" * 9), "9 bytes follow its header, 8 are needed"),
    "missing bytes": (npy(header(), b"\0" * 7), "7 bytes follow its header, 8 are needed"),
    "many trailing bytes": (npy(header("'|i1'", shape="(70000,)"), b"\0" * 70001), "70001 bytes follow its header"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_npy_headers_that_break_the_format(folder, case):
    content, says = HEADERS[case]
    (folder / "x.npy").write_bytes(content)
    refuses(1, "x.npy is not a complete .npy file: ", "slice", "x.npy", *SLICE)
    refuses(1, says, "slice", "x.npy", *SLICE)
    with zipfile.ZipFile("x.npz", "w") as archive:
        archive.writestr("a.npy", content)
    refuses(1, says, "slice", "x.npz:a", *SLICE)
    assert not (folder / "y.npy").exists() and leftovers(folder) == []


def test_trailing_bytes_on_standard_input(folder):
    fails(1, "standard input is not a complete .npy file: at least 9 bytes follow", "slice", "-", *SLICE,
          input=npy(header(), b"\0" * 9))  # fmt: skip


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("elements", [2, 20_000])
def test_every_version_of_the_npy_format_is_read(folder, version, elements):
    x = np.arange(elements, dtype=np.float32)
    (folder / "x.npy").write_bytes(npy(header(shape=f"({elements},)"), x.tobytes(), version))
    assert answer("slice", "x.npy", *SLICE)[0] == 0
    assert np.array_equal(np.load("y.npy"), x)


@pytest.mark.parametrize("name", ["allow_pickle", "file", "self", "args", "a b", "é", "arr_0", "x.npy"])
def test_npz_arrays_of_any_name(folder, name):
    np.save("x.npy", np.arange(3.0))
    run("slice", "x.npy", "--index", "1:", "-o", f"o.npz:{name}")
    with np.load("o.npz") as archive:
        assert archive.files == [name] and archive[name].tolist() == [1, 2]
    assert answer("slice", f"o.npz:{name}", *SLICE)[0] == 0


@pytest.mark.parametrize(
    "output, says",
    [
        ("o.npz:a/b", "'a/b' cannot be the name of an array in an .npz file"),
        ("o.npz:a\\b", "cannot be the name"),
        ("o.npz:..", "'..' cannot be the name"),
        ("o.npz:a\0b", "cannot be the name"),
        ("o.npz:" + "x" * 70_000, "is too long for the name of an array"),
        ("o.npz:", "has no name after its colon"),
        ("o.safetensors:", "has no name after its colon"),
        ("o.safetensors:__metadata__", "the safetensors format keeps it"),
        ("o.npz:\udcff", "which is not UTF-8"),
        ("o.safetensors:\udcff", "which is not UTF-8"),
    ],
    ids=lambda value: ascii(value[:20]),
)
def test_names_that_a_format_reserves(folder, output, says):
    np.save("x.npy", np.arange(3.0))
    refuses(2, says, "slice", "x.npy", "--index", "0", "-o", output)
    refuses(2, says, "slice", "not there, and not looked for.npy", "--index", "0", "-o", output)
    assert [path.name for path in folder.iterdir()] == ["x.npy"]


def safetensors(tensors: dict, data: bytes = b"") -> bytes:
    text = json.dumps(tensors).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.mark.parametrize(
    "shape, data, says",
    [
        ([1] * 65, b"\0" * 4, "maximum supported dimension"),
        ([0] * 65, b"", "maximum supported dimension"),
        ([0, 2**63 - 1], b"", "cannot be read"),
        ([0, 2**64 - 1], b"", "x.safetensors"),
    ],
    ids=["rank 65", "rank 65, empty", "extent of int64", "extent of uint64"],
)
def test_safetensors_that_no_array_can_hold(folder, shape, data, says):
    tensor = {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}
    (folder / "x.safetensors").write_bytes(safetensors({"a": tensor}, data))
    refuses(1, says, "slice", "x.safetensors", *SLICE)


def test_safetensors_with_more_to_say_of_a_tensor(folder):
    """The library accepts it, so we must, too."""
    tensor = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], "colour": "red"}
    (folder / "x.safetensors").write_bytes(safetensors({"a": tensor}, np.array([1, 2], "<f4").tobytes()))
    assert answer("slice", "x.safetensors", *SLICE)[0] == 0
    assert np.load("y.npy").tolist() == [1, 2]


def archive_of(name: str | bytes) -> bytes:
    """Make an .npz file with one array, whose name may be any bytes, declared as UTF-8."""
    raw = name.encode() if isinstance(name, str) else name
    stand_in = "é" + "x" * (len(raw) - 2)
    array, file = io.BytesIO(), io.BytesIO()
    np.save(array, np.ones(3))
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(stand_in, array.getvalue())
    return file.getvalue().replace(stand_in.encode(), raw)


def test_npz_members_whose_names_are_not_utf8(folder):
    (folder / "x.npz").write_bytes(archive_of(b"\xff\xfe.npy"))
    refuses(1, "x.npz is not a complete .npz file", "slice", "x.npz", *SLICE)


def test_npz_members_that_a_terminal_would_obey(folder):
    (folder / "x.npz").write_bytes(archive_of("\x1b[2J\n.npy"))
    refuses(1, "\\x1b[2J", "slice", "x.npz:q", *SLICE)


def test_npz_members_of_one_name(folder):
    array = io.BytesIO()
    np.save(array, np.ones(3))
    with zipfile.ZipFile("x.npz", "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.npy", array.getvalue())
        archive.writestr("a.npy", array.getvalue())
    refuses(1, "x.npz holds 'a' twice", "slice", "x.npz:a", *SLICE)


@pytest.mark.parametrize("digits", ["9" * 5000, "9" * 20, "00", "٣", "-1"])
def test_pieces_with_numbers_that_no_row_has(folder, digits):
    np.savez("r.npz", row_splits=[0, 1], dense_values_shape=[1], **{f"piece_{digits}": [1.0]})
    refuses(1, "r.npz holds 'piece_", "ragged-grad", "r.npz", "-o", "y.npy")


@pytest.mark.parametrize("name", ["\udcff", "O", "object", "S", "(2,)f4", "finfo", "f4,,", "i4,i4,O", "9" * 5000])
def test_dtypes_that_items_cannot_have(folder, name):
    np.save("x.npy", np.zeros(3, "V8"))
    refuses(2, "dtype", "slice", "x.npy", "--dtype", name, *SLICE)


NOT_UTF8 = "\udcff"


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "4,6", NOT_UTF8),
        ("explain", NOT_UTF8, "1"),
        ("explain", "4,6", "--index", NOT_UTF8),
        ("explain", "4,6", "--tf", f"begin={NOT_UTF8}", "end=1"),
        ("explain", "4,6", "--onnx", f"starts=1 ends=2 {NOT_UTF8}"),
        ("explain", "4,6", "1", "--dtype", NOT_UTF8),
        ("convert", "4,6", NOT_UTF8),
        ("convert", "4,6", "1", "--to", NOT_UTF8),
        ("slice", f"{NOT_UTF8}.npy", *SLICE),
        ("slice", f"{NOT_UTF8}.safetensors:a", *SLICE),
        ("slice", f"x.npz:{NOT_UTF8}", *SLICE),
        ("slice", "x.npy", "--index", "0", "-o", f"{NOT_UTF8}/y.npy"),
        ("slice", "x.npy", "--index", "0", "-o", f"y{NOT_UTF8}"),
        ("grad", "x.npy", "--shape", NOT_UTF8, *SLICE),
        ("check", NOT_UTF8, "--shape", "4", "--index", "0"),
        ("check", f"{NOT_UTF8}:{NOT_UTF8}", "--shape", "4", "--index", "0"),
        ("sparse-grad", NOT_UTF8, "-o", "y.npy"),
        ("sparse-grad", "x.npz", "--order", NOT_UTF8, "-o", "y.npy"),
        ("ragged-grad", NOT_UTF8, "-o", "y.npy"),
        (NOT_UTF8,),
        ("explain", "4,6", f"--{NOT_UTF8}"),
        ("explain", "4,6", "1", "--svg", f"{NOT_UTF8}/a.svg"),
    ],
    ids=lambda arguments: ascii(" ".join(arguments)),
)
def test_arguments_that_are_not_utf8(folder, arguments):
    np.save("x.npy", np.arange(3.0))
    np.savez("x.npz", np.arange(3.0))
    code = answer(*arguments)[0]
    assert code in (1, 2)
    fails(code, "error: ", *arguments, binary=True)


def test_files_whose_names_are_not_utf8(folder):
    """File names are bytes, as the system stores them."""
    for suffix in (".npy", ".npz:a", ".safetensors:a"):
        np.save("x.npy", np.arange(3.0))
        run("slice", "x.npy", "--index", "1:", "-o", f"\udcff{suffix}", binary=True)
        run("slice", f"\udcff{suffix}", "--index", "1:", "-o", "y.npy", "--force", binary=True)
        assert np.load("y.npy").tolist() == [2]


def test_names_of_files_as_long_as_the_system_takes(folder):
    np.save("x.npy", np.arange(3.0))
    name = "é" * 125 + ".npy"
    assert answer("slice", "x.npy", "--index", "1:", "-o", name)[0] == 0
    assert np.load(name).tolist() == [1, 2]
    refuses(1, "File name too long", "slice", "x.npy", "--index", "1:", "-o", "é" * 126 + ".npy")


@pytest.mark.parametrize(
    "items", [[":", ":", "0", *["None"] * 29, ":"], ["0", *["None"] * 30, "1"]], ids=["nearly", "plainly"]
)
def test_convert_says_what_tensorflow_cannot(folder, items):
    """More entries than StridedSlice accepts, also if an ellipsis could nearly shorten them."""
    index = ", ".join(items)
    for output in ([], ["--json"]):
        code, out, error = answer("convert", "2,3,4,5", index, "--to", "tf", *output)
        assert (code, out) == (1, "") and "error: this slice cannot be written for TensorFlow: " in error
    code, out, error = answer("convert", "2,3,4,5", index)
    assert code == 0 and "# NumPy" in out and "StridedSlice" not in out
    assert "warning: this slice cannot be written for TensorFlow: " in error
    told = json.loads(answer("convert", "2,3,4,5", index, "--json")[1])
    assert "tf" not in told and bs.Selection.from_index((2, 3, 4, 5), told["python"]["arguments"]["index"])
    assert "cannot be written for TensorFlow" in answer("explain", "2,3,4,5", index, "--all")[1]


def test_state_of_a_run_does_not_leak_into_the_next(folder):
    np.save("x.npy", np.zeros(20_000))
    answer("slice", "x.npy", *SLICE)
    answer("slice", "x.npy", *SLICE, "--force")
    assert leaving._state.mapped == ["x.npy"]
