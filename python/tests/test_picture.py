"""Pictures show the selected elements, and drawings have the structure of the stored ones."""

import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import backslice as bs
import numpy as np
import pytest
from backslice import picture
from backslice.picture import Kind, Limits
from backslice.picture.selections import Block, cut_axis
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import shapes_and_indices

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def cells(drawing: picture.Picture) -> list[picture.Cell]:
    return [cell for panel in drawing.panels for row in panel.rows for cell in row]


@settings(max_examples=300, deadline=None)
@given(shapes_and_indices(max_rank=4))
def test_every_taken_element_is_marked_with_its_position(case):
    shape, index = case
    selection = bs.Selection.from_index(shape, index)
    drawing = picture.of(selection, Limits(rows=100, columns=100, panels=10_000))
    drawn = [int(cell.text) if cell.kind is Kind.TAKEN else -1 for cell in cells(drawing)]
    expected = np.full(shape, -1)
    expected[index] = np.arange(np.prod(selection.result_shape)).reshape(selection.result_shape)
    assert drawn == expected.ravel().tolist()


@settings(max_examples=300, deadline=None)
@given(shapes_and_indices(max_rank=5), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_blocks_tell_how_much_is_taken(case, rows, columns, panels):
    shape, index = case
    selection = bs.Selection.from_index(shape, index)
    drawing = picture.of(selection, Limits(2 * rows, columns, panels))
    assert len(drawing.panels) <= max(1, panels)
    assert all(len(p.rows) <= 2 * rows and p.columns <= columns for p in drawing.panels)
    if any(cell.kind in (Kind.PART, Kind.TAKEN) for cell in cells(drawing)):
        assert np.prod(selection.result_shape) > 0
    else:
        assert np.prod(selection.result_shape) == 0
    assert all(0 < cell.share < 1 for cell in cells(drawing) if cell.kind is Kind.PART)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 40), st.integers(1, 9), st.data())
def test_blocks_of_an_axis_count_what_they_take(extent, most, data):
    start, stop = data.draw(st.integers(-1, extent)), data.draw(st.integers(-1, extent))
    step = data.draw(st.integers(-5, 5).filter(bool))
    (axis,) = bs.Selection.from_index((extent,), slice(start, stop, step)).axes
    taken = range(extent)[start:stop:step]
    blocks = cut_axis(extent, axis, most)
    assert len(blocks) <= most
    assert [i for block in blocks for i in range(block.lo, block.hi)] == list(range(extent))
    for block in blocks:
        inside = [k for k, i in enumerate(taken) if block.lo <= i < block.hi]
        assert block == Block(block.lo, block.hi, len(inside), min(inside, default=block.position))


def test_large_shapes_are_blocks_and_high_ranks_are_slabs():
    large = picture.of(bs.Selection.from_index((4096, 4096), "1024:3072, ::2"))
    assert [len(p.rows) for p in large.panels] == [16] and large.panels[0].columns == 16
    assert {cell.kind for cell in large.panels[0].rows[0]} == {Kind.LEFT}
    assert {(cell.kind, cell.share) for cell in large.panels[0].rows[4]} == {(Kind.PART, 0.5)}
    assert "Each cell is a block of 256 x 256 elements." in large.notes
    deep = picture.of(bs.Selection.from_index((2, 3, 4, 5), "0, :, 1"))
    assert [p.title for p in deep.panels] == [f"x[{i}, {j}, :, :]" for i, j in product(range(2), range(3))]
    huge = picture.of(bs.Selection.from_index((2**20, 2**20, 2**20), "5"))
    assert len(cells(huge)) < 2000


def structure(svg: str) -> list[tuple]:
    """Return the drawn items in order, without styles: panels, cells by kind and place, and texts."""
    root = ElementTree.fromstring(svg)
    found: list[tuple] = [("size", root.get("viewBox"))]
    for element in root.iter():
        if element.tag == SVG + "g":
            found.append(("panel",))
        elif element.tag == SVG + "rect":
            found.append((element.get("class"), element.get("x"), element.get("y"), element.get("fill-opacity")))
        elif element.tag == SVG + "text":
            found.append(("text", element.get("x"), element.get("y"), element.text))
    return found


def stored_pictures() -> dict[str, str]:
    sys.path.insert(0, str(ROOT / "tools"))
    import draw_pictures

    return draw_pictures.pictures()


def test_stored_pictures_are_what_is_drawn_now():
    drawn = stored_pictures()
    assert set(drawn) == {path.name for path in (ROOT / "docs" / "images").glob("*.svg")}
    for name, svg in drawn.items():
        stored = (ROOT / "docs" / "images" / name).read_text()
        assert structure(stored) == structure(svg), f"{name} has changed: look at it, then run tools/draw_pictures.py"


@pytest.mark.parametrize(
    "shape, index", [((4, 6), "1:3, ::2"), ((3, 4, 5), "1:"), ((), "..."), ((0, 2), ":"), ((7,), "3")]
)
def test_svg_shows_each_cell_within_the_picture(shape, index):
    drawing = picture.of(bs.Selection.from_index(shape, index))
    root = ElementTree.fromstring(picture.svg(drawing))
    width, height = map(float, root.get("viewBox").split()[2:])
    boxes = [r for r in root.iter(SVG + "rect") if r.get("class") != "ground"]
    assert len(boxes) == len(cells(drawing))
    places = {(float(r.get("x")), float(r.get("y"))) for r in boxes}
    assert len(places) == len(boxes), "cells overlap"
    assert all(0 <= x < width and 0 <= y < height for x, y in places)


def test_svg_escapes_what_it_shows():
    drawing = picture.of(bs.RaggedTensor.from_list([["<b>&"], ["]]>"]]))
    assert [t.text for t in ElementTree.fromstring(picture.svg(drawing)).iter(SVG + "text")][-1] == "]]>"


def test_png_paints_the_cells_in_their_colours(tmp_path):
    from matplotlib import image

    picture.png(picture.of(bs.Selection.from_index((4, 6), "1:3, ::2")), tmp_path / "a.png")
    pixels = (image.imread(tmp_path / "a.png")[..., :3] * 255).round().astype(int)
    taken = np.all(pixels == (0x1F, 0x7A, 0x6F), axis=-1)
    left = np.all(pixels == (0xEC, 0xEF, 0xF1), axis=-1)
    # 6 selected cells of equal size, and 18 others
    assert 2.5 < left.sum() / taken.sum() < 3.5
    rows = np.flatnonzero(taken.any(axis=1))
    assert np.count_nonzero(np.diff(rows) > 1) == 1, "two rows of taken cells"
    columns = np.flatnonzero(taken[rows[0] + 3])
    assert np.count_nonzero(np.diff(columns) > 1) >= 2, "three of them in a row"


def test_png_has_room_for_a_long_title(tmp_path):
    from matplotlib import image

    for shape in ((1000, 10**15), (2,) * 20, (4, 6)):
        picture.png(picture.of(bs.Selection.from_index(shape, "1:")), tmp_path / "a.png")
        title = image.imread(tmp_path / "a.png")[:22, :, :3].min(axis=(0, 2))
        dark = np.flatnonzero(title < 0.5)
        assert len(dark) and dark[0] > 3 and dark[-1] < len(title) - 4, shape


@pytest.mark.parametrize(
    "shown",
    [bs.Selection.from_index((4, 6), "1:3"), bs.RaggedTensor.from_list([[1, 2], [], [3]])],
    ids=lambda s: type(s).__name__,
)
def test_notebooks_show_pictures(shown):
    assert shown._repr_svg_() == picture.svg(picture.of(shown))
    assert shown._repr_svg_() in shown._repr_html_()
    ElementTree.fromstring(shown._repr_svg_())


def test_ragged_rows_and_their_paths():
    drawing = picture.of(bs.RaggedTensor.from_list([[[1, 2], []], [], [[3, 4, 5], [6]]]))
    (panel,) = drawing.panels
    assert panel.row_labels == ["0.0", "0.1", "2.0", "2.1"]
    assert [[cell.text for cell in row] for row in panel.rows] == [["1", "2"], [], ["3", "4", "5"], ["6"]]


def test_long_ragged_tensors_are_cut_and_say_so():
    lengths = [1000, 0, 37, *([1] * 100)]
    drawing = picture.of(bs.RaggedTensor.from_row_lengths(np.zeros(sum(lengths)), lengths))
    (panel,) = drawing.panels
    assert len(panel.rows) == 16 and panel.columns <= 24
    assert [row[0].text for row in panel.rows if row][:3] == ["1000", "37", "1"]
    assert any("first 16 of 103 rows" in note for note in drawing.notes)
    assert picture.of(bs.RaggedTensor(np.zeros(0), [0])).panels[0].rows == []
    inner = picture.of(bs.RaggedTensor(np.zeros((3, 2)), [0, 1, 3]))
    assert [len(row) for row in inner.panels[0].rows] == [1, 2]


def test_pictures_import_neither_rich_nor_matplotlib():
    import subprocess

    code = "import sys, backslice.picture; print([m for m in ('rich', 'matplotlib', 'typer') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_doctests():
    import doctest

    from backslice import dialects

    assert doctest.testmod(picture).failed == 0 and doctest.testmod(dialects).failed == 0
    assert re.match("Pictures", picture.__doc__)


def test_png_leaves_the_users_plots_alone(tmp_path):
    """In a notebook, another backend would end the display of plots."""
    program = (
        "import sys, backslice as bs\n"
        "from backslice import picture\n"
        f"picture.png(picture.of(bs.Selection.from_index((4,), '1:3')), {str(tmp_path / 'slice.png')!r})\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert (tmp_path / "slice.png").read_bytes().startswith(b"\x89PNG")
