"""The C++ guide's reference names everything that the public headers declare."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "cpp.md").read_text()
HEADERS = sorted((ROOT / "include" / "backslice").glob("*.h"))
# Parts of the operations that callers do not use.
INTERNAL = {"export.h", "inline_vector.h", "version.h", "backslice.h"}


def public_part(header: Path) -> str:
    """Return the declarations, without comments, private members and namespace detail."""
    text = re.sub(r"namespace detail \{.*?\n\}  // namespace detail\n", "", header.read_text(), flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"\n private:\n.*?\n\};", "\n};", text, flags=re.DOTALL)


def functions(header: Path) -> set[str]:
    """Return the name between a type and a parenthesis at the start of a declaration."""
    text = public_part(header)
    with_arguments = re.findall(r"^(?:  )?(?! )[ \w:<>,&*]*?[\w>&*] [&*]?(\w+)\((?!\))", text, re.MULTILINE)
    queries = re.findall(r" (\w+)\(\)(?: const| noexcept)", text)
    return set(with_arguments + queries) - {"requires", "return", "bool", "Dims"}


def test_functions_are_found():
    found = functions(ROOT / "include" / "backslice" / "tensor_array.h")
    assert {"write", "gather_into", "find_grad", "is_closed", "tensor_array_grad_with_shape"} <= found
    assert "slice_grad_into" in functions(ROOT / "include" / "backslice" / "slice.h")


def test_every_public_function_is_in_the_reference():
    reference = GUIDE[GUIDE.index("## Reference") :]
    for header in HEADERS:
        if header.name not in INTERNAL:
            missing = {name for name in functions(header) if not re.search(rf"\b{name}\b", reference)}
            assert not missing, f"{header.name}: {sorted(missing)}"


def test_every_header_is_in_the_reference():
    for header in HEADERS:
        if header.name not in INTERNAL | {"slice_gradient.h", "strategy.h"}:
            assert f"`{header.name}`" in GUIDE, header.name


def test_every_public_type_is_in_the_guide():
    for header in HEADERS:
        if header.name not in INTERNAL:
            declared = r"^(?:class|struct) (?:\[\[\w+\]\] )?(?:BACKSLICE_EXPORT )?(\w+)[^;]*\{"
            for name in re.findall(declared, public_part(header), re.MULTILINE):
                assert re.search(rf"\b{name}\b", GUIDE), f"{header.name}: {name}"


# Classes of C++ that are structs, lists or handles in C, without member functions.
WITHOUT_MEMBERS_IN_C = {
    "allocator.h", "buffer.h", "coo_indices.h", "device.h", "executor.h", "index.h", "layout.h", "partial_shape.h",
    "result.h", "shape.h", "status.h", "tensor.h", "view.h",
}  # fmt: skip


def test_every_function_is_in_c_or_said_to_be_missing_there():
    page = (ROOT / "docs" / "c_abi.md").read_text()
    tables = page[page.index("## Which function is which") :]
    for header in HEADERS:
        if header.name not in INTERNAL | WITHOUT_MEMBERS_IN_C:
            unsaid = {name for name in functions(header) if not re.search(rf"\b{name}\b", tables)}
            assert not unsaid, f"{header.name}: {sorted(unsaid)}"
