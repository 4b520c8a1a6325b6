"""The use of the page: typing, toggling, links, downloads, pointing, keys, phones, dark."""

import re
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from conftest import DESKTOP, PAGE, PHONE, SCREENSHOTS
from playwright.sync_api import expect

SVG = "{http://www.w3.org/2000/svg}"


def value(page, field: str) -> str:
    return page.locator(f"#{field}").input_value()


def test_typing_an_index_fills_the_other_notations(tab):
    page = tab.open()
    page.fill("#shape", "4, 6")
    page.fill("#index", "-1, ::-2")
    assert (value(page, "begin"), value(page, "end"), value(page, "strides")) == ("3, 5", "4, 0", "1, -2")
    assert page.locator("#shrink_axis_mask button[aria-pressed=true]").all_inner_texts() == ["0"]
    assert (value(page, "starts"), value(page, "steps")) == ("3, 5", "1, -2")
    assert page.locator("#summary").inner_text() == "x[3, ::-2] of shape [4, 6] gives shape [3]"
    assert "ONNX's Slice has no integer index" in page.locator("#warnings").inner_text()


def test_typing_tensorflows_and_onnxs_lists_fills_the_index(tab):
    page = tab.open()
    page.fill("#begin", "0, 1")
    page.fill("#end", "2, 6")
    page.fill("#strides", "1, 2")
    assert value(page, "index") == ":2, 1::2"
    page.fill("#starts", "1")
    page.fill("#ends", "INT_MAX")
    page.fill("#axes", "-1")
    page.fill("#steps", "")
    assert value(page, "index") == ":, 1:"


def test_masks_are_toggles(tab):
    page = tab.open("#tab=slice&from=tf&shape=4,6&begin=1,2&end=3,4&strides=1,1")
    assert value(page, "index") == "1:3, 2:4"
    page.get_by_role("button", name="begin_mask, entry 1").click()
    assert value(page, "index") == "1:3, :4"
    page.get_by_role("button", name="shrink_axis_mask, entry 0").click()
    assert value(page, "index") == "1, :4"
    expect(page).to_have_url(re.compile("shrink_axis_mask=1"))
    page.get_by_role("button", name="ellipsis_mask, entry 0").click()
    page.get_by_role("button", name="ellipsis_mask, entry 1").click()
    assert "Multiple ellipses" in page.locator("#ellipsis_mask .error").inner_text()


@pytest.mark.parametrize(
    "link, field, message, marked",
    [
        ("shape=4,6&index=1:3, 9", "index", "index 9 is out of bounds for axis 1 with size 6", "9"),
        ("shape=4,6&index=1:3, a:b", "index", "is not an integer, a slice", "a:b"),
        ("shape=4,x&index=1", "shape", "shape: 'x' is not an integer", "x"),
        ("shape=4,-1&index=1", "shape", "must be >= 0", "-1"),
        ("from=tf&shape=4,6&begin=0,1&end=3,3&strides=1,0", "strides", "must be non-zero", "0"),
        ("from=onnx&shape=4,6&starts=0,1&ends=3,3&axes=0,5", "axes", "outside", "5"),
        ("shape=4,6&index=1&more=1:2%0A::0", "more", "step cannot be zero", "::0"),
    ],
)
def test_errors_stand_under_their_field_with_the_part_marked(tab, link, field, message, marked):
    page = tab.open(f"#tab=slice&{link}")
    error = page.locator(".error")
    assert message in error.inner_text()
    assert error.locator("mark").inner_text() == marked
    assert page.locator("[aria-invalid=true]").get_attribute("id") == field
    tab.type("4, 6", "1")
    assert page.locator(".error").count() == 0 and page.locator("[aria-invalid]").count() == 0


def test_links_keep_everything(tab):
    for tab_name, field, text in (
        ("slice", "index", "::-1"),
        ("sparse", "size", "2, 2"),
        ("ragged", "missing", "0, 3"),
    ):
        page = tab.open()
        page.get_by_role("tab").nth(("slice", "sparse", "ragged").index(tab_name)).click()
        page.fill(f"#{field}", text)
        expect(page).to_have_url(re.compile(re.escape(urlencode({field: text}))))
        link, pictures = page.url, page.locator("#pictures").inner_html()
        tab.open("#" + link.split("#")[1])
        assert value(page, field) == text
        assert page.locator("#pictures").inner_html() == pictures


def test_pictures_are_downloaded_as_svg(tab):
    page = tab.open()
    for name, cells in (("x", 24), ("y", 6), ("dx", 24)):
        with page.expect_download() as started:
            page.locator(f"figure[data-name={name}] button").click()
        assert started.value.suggested_filename == f"{name}.svg"
        root = ElementTree.parse(started.value.path()).getroot()
        assert len([r for r in root.iter(SVG + "rect") if r.get("class") != "ground"]) == cells
        assert "x[1:3, ::2] of shape [4, 6]" in root.find(SVG + "title").text
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {"svg", "title", "rect", "g", "text"}


def test_pointing_at_an_element_says_where_it_goes(tab):
    page = tab.open()
    page.locator("figure[data-name=x] rect:not(.ground)").nth(8).hover()
    expect(page.locator("#pointed")).to_have_text("x[1, 2] goes to y[0, 1]")
    expect(page.locator("rect.same")).to_have_count(4)  # in x, y, dy and dx
    page.locator("figure[data-name=dx] rect:not(.ground)").nth(0).hover()
    expect(page.locator("#pointed")).to_have_text("dx[0, 0] = 0: x is not taken here")
    page.locator("figure[data-name=y] rect:not(.ground)").nth(5).hover()
    expect(page.locator("#pointed")).to_have_text("y[1, 2] comes from x[2, 4]")


def test_a_phone_shows_one_notation_and_the_others_on_request(tab):
    tab.page.set_viewport_size(PHONE)
    page = tab.open("#tab=slice&from=onnx&shape=5&starts=1&ends=3")
    assert page.locator("#starts").is_visible() and not page.locator("#begin").is_visible()
    page.get_by_text("TensorFlow StridedSlice").tap()
    assert value(page, "begin") == "1" and page.locator("#begin").is_visible()


def test_a_tapped_element_stays_marked(tab):
    page = tab.open()
    page.locator("figure[data-name=x] rect:not(.ground)").nth(8).tap()
    expect(page.locator("#pointed")).to_have_text("x[1, 2] goes to y[0, 1]")
    expect(page.locator("rect.same")).to_have_count(4)


def test_everything_is_reached_by_keyboard(tab):
    page = tab.open()
    page.locator("#tab-slice").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-sparse").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowLeft")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.id || document.activeElement.getAttribute('aria-label') || ''")
        )
    assert {"shape", "index", "begin", "starts", "begin_mask, entry 0"} <= reached
    assert any(name.startswith("x, the input; arrow keys") for name in reached)
    page.locator("figure[data-name=x] .drawing").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.locator("#pointed")).to_have_text("x[1, 2] goes to y[0, 1]")


def test_gradient_pictures_show_what_the_kernels_computed(tab):
    page = tab.open("#tab=slice&shape=3,4&index=::-2, 1:3")
    texts = page.locator(
        "figure[data-name=dx] text.on-taken, figure[data-name=dx] rect + text.faint"
    ).all_text_contents()
    assert texts == ["0", "3", "4", "0", *"0000", "0", "1", "2", "0"]


def test_overlaid_slices_are_counted(tab):
    page = tab.open("#tab=slice&shape=2,4&index=0&more=:, 1:3%0A..., 1")
    texts = page.locator("figure[data-name=slices] rect + text").all_text_contents()
    assert texts == ["1", "3", "2", "1", "0", "2", "1", "0"]
    page.locator("figure[data-name=slices] rect:not(.ground)").nth(1).hover()
    expect(page.locator("#pointed")).to_have_text("x[0, 1] is taken by slices 1, 2, 3")
    assert (
        "bs.multi_slice_grad((2, 4), [(np.s_[0], dy0), (np.s_[:, 1:3], dy1), (np.s_[:, 1], dy2)])"
        in page.locator("#code").inner_text()
    )


def test_what_is_not_up_to_date_says_so(tab):
    page = tab.open("#tab=slice&from=python&shape=4,6&index=1:3")
    page.fill("#index", "1:3, a")
    content = "id => getComputedStyle(document.querySelector(id), '{}').content"
    assert page.evaluate(content.format("::before"), "#summary") == '"Last valid: "'
    assert page.evaluate(content.format("::after"), "#notation-tf summary") == '" (last valid)"'
    assert page.evaluate(content.format("::after"), "#notation-python summary") == "none"
    page.fill("#index", "1:3, 2")
    assert page.evaluate(content.format("::after"), "#notation-tf summary") == "none"


def test_all_31_entries_have_toggles(tab):
    ones, zeros = ",".join("1" * 31), ",".join("0" * 31)
    page = tab.open(f"#tab=slice&from=tf&shape={ones}&begin={zeros}&end={ones}&strides={ones}")
    for entry in (29, 30):
        page.get_by_role("button", name=f"shrink_axis_mask, entry {entry}").click()
        assert page.locator(".error").count() == 0
    assert page.locator("#shrink_axis_mask button[aria-pressed=true]").all_inner_texts() == ["29", "30"]
    assert page.locator("#summary").inner_text().endswith(f"gives shape [{', '.join('1' * 29)}]")


def test_what_tensorflow_cannot_express_leaves_its_fields_empty(tab):
    page = tab.open("#tab=slice&shape=4&index=" + "None, " * 32 + "0")
    assert "cannot be written for TensorFlow" in page.locator("#warnings").inner_text()
    assert value(page, "begin") == value(page, "end") == "" and page.locator("[aria-pressed=true]").count() == 0


def test_copying_twice_leaves_the_button_as_it_was(tab):
    page = tab.open()
    for _ in range(2):
        page.locator("#copy-link").click()
        expect(page.locator("#copy-link")).to_have_text("Copied")
    expect(page.locator("#copy-link")).to_have_text("Copy link")


def test_large_shapes_are_drawn_as_density(tab):
    page = tab.open("#tab=slice&shape=4096,4096&index=1024:3072, ::2")
    assert page.locator("figure[data-name=x] rect.part").count() > 50
    page.locator("figure[data-name=x] rect.part").first.hover()
    expect(page.locator("#pointed")).to_have_text(re.compile(r"x\[.*\]: \d+ of \d+ elements go to y\["))


def test_a_sparse_window(tab):
    page = tab.open("#tab=sparse&shape=3,3&start=1,0&size=2,2&entries=0 0 5%0A1 1 6%0A2 2 7%0A2 0 8")
    assert page.locator("figure[data-name=x] rect.taken").count() == 2
    assert page.locator("figure[data-name=dx] rect + text[text-anchor=middle]").all_text_contents() == [
        "0",
        "1",
        "2",
        "0",
    ]
    page.locator("figure[data-name=y] rect.taken").last.hover()
    expect(page.locator("#pointed")).to_have_text("y[1, 0] = 8 comes from x[2, 0]")
    page.fill("#entries", "0 0 5\n1 one")
    assert page.locator(".error mark").inner_text() == "one"


def test_a_sparse_window_of_any_rank(tab):
    page = tab.open("#tab=sparse&shape=2,2,3&start=0,1,0&size=2,1,2&entries=0 1 1 5%0A1 1 0 6%0A1 0 2 7%0A1 1 0 8")
    assert page.locator("#summary").inner_text() == "The window of shape [2, 1, 2] has 3 of 4 entries"
    assert page.locator("figure[data-name=x] .panel").count() == 2
    page.locator("figure[data-name=x] rect.taken").last.hover()
    two = "2 entries at x[1, 1, 0]: x[1, 1, 0] = 6 goes to y[1, 0, 0]; x[1, 1, 0] = 8 goes to y[1, 0, 0]"
    expect(page.locator("#pointed")).to_have_text(two)
    page.fill("#size", "2, 1")
    assert "size has 2 numbers, expected 3" in page.locator(".error").inner_text()
    page = tab.open("#tab=sparse&shape=9&start=3&size=3&entries=2%0A4%0A99")
    assert page.locator("figure[data-name=x] rect.taken").count() == 1
    assert "1 entry outside the shape is not drawn" in page.locator("figure[data-name=x]").inner_text()


def test_entries_of_a_block_are_all_named(tab):
    page = tab.open("#tab=sparse&shape=4096,4096&start=0,0&size=4096,4096&entries=0 0 1%0A1 1 2%0A2 2 3%0A3 3 4")
    page.locator("figure[data-name=x] rect.taken").hover()
    expect(page.locator("#pointed")).to_have_text(re.compile(r"^4 entries at x\[0:256, 0:256\]: .*; and 1 more$"))


def test_ragged_rows_with_missing_pieces(tab):
    page = tab.open("#tab=ragged&rows_text=7 8%0A%0A9&missing=0")
    assert page.locator("figure[data-name=dvalues] rect + text[text-anchor=middle]").all_text_contents() == [
        "0",
        "0",
        "3",
    ]
    assert page.locator("figure[data-name=pieces] rect.empty").count() == 2
    page.fill("#rows_text", " ".join(["7"] * 100))
    page.locator("figure[data-name=rows] rect.taken").nth(1).hover()
    expect(page.locator("#pointed")).to_have_text(re.compile(r"^x\[0, 5:10\]$"))
    page.fill("#rows_text", "7 8\n\n9")
    page.fill("#missing", "4")
    assert "the rows are 0 to 2" in page.locator(".error").inner_text()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize(
    "name, link",
    [
        ("slice", ""),
        ("rank3", "#tab=slice&shape=3,5,8&index=1:, ::2, -1::-3"),
        ("many", "#tab=slice&shape=6,8&index=1:4, ::2&more=2:5, 3:7%0A::5"),
        ("density", "#tab=slice&shape=4096,4096&index=1024:3072, ::2"),
        ("error", "#tab=slice&shape=4,6&index=1:3, 9"),
        ("sparse", "#tab=sparse&shape=5,8&start=1,2&size=3,4&entries=0 3 7%0A1 2 5%0A2 4 8%0A3 3 2%0A4 0 9"),
        ("ragged", "#tab=ragged&rows_text=3 1 4%0A1 5%0A%0A9 2 6 5&missing=1"),
    ],
)
def test_pages_fit_the_screen(tab, name, link, size, dark):
    tab.page.set_viewport_size(size)
    tab.page.emulate_media(color_scheme="dark" if dark else "light")
    page = tab.open(link)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.documentElement.classList.contains('dark')") == dark
    assert (page.locator("#theme").get_attribute("aria-pressed") == "true") == dark
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(
        path=SCREENSHOTS / f"explorer_{name}_{size['width']}_{'dark' if dark else 'light'}.png", full_page=True
    )


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_have_contrast(tab, dark):
    tab.page.emulate_media(color_scheme="dark" if dark else "light")
    page = tab.open()
    names = "ground ink faint left taken often on-taken surface accent error mark warn warn-ground".split()  # noqa: SIM905
    colours = page.evaluate(
        "names => names.map(n => getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim())", names
    )
    of = dict(zip(names, colours, strict=True))
    for text, on in (
        *(("ink", g) for g in ("ground", "surface", "mark")), *(("faint", g) for g in ("ground", "surface", "left")),
        ("on-taken", "taken"), ("on-taken", "often"), ("error", "ground"), ("warn", "warn-ground"),
    ):  # fmt: skip
        assert contrast(of[text], of[on]) >= 4.5, (text, on, contrast(of[text], of[on]))
    for mark, on in (("accent", "ground"), ("taken", "left"), ("often", "left")):
        assert contrast(of[mark], of[on]) >= 3, (mark, on, contrast(of[mark], of[on]))


def test_the_page_may_load_nothing(tab):
    page = tab.open()
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe-inline" not in policy
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", PAGE.read_text()) == []
