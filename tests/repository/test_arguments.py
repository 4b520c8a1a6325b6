"""Status::argument() is a name that the caller of the function knows: of a parameter, or of a field of one.

The calls and the names are those of src/ops/arguments_test.cc and src/capi/arguments_test.cc, which check what the
library says; here the names are looked up in the headers, and functions that the lists leave out are found.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
HEADERS = sorted((ROOT / "include" / "backslice").glob("*.h"))
C_HEADERS = sorted((ROOT / "include" / "backslice" / "c").glob("*.h"))
CPP_TEST = ROOT / "src" / "ops" / "arguments_test.cc"
C_TEST = ROOT / "src" / "capi" / "arguments_test.cc"

# Functions without an argument that could be InvalidArgument or OutOfRange; or with no device to find that out.
WITHOUT = {
    "allocate", "and_then", "or_else", "transform", "stack", "stack_shape", "contents", "find", "find_grad", "remove",
    "zero", "elements", "size_in_bytes", "grad", "with_layout", "check_elements", "make_of_shape", "copy_contiguous",
    "disagreements", "forward_code", "gradient_code",
    "cuda_allocator", "cuda_keep", "cuda_await", "cuda_copy", "cuda_device_of", "cuda_wait", "cuda_synchronize",
    "to_status", "Status", "Result", "status", "at", "check", "read", "concat", "about_dtype", "with_output_written",
}  # fmt: skip
# Functions on texts, which name the arguments that they find there.
OF_TEXT = {"parse_slice", "parse_integers", "to_selection", "located"}


class Blame(NamedTuple):
    function: str
    argument: str


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def balanced(text: str, start: int, brackets: str = "()") -> int:
    """Return the end of the part in brackets that opens at start."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == brackets[0]) - (text[at] == brackets[1])
        if depth == 0:
            return at + 1
    raise AssertionError(text[start : start + 80])


def parts(text: str) -> list[str]:
    """Return the parts between the commas that are in no brackets."""
    found, depth, begin = [], 0, 0
    for at, c in enumerate(text + ","):
        depth += (c in "(<{[") - (c in ")>}]")
        if c == "," and depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
    return [part for part in found if part]


def fields() -> dict[str, set[str]]:
    """Return the names of the members of each struct."""
    found: dict[str, set[str]] = {}
    for header in HEADERS:
        text = without_comments(header.read_text())
        for struct in re.finditer(r"\bstruct (\w+) (?=\{)", text):
            body = text[struct.end() + 1 : balanced(text, struct.end(), "{}") - 1]
            members = (re.sub(r" = [^;]*?(?=,|;)", "", line) for line in re.findall(r"[^;]*;", body) if "(" not in line)
            names = {name for line in members for name in re.findall(r"(\w+)(?=\s*[,;])", line)}
            found.setdefault(struct[1], set()).update(names)
    return found


def parameter_names(parameters: str, structs: dict[str, set[str]]) -> set[str]:
    names = set()
    for parameter in parts(parameters):
        declared = re.sub(r"\s*=.*", "", parameter, flags=re.DOTALL).replace("BACKSLICE_LIFETIME_BOUND", "").strip()
        named = re.search(r"[\s&*](\w+)(?:\[\w*\])?$", declared)
        if named and not declared.endswith(("Context&", "Options&", "Types&")):
            names.add(named[1])
        kind = re.sub(r"\b(const|std::optional<|backslice_)|[&>*]", " ", declared).split()[0]
        names |= structs.get(kind, set())
        names |= {"context"} if kind == "Context" else {"types"} if kind == "FromVariantTypes" else set()
    return names


def declared_functions(headers: list[Path], before: str) -> dict[str, set[str]]:
    """Return the names that arguments of each function have, in any of its overloads."""
    structs, found = fields(), {}
    for header in headers:
        text = without_comments(header.read_text())
        text = re.sub(r"namespace detail \{.*?\n\}\s*\n", "", text, flags=re.DOTALL)
        text = re.sub(r"\n private:\n.*?\n\};", "\n};", text, flags=re.DOTALL)
        for function in re.finditer(rf"{before} (\w+)\((?!\))", text):
            end = balanced(text, function.end() - 1)
            names = parameter_names(text[function.end() : end - 1], structs)
            found.setdefault(function[1], set()).update(names)
    return found


def blames(test: Path) -> list[Blame]:
    """Return the entries {function(...), "argument", position} of the lists in a test."""
    text = without_comments(test.read_text()).replace("<<", "").replace("->", ".")
    found = []
    for listed in re.finditer(r"expect_blamed\(\{", text):
        body = text[listed.end() : balanced(text, listed.end() - 1, "{}") - 1]
        for entry in parts(body):
            call, argument, *_ = parts(entry[1:-1])
            function = re.findall(r"(\w+)\(", re.sub(r"\.status\(\)$", "", call))
            name = function[0] if "." not in call.split("(")[0] or len(function) == 1 else outermost(call)
            found.append(Blame(name, argument.strip('"')))
    return found


def outermost(call: str) -> str:
    """Return the last function of a chain such as array.grad("a").value().grad("b").status()."""
    names, at = [], 0
    while match := re.compile(r"[\w:]*?(\w+)\(").search(call, at):
        names.append(match[1])
        at = balanced(call, match.end() - 1)
    return [name for name in names if name not in {"status", "value"}][-1]


def is_known(argument: str, names: set[str]) -> bool:
    return argument == "" or argument.split(".")[0] in names or "argument" in names


def test_the_lists_and_the_headers_are_read():
    assert Blame("strided_slice_grad", "strides") in blames(CPP_TEST)
    assert Blame("gather", "indices") in blames(CPP_TEST)
    assert Blame("backslice_multi_slice_grad_into", "dys") in blames(C_TEST)
    functions = declared_functions(HEADERS, r"(?:Result<[^;()]*>|Status)")
    assert {"selection", "x", "context"} <= functions["slice"]
    assert {"begin", "ellipsis_mask", "spec"} <= functions["strided_slice"]
    assert {"types", "encoded"} <= functions["ragged_tensor_from_variant"]
    assert "x" not in functions["strided_slice"]


def test_every_name_is_one_of_the_function():
    functions = declared_functions(HEADERS, r"(?:Result<[^;()]*>|Status)")
    unknown = [blame for blame in blames(CPP_TEST) if not is_known(blame.argument, functions[blame.function])]
    assert not unknown


def test_every_name_is_one_of_the_function_in_c():
    functions = declared_functions(C_HEADERS, "int32_t")
    structs = {"begin", "end", "strides", "starts", "ends", "axes", "steps", "ellipsis_mask", "item_size", "contiguous"}
    unknown = [b for b in blames(C_TEST) if not is_known(b.argument, functions[b.function] | structs)]
    assert not unknown


def test_every_function_is_in_the_list():
    functions = declared_functions(HEADERS, r"(?:Result<[^;()]*>|Status)")
    listed = {blame.function for blame in blames(CPP_TEST)}
    assert sorted(functions.keys() - listed - WITHOUT - OF_TEXT) == []


def c_parameters() -> dict[str, list[str]]:
    """Return the names of the parameters of each function of C, in order."""
    found = {}
    for header in C_HEADERS:
        text = without_comments(header.read_text())
        for function in re.finditer(r"BACKSLICE_C_API int32_t (\w+)\(", text):
            declared = text[function.end() : balanced(text, function.end() - 1) - 1]
            declared = declared.replace("(*release)(void* user)", " release")
            found[function[1]] = [re.sub(r"\[\w*\]$", "", part).split()[-1].lstrip("*") for part in parts(declared)]
    return found


# What has a default in C++, after the memory that is filled; and results that follow the context.
DEFAULTS = ["order", "write", "types", "element_shape", "element_shape_except0"]
RESULTS = {"out", "size", "count"}


def test_parameters_of_c_are_in_the_order_that_its_header_states():
    functions = c_parameters()
    assert functions["backslice_slice_into"] == ["selection", "x", "out", "context"]
    assert functions["backslice_ragged_make"][3:5] == ["release", "user"]
    for function, names in functions.items():
        if "context" in names:
            after = names[names.index("context") + 1 :]
            assert set(after) <= RESULTS and len(after) <= 1, (function, names)
            names = names[: names.index("context")]
        filled = [name for name in names if name.startswith("out") or name in {"lengths_size", "rank"}]
        defaults = [name for name in DEFAULTS if name in names]
        if not function.endswith("_shape"):
            assert names[len(names) - len(defaults) :] == defaults, (function, names)
            assert not filled or not defaults or names.index(filled[-1]) < names.index(defaults[0]), (function, names)
        else:
            assert not filled or names[-1] == "rank", (function, names)
        assert ("release" in names) == ("user" in names), (function, names)
        assert "dtype" not in names or names.index("dtype") == 1, (function, names)
