"""grad, slice, sparse-grad and ragged-grad on real files of every format and dtype."""

import contextlib
import io
import json
import os
import shutil
import stat
import subprocess
import zipfile

import backslice as bs
import ml_dtypes
import numpy as np
import pytest
from backslice.cli import boxes
from backslice.cli.safetensors_files import DTYPES as SAFETENSORS
from backslice.cli.safetensors_files import pack, unpack
from command_line import backslice, fails, leftovers

SLICE = ("--index", "1:3, ::2")
ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e4m3b11fnuz",
             "float8_e4m3fnuz", "float8_e5m2fnuz", "int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn",
             "float6_e3m2fn")  # fmt: skip
NUMPY_DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i8",
                "S3", "U2", [("qint8", "i1")], [("quint8", "u1")], [("qint16", "i2")], [("quint16", "u2")],
                [("qint32", "i4")])  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args, **options):
    done = backslice(*args, **options)
    assert done.returncode == 0, done.stderr
    return done


def example(dtype) -> np.ndarray:
    """[2, 3] items of any dtype, all different where that is possible."""
    dtype = np.dtype(dtype)
    if dtype.kind in "SU":
        return np.array([["a", "bc", ""], ["d", "e", "fg"]]).astype(dtype)
    if dtype.names:
        return np.arange(1, 7).astype(dtype[0]).view(dtype).reshape(2, 3)
    return np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)


def expected(dy: np.ndarray) -> np.ndarray:
    dx = np.zeros((4, 6), dy.dtype)
    dx[1:3, ::2] = dy
    return dx


@pytest.mark.parametrize("dtype", NUMPY_DTYPES, ids=str)
def test_npy_and_npz_of_every_numpy_dtype(folder, dtype):
    dy = example(dtype)
    np.save("dy.npy", dy)
    run("grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", "dx.npy")
    dx = np.load("dx.npy")
    assert dx.dtype == dy.dtype and dx.tobytes() == expected(dy).tobytes()
    run("grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", "dx.npz:d")
    assert np.load("dx.npz")["d"].tobytes() == dx.tobytes()
    run("slice", "dx.npz:d", *SLICE, "-o", "y.npy")
    assert np.load("y.npy").tobytes() == dy.tobytes()


@pytest.mark.parametrize("name", ML_DTYPES)
def test_raw_npy_items_are_named(folder, name):
    dy = example(getattr(ml_dtypes, name))
    np.save("dy.npy", dy)
    fails(1, "--dtype", "grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", "dx.npy")
    run("grad", "dy.npy", "--dtype", name, "--shape", "4,6", *SLICE, "-o", "dx.npy")
    assert np.load("dx.npy").tobytes() == expected(dy).tobytes()
    assert np.load("dx.npy").dtype.kind == "V"


def test_e8m0_has_no_zero(folder):
    np.save("dy.npy", np.ones(3, ml_dtypes.float8_e8m0fnu))
    named = ("--dtype", "float8_e8m0fnu")
    fails(1, "zero", "grad", "dy.npy", *named, "--shape", "6", "--index", "::2", "-o", "dx.npy")
    run("grad", "dy.npy", *named, "--shape", "3", "--index", "::-1", "-o", "dx.npy")


@pytest.mark.parametrize("dtype, bits", [(row[2], row[3]) for row in SAFETENSORS if row[1]], ids=str)
def test_safetensors_of_every_dtype(folder, dtype, bits):
    if np.dtype(dtype) == ml_dtypes.float8_e8m0fnu:
        dy, shape, index = np.ones((2, 3), dtype), "2,3", "::-1"
    else:
        dy, shape, index = example(dtype), "4,6", "1:3, ::2"
    np.save("dy.npy", dy)
    named = ("--dtype", np.dtype(dtype).name) if np.dtype(dtype).isbuiltin == 2 else ()
    run("grad", "dy.npy", *named, "--shape", shape, "--index", index, "-o", "dx.safetensors:weight")
    with open("dx.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    assert list(header) == ["weight"] and header["weight"]["shape"] == [int(n) for n in shape.split(",")]
    first, last = header["weight"]["data_offsets"]
    assert (last - first) * 8 == bits * np.prod(header["weight"]["shape"])
    run("slice", "dx.safetensors", "--index", index, "-o", "y.npy")
    assert np.load("y.npy").tobytes() == dy.tobytes()


def test_safetensors_agree_with_the_library(folder):
    from safetensors.numpy import load_file, save_file

    save_file({"a": np.arange(6.0).reshape(2, 3), "b": np.ones(2, np.int8)}, "two.safetensors")
    run("grad", "two.safetensors:a", "--shape", "4,6", *SLICE, "-o", "dx.safetensors")
    assert np.array_equal(load_file("dx.safetensors")["dx"], expected(np.arange(6.0).reshape(2, 3)))
    fails(1, "holds 2 arrays: say which", "slice", "two.safetensors", "--index", "0", "-o", "y.npy")
    fails(1, "no array 'c'; it holds a, b", "slice", "two.safetensors:c", "--index", "0", "-o", "y.npy")


@pytest.mark.parametrize("kind, dtype", [("F6_E2M3", ml_dtypes.float6_e2m3fn), ("F6_E3M2", ml_dtypes.float6_e3m2fn)])
def test_float6_safetensors_are_read_and_not_written(folder, kind, dtype):
    items = np.arange(8, dtype=np.uint8) * 5
    data = pack(items, 6).tobytes()
    header = json.dumps({"a": {"dtype": kind, "shape": [2, 4], "data_offsets": [0, len(data)]}}).encode()
    with open("a.safetensors", "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)
    run("slice", "a.safetensors", "--index", "1", "-o", "y.npy")
    assert np.load("y.npy").view(dtype).tobytes() == items[4:].tobytes()
    fails(1, "write a .npy file", "slice", "a.safetensors", "--index", "1", "-o", "y.safetensors")


@pytest.mark.parametrize("bits", [4, 6])
def test_packing_round_trips(bits):
    items = np.random.default_rng(0).integers(0, 1 << bits, 24).astype(np.uint8)
    assert np.array_equal(unpack(pack(items, bits), bits, 24), items)


@pytest.mark.parametrize(
    "said",
    [
        ("--index", "1:3, ::2"),
        ("--tf", "begin=1,0", "end=3,5", "strides=1,2"),
        ("--tf", "begin=[1, 0] end=[3, 0] strides=[1, 2] end_mask=0b10"),
        ("--tf=begin=1,0", "end=3,5", "strides=1,2"),
        ("--onnx", "starts=0,1", "ends=INT_MAX,3", "axes=-1,0", "steps=2,1"),
    ],
    ids=" ".join,
)
def test_every_dialect(folder, said):
    np.save("dy.npy", example("f4"))
    run("grad", *said[:1], *said[1:], "--shape", "4,6", "-o", "dx.npy", "dy.npy")
    assert np.array_equal(np.load("dx.npy"), expected(example("f4")))


def test_onnx_reads_dy_flat(folder):
    np.save("dy.npy", np.array([5.0, 7.0]))
    onnx = ("--onnx", "starts=1,0", "ends=2,3", "axes=0,1", "steps=1,2")
    run("grad", "dy.npy", "--shape", "2,4", *onnx, "-o", "dx.npy")
    assert np.load("dx.npy").tolist() == [[0, 0, 0, 0], [5, 0, 7, 0]]


@pytest.mark.parametrize("shape", ["4,6", "4x6", "[4, 6]", "(4,6)", "4, 6,"])
def test_shapes_as_people_write_them(folder, shape):
    np.save("dy.npy", example("f4"))
    run("grad", "dy.npy", "--shape", shape, *SLICE, "-o", "dx.npy")
    assert np.load("dx.npy").shape == (4, 6)


def test_scalars_and_empty_arrays(folder):
    np.save("dy.npy", np.float32(7))
    run("grad", "dy.npy", "--shape", "3,4", "--index", "-1, 2", "-o", "dx.npy")
    assert np.load("dx.npy")[2, 2] == 7
    run("grad", "dy.npy", "--shape", "", "--index", "...", "-o", "scalar.npy")
    assert np.load("scalar.npy").shape == () and np.load("scalar.npy") == 7
    run("slice", "dx.npy", "--index", "2:2", "-o", "none.npy")
    assert np.load("none.npy").shape == (0, 4)
    run("grad", "none.npy", "--shape", "0,4", "--index", ":", "-o", "nothing.npy")
    assert np.load("nothing.npy").shape == (0, 4)


def test_fortran_order_and_new_axes(folder):
    x = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
    np.save("x.npy", x)
    run("slice", "x.npy", "--index", "None, 1, ..., ::-1", "-o", "y.npy")
    assert np.array_equal(np.load("y.npy"), x[None, 1, ..., ::-1])
    run("grad", "y.npy", "--shape", "2,3,4", "--index", "None, 1, ..., ::-1", "-o", "dx.npy")
    dx = np.zeros((2, 3, 4))
    dx[1] = x[1]
    assert np.array_equal(np.load("dx.npy"), dx)


def test_pipes(folder):
    x = np.arange(24.0).reshape(4, 6)
    buffer = io.BytesIO()
    np.save(buffer, x)
    done = run("slice", "-", *SLICE, "-o", "-", input=buffer.getvalue())
    assert np.array_equal(np.load(io.BytesIO(done.stdout)), x[1:3, ::2])
    done = run("grad", "-", "--shape", "4,6", *SLICE, "-o", "-", input=done.stdout)
    assert np.array_equal(np.load(io.BytesIO(done.stdout)), expected(x[1:3, ::2]))
    fails(2, "--json and -o -", "slice", "-", *SLICE, "-o", "-", "--json", input=b"")
    fails(1, "standard input is not", "slice", "-", *SLICE, "-o", "y.npy", input=b"")
    fails(1, "magic", "slice", "-", *SLICE, "-o", "y.npy", input=b"hello, this is not an array")


def test_json_tells_what_was_done(folder):
    np.save("dy.npy", example("f4"))
    done = json.loads(run("grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", "dx.npy", "--json").stdout)
    assert done.pop("seconds") > 0
    assert done == {"output": "dx.npy", "shape": [4, 6], "dtype": "float32", "bytes": 96, "selected": 6}


def test_files_are_replaced_only_when_forced(folder):
    np.save("dy.npy", example("f4"))
    arguments = ("grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", "dx.npy")
    run(*arguments)
    before = os.stat("dx.npy")
    fails(1, "dx.npy exists; --force replaces it", *arguments)
    assert os.stat("dx.npy").st_ino == before.st_ino
    os.chmod("dx.npy", 0o640)
    run(*arguments, "--force")
    assert os.stat("dx.npy").st_ino != before.st_ino
    assert stat.S_IMODE(os.stat("dx.npy").st_mode) == 0o640


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_new_files_have_the_permissions_of_new_files(folder, suffix):
    np.save("dy.npy", example("f4"))
    run("grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", "dx" + suffix, shell="umask 027")
    assert stat.S_IMODE(os.stat("dx" + suffix).st_mode) == 0o640


def test_a_link_is_written_through(folder):
    np.save("dy.npy", example("f4"))
    (folder / "real").mkdir()
    np.save("real/dx.npy", np.zeros(1))
    os.symlink("real/dx.npy", "dx.npy")
    run("grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", "dx.npy", "--force")
    assert os.path.islink("dx.npy") and np.load("real/dx.npy").shape == (4, 6)


def test_in_place_slices_read_before_they_replace(folder):
    np.save("x.npy", np.arange(24.0).reshape(4, 6))
    run("slice", "x.npy", *SLICE, "-o", "x.npy", "--force")
    assert np.load("x.npy").tolist() == [[6, 8, 10], [12, 14, 16]]


BAD_FILES = {
    "missing.npy": (None, "missing.npy does not exist"),
    "folder.npy": ("folder", "is a folder"),
    "magic.npy": (b"this is no array", "does not start with NumPy's magic bytes"),
    "empty.npy": (b"", "is not an .npy file"),
    "short.npy": ("truncated", "is not a whole .npy file"),
    "large-short.npy": ("large truncated", "is not a whole .npy file"),
    "header.npy": (b"\x93NUMPY\x01\x00\x40\x00{'descr': '<f8', 'fortran", "is not a whole .npy file"),
    "code.npy": (b"\x93NUMPY\x01\x00\x3c\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2**70,)} ", "whole"),
    "objects.npy": ("objects", "holds Python objects"),
    "dates.npy": ("dates", "datetime64"),
    "zip.npz": (b"PK\x03\x04 not a zip", "is not a whole .npz file"),
    "short.npz": ("short npz", "is not a whole .npz file"),
    "corrupt.npz": ("corrupt npz", "corrupt.npz"),
    "objects.npz": ("objects npz", "holds Python objects"),
    "nested.npy": (b"\x93NUMPY\x01\x00\x10\x27" + b"(" * 10_000, "header cannot be read"),
    "long-header.npy": (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 100, "more than any array needs"),
    "locked.npz": ("locked npz", "password"),
    "short.safetensors": (b"\x40\0\0\0\0\0\0\0{}", "is not a whole safetensors file"),
    "text.safetensors": (b"hello", "is not a whole safetensors file"),
}  # fmt: skip


def make_bad_file(path, content) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content == "folder":
        path.mkdir()
    elif content in ("truncated", "large truncated"):
        np.save(path, np.ones(10 if content == "truncated" else 100_000))
        os.truncate(path, path.stat().st_size - 8)
    elif content == "objects":
        np.save(path, np.array([{}, None]), allow_pickle=True)
    elif content == "dates":
        np.save(path, np.array(["2026-01-01"], "datetime64[D]"))
    elif content == "short npz":
        np.savez(path, a=np.ones(100))
        os.truncate(path, path.stat().st_size - 40)
    elif content == "corrupt npz":
        np.savez(path, a=np.ones(1000))
        data = bytearray(path.read_bytes())
        data[4000] ^= 0xFF
        path.write_bytes(data)
    elif content == "locked npz":  # the flag of encryption, in both headers
        np.savez(path, a=np.ones(3))
        data = bytearray(path.read_bytes())
        data[6] |= 1
        data[data.rindex(b"PK\x01\x02") + 8] |= 1
        path.write_bytes(data)
    elif content == "objects npz":
        np.savez(path, a=np.array([{}, None]), allow_pickle=True)


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_one_line(folder, name):
    content, says = BAD_FILES[name]
    make_bad_file(folder / name, content)
    where = name + ":a" if content == "objects npz" else name
    fails(1, says, "slice", where, "--index", "0", "-o", "y.npy")
    assert not (folder / "y.npy").exists() and leftovers(folder) == []


def test_pickles_are_never_run(folder):
    class Evil:
        def __reduce__(self):
            return (os.mkdir, ("pwned",))

    np.save("evil.npy", np.array([Evil()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile("evil.npz", "w") as archive:
        archive.write("evil.npy", "row_splits.npy")
    fails(1, "pickle", "slice", "evil.npy", "--index", "0", "-o", "y.npy")
    fails(1, "pickle", "ragged-grad", "evil.npz", "-o", "y.npy")
    fails(1, "pickle", "slice", "-", "--index", "0", "-o", "y.npy", input=(folder / "evil.npy").read_bytes())
    assert not (folder / "pwned").exists()


BAD_USES = [
    (2, "no slice is given", ()),
    (2, "more than one slice is given", (*SLICE, "--tf", "begin=1", "end=2")),
    (2, "'spam' is not one of begin=.., end=..", ("--tf", "begin=1 end=2 spam")),
    (2, "'color=3' is not one of starts=..", ("--onnx", "starts=1", "color=3")),
    (2, "end is missing", ("--tf", "begin=1")),
    (2, "begin is given twice", ("--tf", "begin=1", "begin=2", "end=3")),
    (2, "begin: 'one' is not an integer", ("--tf", "begin=one", "end=3")),
    (2, "step cannot be zero", ("--index", "::0")),
    (2, "is not an integer, a slice", ("--index", "1:2:3:4")),
    (2, "out of bounds", ("--index", "7")),
    (2, "given twice", ("--onnx", "starts=0,0", "ends=1,1", "axes=0,-2")),
    (1, "the slice of [4, 6] has shape [3, 3]", ("--index", "1:, ::2")),
    (1, "holds float32, not bfloat16", (*SLICE, "--dtype", "bfloat16")),
    (2, "'float99' is not a dtype", (*SLICE, "--dtype", "float99")),
]


@pytest.mark.parametrize("code, says, arguments", BAD_USES, ids=[says for _, says, _ in BAD_USES])
def test_bad_slices_are_one_line(folder, code, says, arguments):
    np.save("dy.npy", example("f4"))
    fails(code, says, "grad", "dy.npy", "--shape", "4,6", *arguments, "-o", "dx.npy")
    assert not (folder / "dx.npy").exists()


def test_bad_outputs_are_one_line(folder):
    np.save("dy.npy", example("f4"))
    grad = ("grad", "dy.npy", "--shape", "4,6", *SLICE)
    fails(2, "a shape is written 4096,4096", "grad", "dy.npy", "--shape", "4,q", *SLICE, "-o", "a.npy")
    fails(2, "negative extent", "grad", "dy.npy", "--shape", "4,-6", *SLICE, "-o", "a.npy")
    fails(2, ".txt is not a format", *grad, "-o", "dx.txt")
    fails(2, "no suffix is not a format", *grad, "-o", "dx")
    fails(2, "leave out ':a'", *grad, "-o", "dx.npy:a")
    fails(1, "does not exist: make it first", *grad, "-o", "nowhere/dx.npy")
    (folder / "taken.npy").mkdir()
    fails(1, "is not a file that can be replaced", *grad, "-o", "taken.npy", "--force")
    fails(2, ".txt is not a format", "grad", "dy.txt", "--shape", "4,6", *SLICE, "-o", "dx.npy")
    fails(1, "safetensors files cannot hold complex128", "slice", make_complex(), "--index", "0", "-o", "y.safetensors")
    assert leftovers(folder) == []


def make_complex() -> str:
    np.save("complex.npy", np.ones(3, np.complex128))
    return "complex.npy"


@contextlib.contextmanager
def small_disk(folder, options):
    """A file system of its own in a folder, which only root can make."""
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        yield disk
    finally:
        subprocess.run(["umount", disk], check=True)


def test_an_unwritable_folder(folder):
    np.save("dy.npy", example("f4"))
    locked = folder / "locked"
    locked.mkdir(mode=0o555)
    # root may write to every folder, but not to a disk that is mounted to be read
    with small_disk(folder, "ro") if os.getuid() == 0 else contextlib.nullcontext(locked) as where:
        fails(1, "cannot be written to", "grad", "dy.npy", "--shape", "4,6", *SLICE, "-o", where / "dx.npy")


def test_no_space_left_is_an_error_and_leaves_the_old_file(folder):
    np.save("dy.npy", np.ones((512, 512), np.float32))
    (folder / "dx.npy").write_text("precious")
    for suffix in (".npy", ".npz", ".safetensors"):
        grad = ("grad", "dy.npy", "--shape", "1024,512", "--index", "::2", "-o", "dx" + suffix, "--force")
        fails(1, "no space left", *grad, shell="ulimit -f 1024")
    assert (folder / "dx.npy").read_text() == "precious" and leftovers(folder) == []


def test_a_full_disk_is_an_error_before_anything_is_written(folder):
    np.save("dy.npy", np.ones((512, 512), np.float32))
    with small_disk(folder, "size=1m") as disk:
        for name in ("dx.npy", "dx.npz", "dx.safetensors"):
            fails(1, "no space left", "grad", "dy.npy", "--shape", "1024,512", "--index", "::2", "-o", disk / name)
            assert list(disk.iterdir()) == []


def test_results_that_must_fit_in_memory_say_so(folder):
    np.save("dy.npy", np.ones(2, np.float32))
    huge = ("grad", "dy.npy", "--shape", str(1 << 50), "--index", "1:3")
    fails(1, "the result for dx.npz takes 4096 TiB and must fit in memory", *huge, "-o", "dx.npz")
    fails(1, "write an .npy file, which is mapped", *huge, "-o", "dx.safetensors")
    fails(1, "no space left", *huge, "-o", "dx.npy")


def test_inputs_that_must_fit_in_memory_say_so(folder):
    np.savez_compressed("zeros.npz", a=np.zeros((1 << 15, 1 << 12), np.float32))  # 512 MB, in half a megabyte
    fails(1, "zeros.npz:a takes 512 MiB and must fit in memory, 390.6 MiB are free: save the array as an .npy file",
          "slice", "zeros.npz", "--index", "0", "-o", "y.npy", shell="ulimit -d 400000")  # fmt: skip


def test_too_little_address_space_says_which_limit(folder):
    np.lib.format.open_memmap("x.npy", "w+", np.int8, (1 << 31,)).flush()
    fails(1, "ulimit -v", "slice", "x.npy", "--index", "::4", "-o", "y.npy", shell="ulimit -v 2000000")


def gradient_beyond_memory(folder, rows: int, limit: int) -> None:
    """The gradient of x[1:, ::2], whose files together are larger than the private memory allowed."""
    dy = np.lib.format.open_memmap("dy.npy", "w+", np.float32, (rows - 1, 2048))
    dy[:: rows // 8] = np.arange(2048)
    dy.flush()
    run(
        "grad",
        "dy.npy",
        "--shape",
        f"{rows},4096",
        "--index",
        "1:, ::2",
        "-o",
        "dx.npy",
        shell=f"ulimit -d {limit >> 10}",
    )
    dx = np.load("dx.npy", mmap_mode="r")
    assert dx.shape == (rows, 4096)
    for row in (0, 1, 2, rows // 8 + 1, rows - 1):
        assert np.array_equal(dx[row, ::2], dy[row - 1] if row else np.zeros(2048)) and not dx[row, 1::2].any()
    run("slice", "dx.npy", "--index", "1:, ::2", "-o", "y.npy", shell=f"ulimit -d {limit >> 10}")
    assert subprocess.run(["cmp", "y.npy", "dy.npy"]).returncode == 0


def test_files_larger_than_the_private_memory_allowed(folder):
    gradient_beyond_memory(folder, rows=40_000, limit=400 << 20)  # dx is 655 MB


@pytest.mark.skipif(not os.environ.get("BACKSLICE_LARGE_TESTS"), reason="make test-large runs it")
def test_a_gradient_of_4_gb_in_1_gb_of_private_memory(folder):
    if shutil.disk_usage(folder).free < 12e9:
        pytest.fail("12 GB of free disk are needed")
    gradient_beyond_memory(folder, rows=262_144, limit=1 << 30)


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 3, 4), (1, 1, 100), (100, 1, 1), (5, 0, 3), (2, 50, 3)])
@pytest.mark.parametrize("most", [1, 8, 64, 1 << 20])
def test_boxes_cover_everything_once(shape, most):
    seen = np.zeros(shape, int)
    for box in boxes.boxes(shape, 8, most):
        part = seen[boxes.index_of(box)]
        assert part.size * 8 <= max(most, 8)
        part += 1
    assert (seen == 1).all()


def test_gradients_box_by_box_are_the_gradient(monkeypatch):
    random = np.random.default_rng(0)
    for _ in range(200):
        shape = tuple(random.integers(1, 7, random.integers(1, 4)))
        index = tuple(
            int(random.integers(n)) if random.random() < 0.3
            else slice(*sorted(random.integers(0, n + 1, 2).tolist()), int(random.integers(1, 3)))
            for n in shape
        )  # fmt: skip
        selection = bs.Selection.from_index(shape, index)
        dy = random.integers(1, 100, selection.result_shape)
        out = np.zeros(shape, dy.dtype)
        monkeypatch.setattr(boxes, "BOX_BYTES", int(random.integers(8, 200)))
        boxes.write_gradient(selection, dy, out)
        assert np.array_equal(out, bs.slice_grad(dy, shape, selection))
        y = np.zeros(selection.result_shape, dy.dtype)
        boxes.write_slice(selection, out, y)
        assert np.array_equal(y, dy)


SPARSE = {"backprop_val_grad": [5.0, 7.0], "input_indices": [[0, 1], [1, 0], [1, 2], [3, 1]], "input_start": [1, 0],
          "output_indices": [[0, 0], [0, 2]]}  # fmt: skip


def test_sparse_gradients(folder):
    np.savez("s.npz", **SPARSE)
    run("sparse-grad", "s.npz", "-o", "dx.npy")
    assert np.load("dx.npy").tolist() == [0, 5, 7, 0]
    np.savez("size.npz", grad=[5.0, 7.0], input_indices=SPARSE["input_indices"], start=[1, 0], size=[2, 3])
    run("sparse-grad", "size.npz", "-o", "by_size.npz:g")
    assert np.load("by_size.npz")["g"].tolist() == [0, 5, 7, 0]
    np.savez("rows.npz", **{**SPARSE, "backprop_val_grad": [[5.0, 6.0], [7.0, 8.0]]})
    done = json.loads(run("sparse-grad", "rows.npz", "-o", "rows.npy", "--json").stdout)
    assert done["shape"] == [4, 2] and done["bytes"] == 64
    assert np.load("rows.npy").tolist() == [[0, 0], [5, 6], [7, 8], [0, 0]]
    done = run("sparse-grad", "-", "-o", "-", input=(folder / "s.npz").read_bytes())
    assert np.load(io.BytesIO(done.stdout)).tolist() == [0, 5, 7, 0]


def test_sparse_gradients_in_any_order_and_of_raw_dtypes(folder):
    swapped = {**SPARSE, "output_indices": SPARSE["output_indices"][::-1]}
    swapped["backprop_val_grad"] = np.array([7, 5]).astype(ml_dtypes.bfloat16)
    np.savez("s.npz", **swapped)
    fails(1, "--dtype", "sparse-grad", "s.npz", "-o", "dx.npy")
    fails(1, "aren't all propagated", "sparse-grad", "s.npz", "--dtype", "bfloat16", "-o", "dx.npy")
    run("sparse-grad", "s.npz", "--dtype", "bfloat16", "--order", "any", "-o", "dx.npy")
    assert np.load("dx.npy").view(ml_dtypes.bfloat16).astype(int).tolist() == [0, 5, 7, 0]
    fails(2, "it is in_order or any", "sparse-grad", "s.npz", "--order", "random", "-o", "dx2.npy")


def test_sparse_files_say_what_is_missing(folder):
    np.savez("s.npz", grad=[1.0])
    fails(1, "s.npz must hold backprop_val_grad, input_indices", "sparse-grad", "s.npz", "-o", "dx.npy")
    fails(1, "does not exist", "sparse-grad", "nope.npz", "-o", "dx.npy")


def test_ragged_gradients(folder):
    pieces = {"piece_0": [2.0, 4.0], "piece_2": [6.0, 8.0, 10.0]}
    np.savez("r.npz", row_splits=[0, 2, 2, 5, 6], dense_values_shape=[6], **pieces)
    run("ragged-grad", "r.npz", "-o", "dx.npy")
    assert np.load("dx.npy").tolist() == [2, 4, 6, 8, 10, 0]
    np.savez("nested.npz", row_splits_0=[0, 1, 2], row_splits_1=[0, 2, 3], dense_values_shape=[3], piece_1=[4.0])
    run("ragged-grad", "nested.npz", "-o", "nested.npy")
    assert np.load("nested.npy").tolist() == [0, 0, 4]
    np.savez("zeros.npz", row_splits=[0, 3], dense_values_shape=[3, 2])
    fails(1, "say it, such as --dtype float32", "ragged-grad", "zeros.npz", "-o", "z.npy")
    run("ragged-grad", "zeros.npz", "--dtype", "int8", "-o", "z.npy")
    assert np.array_equal(np.load("z.npy"), np.zeros((3, 2), np.int8))


@pytest.mark.parametrize(
    "arrays, says",
    [
        ({"dense_values_shape": [1]}, "no array row_splits"),
        ({"row_splits": [0, 1]}, "no array dense_values_shape"),
        ({"row_splits": [0, 1], "dense_values_shape": [1], "piece_7": [1.0]}, "row_splits has 1 rows"),
        ({"row_splits": [0, 1], "dense_values_shape": [1], "peice_0": [1.0]}, "means nothing here"),
        ({"row_splits": [0, 1], "dense_values_shape": [4], "piece_0": [1.0]}, "have 1 elements in all"),
        ({"row_splits_0": [0, 1], "row_splits_2": [0, 1], "dense_values_shape": [1]}, "in turn"),
        ({"row_splits": [0, 1], "row_splits_0": [0, 1], "dense_values_shape": [1]}, "in turn"),
        ({"row_splits": 3, "dense_values_shape": [4], "piece_0": [1.0]}, "expected one axis"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_ragged_files(folder, arrays, says):
    np.savez("r.npz", **arrays)
    fails(1, says, "ragged-grad", "r.npz", "-o", "dx.npy")
