"""Refusals of the file commands: bad files, bad slices, bad outputs, no space. They print one line and leave nothing
behind."""

import contextlib
import os
import subprocess
import zipfile

import numpy as np
import pytest
from command_line import SLICE, example, fails, leftovers

BAD_FILES = {
    "missing.npy": (None, "missing.npy does not exist"),
    "folder.npy": ("folder", "is a folder"),
    "magic.npy": (b"this is no array", "does not start with NumPy's magic bytes"),
    "empty.npy": (b"", "is not an .npy file"),
    "short.npy": ("truncated", "is not a complete .npy file"),
    "large-short.npy": ("large truncated", "is not a complete .npy file"),
    "header.npy": (b"\x93NUMPY\x01\x00\x40\x00{'descr': '<f8', 'fortran", "is not a complete .npy file"),
    "code.npy": (b"\x93NUMPY\x01\x00\x3c\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2**70,)} ", "complete"),
    "objects.npy": ("objects", "holds Python objects"),
    "dates.npy": ("dates", "datetime64"),
    "zip.npz": (b"PK\x03\x04 not a zip", "is not a complete .npz file"),
    "short.npz": ("short npz", "is not a complete .npz file"),
    "corrupt.npz": ("corrupt npz", "corrupt.npz"),
    "objects.npz": ("objects npz", "holds Python objects"),
    "nested.npy": (b"\x93NUMPY\x01\x00\x10\x27" + b"(" * 10_000, "header cannot be read"),
    "long-header.npy": (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 100, "more than any array needs"),
    "locked.npz": ("locked npz", "password"),
    "short.safetensors": (b"\x40\0\0\0\0\0\0\0{}", "is not a complete safetensors file"),
    "text.safetensors": (b"hello", "is not a complete safetensors file"),
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
    (2, "is not a slice; write 0, 2 for x[0, 2]", ("--index", "[0, 2]")),
    (2, "out of bounds", ("--index", "7")),
    (2, "given twice", ("--onnx", "starts=0,0", "ends=1,1", "axes=0,-2")),
    (1, "the slice of [4, 6] has shape [3, 3]", ("--index", "1:, ::2")),
    (1, "holds float32, not bfloat16", (*SLICE, "--dtype", "bfloat16")),
    (2, "--dtype 'float99' is not a dtype such as float32", (*SLICE, "--dtype", "float99")),
    (2, "did you mean 'float32'?", (*SLICE, "--dtype", "flot32")),
    (2, "did you mean 'bfloat16'?", (*SLICE, "--dtype", "bflaot16")),
    (2, "shape: 'x' is not an integer", ("--shape", "4,x", "--index", "1:3")),
    (2, "shape: '' is not an integer", ("--shape", "4,,", "--index", "1:3")),
    (2, "did you mean 'begin'?", ("--shape", "4", "--tf", "begn=1 end=3")),
    (2, "did you mean 'starts'?", ("--shape", "4", "--onnx", "start=1 ends=3")),
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
    fails(2, ".txt is not a supported format", *grad, "-o", "dx.txt")
    fails(2, "no suffix is not a supported format", *grad, "-o", "dx")
    fails(2, "leave out ':a'", *grad, "-o", "dx.npy:a")
    fails(1, "does not exist: make it first", *grad, "-o", "nowhere/dx.npy")
    (folder / "taken.npy").mkdir()
    fails(1, "is not a file that can be overwritten", *grad, "-o", "taken.npy", "--force")
    fails(2, ".txt is not a supported format", "grad", "dy.txt", "--shape", "4,6", *SLICE, "-o", "dx.npy")
    fails(1, "safetensors files cannot hold complex128", "slice", make_complex(), "--index", "0", "-o", "y.safetensors")
    assert leftovers(folder) == []


def make_complex() -> str:
    np.save("complex.npy", np.ones(3, np.complex128))
    return "complex.npy"


@contextlib.contextmanager
def small_disk(folder, options):
    """Mount a file system in a folder, which only root can do."""
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
    # root may write to every folder, but not to a disk that is mounted read-only
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
