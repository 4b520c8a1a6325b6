"""explain: one screen, beginning with the picture; pictures of large shapes fill the terminal."""

import re
from itertools import pairwise

import backslice as bs
import pytest
from backslice.picture import Kind
from backslice.picture.terminal import for_terminal
from command_line import answer, backslice

SLICES = [("4,6", "1:3, ::2"), ("4096,4096", "1024:3072, ::2"), ("3,4,5", "1:, ::2, ::-1"), ("8,3,64,64", ":, 1"),
          ("1000", "3:500:3"), ("16,16", "1:5"), ("5000,100", "::3"), ("", "..."), ("12,20", "3"), ("1,1,4096", "0"),
          ("6,2,2", "1::2"), ("0,5", ":"),
          ("40,4096,4096", "3:9, 100:900")]  # fmt: skip


def lines(*args: str, width: int = 80, height: int = 24) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setenv("LINES", str(height))
        code, shown, error = answer("explain", *args)
    assert code == 0, error
    return shown.splitlines()


@pytest.mark.parametrize("shape, index", SLICES)
def test_a_slice_is_explained_on_one_screen(shape, index):
    shown = lines(shape, index)
    assert len(shown) <= 23, "\n".join(shown)  # with the prompt
    assert max(map(len, shown)) <= 80
    assert shown[0].startswith("x[") and "gives shape" in shown[0]
    picture, code = shown.index(""), next(i for i, line in enumerate(shown) if line.startswith("y = x["))
    assert picture < code < next(i for i, line in enumerate(shown) if line.startswith("Takes "))
    assert shown[-1].startswith("--all adds ")
    assert not any("onnx" in line for line in shown[:-1])


def test_onnx_tensorflow_and_other_libraries_are_behind_all():
    text = "\n".join(lines("4,6", "1:3", "--all"))
    for part in ("make_node(", "tf.raw_ops.StridedSliceGrad", "What other libraries do", "PyTorch: "):
        assert part in text
        assert part not in "\n".join(lines("4,6", "1:3"))


def test_code_imports_each_name_once():
    imports = [line.strip() for line in lines("4,6", "1:3", "--all") if line.strip().startswith("from ")]
    assert imports and len(imports) == len(set(imports))


def grid(shown: list[str]) -> list[str]:
    """Return the rows of shades, without their labels."""
    return [found[1] for line in shown if (found := re.search(r"(?:^|[0-9] )([·░▒▓█]+)$", line))]


@pytest.mark.parametrize("width", [40, 80, 133, 200])
@pytest.mark.parametrize("shape", ["4096,4096", "5000,1000", "70,70", "1000,3", "7000"])
def test_large_shapes_fill_the_width(shape, width):
    shown = lines(shape, "::2", width=width)
    assert max(len(line) for line in shown if re.search("[·░▒▓█]{3}", line)) == width
    assert len(set(map(len, grid(shown)))) == 1


def test_shades_tell_how_much_of_a_block_is_taken():
    def rows(index: str) -> set[str]:
        return {row[0] for row in grid(lines("4096,4096", index)) if len(set(row)) == 1}

    assert rows(":") == {"█"} and rows("0:0") == {"·"}
    assert rows("::2") == {"▒"} and rows("::3") == {"░"} and rows("::4") == {"░"}
    assert rows(":400") == {"▓", "·"} and rows(":512") == {"█", "·"}
    assert set("".join(grid(lines("64", "10:50")))) <= set("·░▒▓█")


def test_shades_of_terminals_without_them():
    run = backslice("explain", "4096,4096", ":512, ::2", env={"PYTHONIOENCODING": "ascii"})
    assert run.stdout.isascii() and "++++" in run.stdout and "...." in run.stdout


@pytest.mark.parametrize("extent", [100, 4096, 70_000, 10**9, 10**15, 2**61])
@pytest.mark.parametrize("width", [30, 80, 150])
def test_labels_of_columns_stand_apart_over_where_their_blocks_begin(extent, width):
    shown = lines(f"2,{extent}", "::2", "--dtype", "int8", width=width)
    header = shown[shown.index("") + 1]
    labels = [(m.start(), int(m[0])) for m in re.finditer(r"[0-9]+", header)]
    assert labels[0][1] == 0 and len(header) <= width
    steps = {b - a for (_, a), (_, b) in pairwise(labels)}
    assert len(steps) <= 1 and min(steps, default=1) > 0, header
    for gap in re.findall(r"(?<=[0-9]) +(?=[0-9])", header):
        assert len(gap) >= 2, header
    left = labels[0][0]
    for at, begin in labels:
        assert abs((at - left) / (width - left) - begin / extent) < 0.1 + 2 / (width - left)


def test_tall_terminals_get_more_rows_and_numbers():
    assert lines("16,16", "1:3", height=50)[2].split() == [str(i) for i in range(16)]
    assert len(grid(lines("4096,4096", ":", height=60))) > len(grid(lines("4096,4096", ":")))


def test_elements_get_numbers_wherever_they_fit():
    for shape, width, numbered in (((9, 9), 80, True), ((9, 9), 20, False), ((3, 4, 5), 80, True), ((300,), 80, False)):
        drawing = for_terminal(bs.Selection.from_index(shape, "..."), width, 10)
        taken = [c for p in drawing.panels for row in p.rows for c in row if c.kind is Kind.TAKEN]
        assert all(bool(cell.text) == numbered for cell in taken), shape
