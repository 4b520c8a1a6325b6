"""What the page is given with bad intent: a message in the page, never a frozen tab, never injected markup."""

from urllib.parse import quote

import pytest

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

MEASURED = """fields => {
  const begun = performance.now();
  const {error, pictures} = backsliceExplorer.ask(fields);
  return [performance.now() - begun, error ? error.message : "", (pictures || []).length];
}"""


@pytest.mark.parametrize("tab_name", FIELDS)
def test_markup_in_links_stays_text(tab, tab_name):
    for notation in ("python", "tf", "onnx"):
        for field in FIELDS[tab_name]:
            page = tab.open(f"#tab={tab_name}&from={notation}&shape=4,6&{field}={quote(MARKUP)}")
            page.wait_for_timeout(20)
            assert page.evaluate("window.owned") is None
            assert page.locator("img").count() == 0 and page.locator("script").count() == 2


@pytest.mark.parametrize(
    "link",
    [
        "%", "#", "tab=__proto__", "tab=constructor&from=__proto__", "from=toString", "tab=slice&tab=sparse", "\x00\x1e\x1f",  # noqa: E501
        "tab=slice&shape=%FF%FE&index=%00", "tab=slice&shape=4&index=" + "1," * 20000, "a" * 100_000,
        "tab=slice&from=tf&shape=4&begin=0&end=1&begin_mask=1e999&end_mask=-1&shrink_axis_mask=99999999999",
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
        {"tab": "sparse", "shape": f"{EXTREME},1", "start": f"{EXTREME},0", "size": f"{EXTREME},1", "entries": "1 0"},
        {"tab": "sparse", "shape": "1000000000,1000000000", "start": "-9,-9", "size": "99,99", "entries": "1 1\n" * 1000},  # noqa: E501
        {"tab": "sparse", "shape": "-1,4", "start": "0,0", "size": "0,0", "entries": f"{EXTREME} -{EXTREME}"},
        {"tab": "ragged", "rows_text": "1," * 9000, "missing": "0"},
        {"tab": "ragged", "rows_text": "\n" * 900 + "1", "missing": "900"},
        {"tab": "ragged", "rows_text": "", "missing": ""},
        {"tab": "ragged", "rows_text": "", "missing": "0"},
    ],
    ids=lambda fields: ascii(" ".join(f"{v}"[:20] for v in fields.values())),
)  # fmt: skip
def test_no_request_takes_long(tab, fields):
    tab.open()
    best = min(tab.page.evaluate(MEASURED, {"tab": "slice", "from": "python", **fields})[0] for _ in range(3))
    _, message, pictures = tab.page.evaluate(MEASURED, {"tab": "slice", "from": "python", **fields})
    assert best < 400, best
    assert bool(message) != bool(pictures)
    assert len(message) < 60_000
