"""grad and slice on real files of every format and dtype."""

import io
import json
import os
import stat

import ml_dtypes
import numpy as np
import pytest
from backslice.cli.safetensors_files import DTYPES as SAFETENSORS
from backslice.cli.safetensors_files import pack, unpack
from command_line import SLICE, example, fails, run

ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e4m3b11fnuz",
             "float8_e4m3fnuz", "float8_e5m2fnuz", "int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn",
             "float6_e3m2fn")  # fmt: skip
NUMPY_DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i8",
                "S3", "U2", [("qint8", "i1")], [("quint8", "u1")], [("qint16", "i2")], [("quint16", "u2")],
                [("qint32", "i4")])  # fmt: skip


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


@pytest.mark.parametrize("dtype, bits", [(dtype, bits) for _, dtype, bits in SAFETENSORS if bits != 6], ids=str)
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
    fails(
        1, "holds 2 arrays: name one, two.safetensors:NAME", "slice", "two.safetensors", "--index", "0", "-o", "y.npy"
    )
    fails(1, "no array 'c'; it holds a, b", "slice", "two.safetensors:c", "--index", "0", "-o", "y.npy")


@pytest.mark.parametrize("kind, dtype", [("F6_E2M3", ml_dtypes.float6_e2m3fn), ("F6_E3M2", ml_dtypes.float6_e3m2fn)])
def test_float6_safetensors(folder, kind, dtype):
    items = np.arange(8, dtype=np.uint8) * 5
    data = pack(items, 6).tobytes()
    header = json.dumps({"a": {"dtype": kind, "shape": [2, 4], "data_offsets": [0, len(data)]}}).encode()
    with open("a.safetensors", "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)
    run("slice", "a.safetensors", "--index", "1", "-o", "y.npy")
    assert np.load("y.npy").view(dtype).tobytes() == items[4:].tobytes()
    run("slice", "a.safetensors", "--index", "::-1", "-o", "y.safetensors:a")
    run("slice", "y.safetensors:a", "--index", "0", "-o", "y.npy", "--force")
    assert np.load("y.npy").view(dtype).tobytes() == items[4:].tobytes()
    fails(1, "rows of whole bytes", "slice", "a.safetensors", "--index", ":, :3", "-o", "z.safetensors")


@pytest.mark.parametrize("bits", [4, 6])
def test_packing_round_trips(bits):
    items = np.random.default_rng(0).integers(0, 1 << bits, 24).astype(np.uint8)
    assert np.array_equal(unpack(pack(items, bits), bits, 24), items)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--index", "1:3, ::2"),
        ("--tf", "begin=1,0", "end=3,5", "strides=1,2"),
        ("--tf", "begin=[1, 0] end=[3, 0] strides=[1, 2] end_mask=0b10"),
        ("--tf=begin=1,0", "end=3,5", "strides=1,2"),
        ("--onnx", "starts=0,1", "ends=INT_MAX,3", "axes=-1,0", "steps=2,1"),
    ],
    ids=" ".join,
)
def test_every_dialect(folder, arguments):
    np.save("dy.npy", example("f4"))
    run("grad", *arguments[:1], *arguments[1:], "--shape", "4,6", "-o", "dx.npy", "dy.npy")
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
    fails(1, "dx.npy exists; --force overwrites it", *arguments)
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
