"""Hostile input: it gets a message in the page, never a frozen tab or injected markup."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

MARKUP = '</code><img src=x onerror="window.owned=1"><svg onload=window.owned=1><script>window.owned=1</script>{{7*7}}'
EXTREME = "9223372036854775807"
FIELDS = {
    "slice": (
        "from",
        "shape",
        "index",
        "begin",
        "end",
        "strides",
        "starts",
        "ends",
        "axes",
        "steps",
        "more",
        "begin_mask",
    ),
    "sparse": ("shape", "start", "size", "entries"),
    "ragged": ("rows_text", "missing"),
}

ANSWERED = """fields => {
  const begun = performance.now();
  const {error, pictures} = backsliceExplorer.ask(fields);
  const cells = (pictures || []).reduce((sum, picture) => sum + picture.cells.length, 0);
  const milliseconds = performance.now() - begun;
  return {milliseconds, message: error ? error.message : "", cells, drawn: pictures !== undefined};
}"""
FROZEN = 10_000  # milliseconds, on a busy machine; test_speed.py tests the speed itself


@pytest.mark.parametrize("tab_name", FIELDS)
def test_markup_in_links_stays_text(tab, tab_name):
    page = tab.open(f"#tab={tab_name}&shape=4,6&{FIELDS[tab_name][0]}={quote(MARKUP)}")
    for notation in ("python", "tf", "onnx"):
        for field in FIELDS[tab_name]:
            link = f"tab={tab_name}&from={notation}&shape=4,6&{field}={quote(MARKUP)}"
            tab.follow(link)
            assert page.evaluate("window.owned") is None
            assert page.locator("img").count() == 0 and page.locator("script").count() == 3


@pytest.mark.parametrize(
    "link",
    [
        "%", "#", "tab=__proto__", "tab=constructor&from=__proto__", "from=toString", "tab=slice&tab=sparse", "\x00\x1e\x1f",  # noqa: E501
        "tab=slice&shape=%FF%FE&index=%00", "tab=slice&shape=4&index=" + "1," * 20000, "a" * 100_000,
        "tab=slice&from=tf&shape=4&begin=0&end=1&begin_mask=1e999&end_mask=-1&shrink_axis_mask=99999999999",
        "tab=slice&from=tf&shape=4&begin=" + "0," * 400 + "&end=1", "a" * 300_000,
        "tab=slice&shape=4&index=%F0%9F%98%80%1E%1F&more=" + "%0A" * 5000,
        "tab=ragged&rows_text=" + "%0A" * 9000 + "&missing=" + "1," * 3000,
        "tab=sparse&shape=4,4&start=0,0&size=1,1&entries=" + "1 1%0A" * 5000,
    ],
    ids=lambda link: ascii(link[:40]),
)  # fmt: skip
def test_nonsense_links_leave_a_page_that_works(tab, link):
    page = tab.open("#" + link)
    page.get_by_role("tab").first.click()
    tab.type("4, 6", "1:3, ::2")
    assert page.locator("figure[data-name=x] rect.taken").count() == 6


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": "1000000000,1000000000", "index": "::3, ::7"},
        {"shape": EXTREME, "index": f"::{EXTREME}"},
        {"shape": EXTREME, "index": "::-1"},
        {"shape": EXTREME + ",2", "index": "0"},
        {"shape": ",".join("1" * 32), "index": "..."},
        {"shape": ",".join("1" * 33), "index": "0"},
        {"shape": ",".join(["2"] * 32), "index": ",".join(["::-1"] * 32), "more": "\n".join(["..., 1"] * 16)},
        {"shape": "16,16,16", "index": "...", "more": "\n".join(["::2"] * 16)},
        {"shape": "0," + EXTREME + "," + EXTREME, "index": "..."},
        {"shape": "4", "index": ",".join(["None"] * 40)},
        {"shape": "4", "index": "9" * 19000},
        {"shape": "4", "index": "[" * 19000},
        {"shape": "4", "index": "0", "more": "\n".join(["0"] * 9000)},
        {"shape": "4", "index": "1" * 1_000_000},
        {"shape": "1," * 500_000, "index": "0"},
        {"from": "tf", "shape": "4", "begin": "0," * 9000, "end": "0," * 9000},
        {"from": "onnx", "shape": "4", "starts": "0", "ends": "1", "axes": "9" * 1_000_000},
        {"tab": "sparse", "shape": f"{EXTREME},1", "start": f"{EXTREME},0", "size": f"{EXTREME},1", "entries": "1 0"},
        {"tab": "sparse", "shape": "1000000000,1000000000", "start": "-9,-9", "size": "99,99", "entries": "1 1\n" * 1000},  # noqa: E501
        {"tab": "sparse", "shape": "1" + ",1" * 31, "start": "0" + ",0" * 31, "size": "1" + ",1" * 31, "entries": "0 " * 32},  # noqa: E501
        {"tab": "sparse", "shape": "1" + ",1" * 32, "start": "0", "size": "1", "entries": ""},
        {"tab": "sparse", "shape": "99,99,99", "start": "0,0,0", "size": "99,99,99", "entries": "1 1 1\n" * 1000},
        {"tab": "sparse", "shape": "-1,4", "start": "0,0", "size": "0,0", "entries": f"{EXTREME} -{EXTREME}"},
        {"tab": "ragged", "rows_text": "1," * 9000, "missing": "0"},
        {"tab": "ragged", "rows_text": "\n" * 900 + "1", "missing": "900"},
        {"tab": "ragged", "rows_text": "", "missing": ""},
        {"tab": "ragged", "rows_text": "", "missing": "0"},
    ],
    ids=lambda fields: ascii(" ".join(f"{v}"[:20] for v in fields.values())),
)  # fmt: skip
def test_no_request_freezes_the_page(tab, fields):
    tab.open()
    answer = tab.page.evaluate(ANSWERED, {"tab": "slice", "from": "python", **fields})
    assert answer["milliseconds"] < FROZEN
    assert answer["cells"] <= 5 * 16 * 24 * 6, "no more than five pictures of what is drawn at most"
    assert bool(answer["message"]) != answer["drawn"]
    assert len(answer["message"]) < 60_000


def test_a_mask_that_is_no_number_is_an_error(tab):
    page = tab.open("#tab=slice&from=tf&shape=4&begin=0&end=1&begin_mask=1e999&shrink_axis_mask=99999999999")
    assert page.locator("#begin_mask .error").inner_text() == "begin_mask: '1e999' is not an integer"
    page.get_by_role("button", name="begin_mask, entry 0").click()
    assert "shrink_axis_mask is 99999999999" in page.locator("#shrink_axis_mask .error").inner_text()
    page.get_by_role("button", name="shrink_axis_mask, entry 0").click()
    assert page.locator(".error").count() == 0


def test_typing_fast_leaves_the_last_slice_and_its_link(tab):
    """Browsers refuse, and report, some hundred changes of the address within seconds."""
    page = tab.open()
    page.evaluate("""() => {
      const field = document.getElementById("index");
      for (let i = 0; i < 300; ++i) {
        field.value = `${i % 4}, ::${i % 5 + 1}`;
        field.dispatchEvent(new Event("input", {bubbles: true}));
      }
    }""")
    assert page.locator("#summary").inner_text() == "x[3, ::5] of shape [4, 6] gives shape [2]"
    expect(page).to_have_url(re.compile(r"index=3%2C\+%3A%3A5$"))
