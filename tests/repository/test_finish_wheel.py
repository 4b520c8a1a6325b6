"""The last step of building a wheel: equal contents give equal bytes, and the bill of materials is in the record."""

import base64
import csv
import hashlib
import importlib.util
import io
import json
import zipfile
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "finish_wheel.py"
CONTENTS = {
    "backslice/__init__.py": b"x = 1\n",
    "backslice/a,b.txt": b"a comma in the name",
    "backslice/lib.so": bytes(range(256)),
    "backslice-1.2.3.dist-info/METADATA": b"Name: backslice\n",
    "backslice-1.2.3.dist-info/RECORD": b"of the builder\n",
    "backslice-1.2.3.dist-info/sboms/auditwheel.cdx.json": b"{}",
}


def tool():
    spec = importlib.util.spec_from_file_location("finish_wheel", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(path, names, year, level):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name in names:
            info = zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0))
            info.external_attr = (0o100775 if name.endswith(".so") else 0o100664) << 16
            archive.writestr(info, CONTENTS[name])
    finish_wheel = tool()
    finish_wheel.finish(path, [finish_wheel.Component("highway", "1.0.3", "Apache-2.0")], 1_700_000_000)
    return path


def test_equal_contents_give_equal_bytes(tmp_path):
    one = make(tmp_path / "one.whl", sorted(CONTENTS), 2020, 1)
    two = make(tmp_path / "two.whl", sorted(CONTENTS, reverse=True), 2024, 9)
    assert one.read_bytes() == two.read_bytes()


def test_every_file_is_in_the_record_with_its_digest(tmp_path):
    with zipfile.ZipFile(make(tmp_path / "w.whl", CONTENTS, 2020, 6)) as archive:
        names = archive.namelist()
        rows = list(csv.reader(io.StringIO(archive.read("backslice-1.2.3.dist-info/RECORD").decode())))
        contents = {name: archive.read(name) for name in names}
        rights = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
    assert names[-1] == "backslice-1.2.3.dist-info/RECORD"
    assert [row[0] for row in rows] == names
    assert rows[-1][1:] == ["", ""]
    for name, digest, size in rows[:-1]:
        assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(contents[name]).digest()).decode().rstrip(
            "="
        )
        assert int(size) == len(contents[name])
    assert rights["backslice/lib.so"] == 0o100755 and rights["backslice/__init__.py"] == 0o100644


def test_the_only_bill_of_materials_lists_what_is_inside(tmp_path):
    with zipfile.ZipFile(make(tmp_path / "w.whl", CONTENTS, 2020, 6)) as archive:
        (name,) = (name for name in archive.namelist() if "/sboms/" in name)
        bill = json.loads(archive.read(name))
    assert bill["metadata"]["component"]["version"] == "1.2.3"
    assert [component["name"] for component in bill["components"]] == ["highway"]
    assert bill["dependencies"] == [{"ref": "backslice", "dependsOn": ["highway"]}]
