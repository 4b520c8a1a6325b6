"""The page's code runs as copied, and computes the values of the pictures."""

import numpy as np
import pytest

TEXTS = "figure[data-name={}] rect + text[text-anchor=middle]"


def run(page, name: str, **given: object) -> dict[str, object]:
    """Run the code under that heading and return its variables."""
    code = page.locator(".snippet", has=page.get_by_role("heading", name=name, exact=True)).locator("pre").inner_text()
    exec(code, given)
    return given


def numbers(page, picture: str) -> list[int]:
    return [int(text) for text in page.locator(TEXTS.format(picture)).all_text_contents()]


@pytest.mark.parametrize("index", ["1:3, ::2", "-1, ::-2", "..., None, 0", "3:1"])
def test_slices(tab, index):
    page = tab.open(f"#tab=slice&shape=4,6&index={index}")
    x = np.arange(24).reshape(4, 6)
    y = eval(f"x[{index}]")
    dy = np.arange(1, y.size + 1).reshape(y.shape)
    ran = run(page, "NumPy", x=x, dy=dy)
    np.testing.assert_array_equal(ran["y"], y)
    assert numbers(page, "dx") == ran["dx"].ravel().tolist()


def test_many_slices(tab):
    page = tab.open("#tab=slice&shape=4,6&index=1:3&more=:, ::2%0A0")
    x = np.arange(24).reshape(4, 6)
    ran = run(page, "NumPy, all slices", x=x, dy0=np.ones((2, 6), int), dy1=np.ones((4, 3), int), dy2=np.ones(6, int))
    np.testing.assert_array_equal(ran["y1"], x[:, ::2])
    assert numbers(page, "slices") == ran["dx"].ravel().tolist()


def test_sparse_windows(tab):
    entries = [(0, 0, 5), (1, 1, 6), (2, 2, 7), (2, 0, 8)]
    listed = "%0A".join(" ".join(map(str, entry)) for entry in entries)
    page = tab.open(f"#tab=sparse&shape=3,3&start=1,0&size=2,2&entries={listed}")
    indices, values = np.array(entries)[:, :2], np.array(entries)[:, 2]
    ran = run(page, "NumPy", indices=indices, values=values, dy=np.array([1, 2]))
    assert ran["y_values"].tolist() == [6, 8]
    by_place = sorted(zip(indices.tolist(), ran["dvalues"].tolist(), strict=True))
    assert numbers(page, "dx") == [value for _, value in by_place]


def test_ragged_rows(tab):
    page = tab.open("#tab=ragged&rows_text=7 8%0A%0A9&missing=0")
    values = np.array([7, 8, 9])
    pieces = [None, np.array([], int), np.array([3])]
    import backslice as bs

    ran = run(page, "NumPy", values=values, pieces=bs.VariantArray(pieces))
    assert len(ran["encoded"]) == 3
    assert numbers(page, "dvalues") == ran["dvalues"].tolist()
