"""The page's response time. On a quiet machine: make explorer-speed."""

import os

import pytest

pytestmark = pytest.mark.skipif(
    "BACKSLICE_SPEED_TESTS" not in os.environ, reason="on a quiet machine: make explorer-speed"
)

ASKED = """fields => {
  const begun = performance.now();
  backsliceExplorer.ask(fields);
  return performance.now() - begun;
}"""


def test_the_first_picture_is_fast(tab):
    taken = []
    for _ in range(10):
        page = tab.open()
        taken.append(page.evaluate("performance.getEntriesByName('first picture')[0].duration"))
    print(f"first picture after {min(taken):.0f} to {max(taken):.0f} ms")
    assert sorted(taken)[5] < 300, taken


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": "4, 6", "index": "1:3, ::2"},
        {"shape": "16, 24", "index": "..."},
        {"shape": "6, 8, 24", "index": "...", "more": "\n".join(["::2"] * 16)},
        {"shape": "1000000000,1000000000", "index": "::3, ::7"},
        {"tab": "sparse", "shape": "99,99,99", "start": "0,0,0", "size": "99,99,99", "entries": "1 1 1\n" * 1000},
        {"tab": "ragged", "rows_text": "1," * 9000, "missing": "0"},
    ],
    ids=lambda fields: " ".join(f"{v}"[:20].strip() for v in fields.values()),
)
def test_a_keystroke_is_fast(tab, fields):
    page = tab.open()
    taken = min(page.evaluate(ASKED, {"tab": "slice", "from": "python", **fields}) for _ in range(5))
    print(f"{taken:.0f} ms")
    assert taken < 200
