"""Adds a bill of materials (PEP 770) to a wheel, and writes the wheel anew so that equal contents give equal bytes."""

import base64
import csv
import hashlib
import io
import json
import re
import time
import zipfile
from pathlib import Path
from typing import NamedTuple


class Component(NamedTuple):
    """A library of others that is compiled into ours."""

    name: str
    version: str
    licence: str  # an SPDX expression


def bill_of_materials(version: str, components: list[Component]) -> bytes:
    """Return a document in CycloneDX's format, without anything that depends on when or where it was made."""
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": "backslice",
                "name": "backslice",
                "version": version,
                "purl": f"pkg:pypi/backslice@{version}",
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": component.name,
                "name": component.name,
                "version": component.version,
                "licenses": [{"expression": component.licence}],
            }
            for component in components
        ],
        "dependencies": [{"ref": "backslice", "dependsOn": [component.name for component in components]}],
    }
    return (json.dumps(document, indent=2) + "\n").encode()


def finish(wheel: Path, components: list[Component], seconds: int) -> None:
    """Add the bill of materials to the wheel, and give all its files the same time, order and rights.

    `seconds` is the time, since 1970.
    """
    with zipfile.ZipFile(wheel) as archive:
        files = {info.filename: (archive.read(info), _rights(info)) for info in archive.infolist() if not info.is_dir()}
    (record,) = (name for name in files if re.fullmatch(r"[^/]+\.dist-info/RECORD", name))
    information = record.removesuffix("/RECORD")
    version = information.removesuffix(".dist-info").split("-")[1]
    # auditwheel's own bill lists libraries that it copied, of which there are none
    files = {
        name: file for name, file in files.items() if name != record and not name.startswith(f"{information}/sboms/")
    }
    files[f"{information}/sboms/backslice.cdx.json"] = (bill_of_materials(version, components), 0o644)
    files[record] = (_record(record, {name: data for name, (data, _) in sorted(files.items())}), 0o644)
    _write(wheel, files, seconds)


def _rights(info: zipfile.ZipInfo) -> int:
    return 0o755 if (info.external_attr >> 16) & 0o100 else 0o644


def _record(name: str, contents: dict[str, bytes]) -> bytes:
    text = io.StringIO()
    rows = [[path, f"sha256={_digest(data)}", len(data)] for path, data in contents.items()]
    csv.writer(text, lineterminator="\n").writerows([*rows, [name, "", ""]])
    return text.getvalue().encode()


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write(wheel: Path, files: dict[str, tuple[bytes, int]], seconds: int) -> None:
    """The record is last, as the format wants."""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, rights) in sorted(files.items(), key=lambda file: (file[0].endswith("RECORD"), file[0])):
            info = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100000 | rights) << 16
            archive.writestr(info, data)
