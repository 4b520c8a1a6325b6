"""The three notations of a slice as text: Python's index, TensorFlow's StridedSlice, ONNX's Slice.

`parse` reads a slice from text, `Spec.selection` lowers it to the normal form, and `code` writes a selection in each
notation, ready to paste.

>>> from backslice import dialects
>>> spec = dialects.parse("tf", "begin=1,0 end=3,5 strides=1,2")
>>> selection = spec.selection((4, 5))
>>> print(dialects.code(selection, "python"))
y = x[1:3, ::2]
>>> dialects.parse("onnx", "starts=4 ends=-100 steps=-1").disagreements((5,))
[]
"""

import re
from dataclasses import dataclass
from typing import Any

from . import entries
from ._core import Selection, parse_index
from .entries import INT64_MAX, INT64_MIN, MASKS
from .errors import Error, InvalidArgumentError
from .suggestions import did_you_mean

DIALECTS = ("python", "tf", "onnx")
NAMES = {"python": "NumPy", "tf": "TensorFlow", "onnx": "ONNX"}
LISTS = {"tf": ("begin", "end", "strides"), "onnx": ("starts", "ends", "axes", "steps")}
NEEDED = {"tf": ("begin", "end"), "onnx": ("starts", "ends")}
INT32_MAX = 2**31 - 1
INTEGERS = {
    "INT_MAX": INT64_MAX,
    "INT64_MAX": INT64_MAX,
    "INT32_MAX": INT32_MAX,
    "INT_MIN": INT64_MIN,
    "INT64_MIN": INT64_MIN,
}


@dataclass(frozen=True)
class Spec:
    """A slice in the notation it was written in.

    Attributes
    ----------
    dialect : {"python", "tf", "onnx"}
        The notation.
    arguments : dict
        The arguments of that notation's slice.
    """

    dialect: str
    arguments: dict[str, Any]

    def selection(self, shape: tuple[int, ...]) -> Selection:
        """The normal form of this slice of a tensor.

        Parameters
        ----------
        shape : tuple of int
            The shape of the tensor.

        Returns
        -------
        Selection
        """
        if self.dialect == "tf":
            return Selection.from_tf(shape, **self.arguments)
        if self.dialect == "onnx":
            return Selection.from_onnx(shape, **self.arguments)
        return Selection.from_index(shape, self.arguments["index"])

    def disagreements(self, shape: tuple[int, ...], others: tuple[str, ...] = DIALECTS) -> list[str]:
        """Where the same numbers would select something else in another dialect.

        Parameters
        ----------
        shape : tuple of int
            The shape of the tensor.
        others : tuple of str, optional
            The dialects to compare with.

        Returns
        -------
        list of str
            One sentence per axis and dialect.
        """
        found = []
        for entry in self._entries(shape):
            own = entries.read(self.dialect, entry)
            for other in others:
                theirs = entries.read(other, entry)
                if entries.group(other) != entries.group(self.dialect) and theirs != own:
                    found.append(
                        f"axis {entry.axis}: {entry.text} takes {entries.indices_text(own)} in {NAMES[self.dialect]}, "
                        f"but the same numbers would take {entries.indices_text(theirs)} in {NAMES[other]}"
                    )
        return found

    def _entries(self, shape: tuple[int, ...]) -> list[entries.Entry]:
        if self.dialect == "onnx":
            return entries.onnx_entries(self.arguments, shape)
        if self.dialect == "tf":
            return entries.tf_entries(self.arguments, shape)
        return entries.index_entries(self.arguments["index"], shape)


def parse(dialect: str, text: str) -> Spec:
    """Read a slice from text.

    Parameters
    ----------
    dialect : {"python", "tf", "onnx"}
        The notation of the text.
    text : str
        ``1:3, ::2`` or ``x[1:3, ::2]`` for python, ``begin=1,0 end=3,5 begin_mask=1`` for tf, ``starts=1 ends=3``
        for onnx.

    Returns
    -------
    Spec

    Raises
    ------
    InvalidArgumentError
        If the text is not a slice in that notation.

    Examples
    --------
    >>> from backslice import dialects
    >>> dialects.parse("onnx", "starts=1 ends=INT_MAX").selection((5,)).axes
    ((1, 1, 4),)
    """
    if dialect not in DIALECTS:
        raise InvalidArgumentError(f"{dialect!r} is not a dialect; choose one of {', '.join(DIALECTS)}")
    if dialect == "python":
        parse_index(text)  # what it refuses is refused before a shape is known
        return Spec(dialect, {"index": text})
    found: dict[str, Any] = {}
    for pattern, plain in ((r"[\[(]\s*|\s*[\])]", ""), (r"\s*,\s*", ","), (r"\s+=", "="), (r"=\s+(?![a-z_]+=)", "=")):
        text = re.sub(pattern, plain, text)
    known = (*LISTS[dialect], *(MASKS if dialect == "tf" else ()))
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or name not in known:
            expected = ", ".join(f"{k}=.." for k in known)
            raise InvalidArgumentError(f"{word!r} is not one of {expected}{did_you_mean(name, known)}")
        if name in found:
            raise InvalidArgumentError(f"{name} is given twice")
        found[name] = _integer(value, name) if name in MASKS else integers(value, name)
    missing = [name for name in NEEDED[dialect] if name not in found]
    if missing:
        raise InvalidArgumentError(f"{missing[0]} is missing: {NAMES[dialect]}'s slice needs {missing[0]}=..")
    if dialect == "tf":
        found.setdefault("strides", [1] * len(found["begin"]))
    return Spec(dialect, found)


def integers(text: str, name: str) -> list[int]:
    """Read a list of integers.

    Parameters
    ----------
    text : str
        Written as ``1,2``, ``[1, 2]``, ``(1, 2)`` or ``1 2``; also hexadecimal, binary, and ``INT_MAX``.
    name : str
        What an error message calls the list.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from backslice import dialects
    >>> dialects.integers("[0b11, -1]", "begin")
    [3, -1]
    """
    inner = text.strip().removeprefix("[").removesuffix("]").removeprefix("(").removesuffix(")").strip()
    return [_integer(part, name) for part in re.split(r"\s*,\s*|\s+", inner.removesuffix(",")) if inner]


def _integer(text: str, name: str) -> int:
    if text.upper() in INTEGERS:
        return INTEGERS[text.upper()]
    try:
        return int(text, 0)
    except ValueError:
        raise InvalidArgumentError(f"{name}: {text!r} is not an integer") from None


def index_text(selection: Selection) -> str:
    """The selection in Python's notation, as short as possible.

    Parameters
    ----------
    selection : Selection
        The slice.

    Returns
    -------
    str

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import dialects
    >>> s = bs.Selection.from_tf((4, 6), [1, 0], [3, 6], [1, 2])
    >>> dialects.index_text(s)
    'x[1:3, ::2]'
    """
    return f"x[{arguments(selection, 'python')['index']}]"


def arguments(selection: Selection, dialect: str) -> dict[str, Any]:
    """The selection as the arguments of a dialect's slice.

    Parameters
    ----------
    selection : Selection
        The slice.
    dialect : {"python", "tf", "onnx"}
        The notation. Python's has one argument, ``index``.

    Returns
    -------
    dict

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import dialects
    >>> dialects.arguments(bs.Selection.from_index((4, 6), "1:3"), "python")
    {'index': '1:3'}
    """
    if dialect == "tf":
        return dict(selection.to_tf())
    if dialect == "onnx":
        return dict(selection.to_onnx())
    items = []
    extents = iter(selection.shape)
    for item in selection.to_index():
        extent = 1 if item is None else next(extents)
        items.append(_shortest(item, extent) if isinstance(item, slice) else str(item))
    while items and items[-1] == ":" and len(items) > 1:
        items.pop()
    return {"index": ", ".join(items) or "..."}


def _shortest(item: slice, extent: int) -> str:
    """One slice without the bounds that are the defaults."""
    start, stop, step = item.start, item.stop, item.step or 1
    wanted = range(extent)[item]
    if wanted == range(extent)[:stop:step]:
        start = None
    if wanted == range(extent)[start::step]:
        stop = None
    bounds = f"{'' if start is None else start}:{'' if stop is None else stop}"
    return bounds if step == 1 else f"{bounds}:{step}"


def code(selection: Selection, dialect: str, gradient: bool = False) -> str:
    """The slice, or its gradient, as code of a dialect.

    Parameters
    ----------
    selection : Selection
        The slice.
    dialect : {"python", "tf", "onnx"}
        The notation.
    gradient : bool, optional
        Whether to write the gradient instead of the slice.

    Returns
    -------
    str

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import dialects
    >>> s = bs.Selection.from_index((4, 6), "1:3, ::2")
    >>> print(dialects.code(s, "python", gradient=True))
    dx = bs.slice_grad(dy, (4, 6), np.s_[1:3, ::2])
    """
    return {"python": _python_code, "tf": _tf_code, "onnx": _onnx_code}[dialect](selection, gradient)


def _python_code(selection: Selection, gradient: bool) -> str:
    index = arguments(selection, "python")["index"]
    return f"dx = bs.slice_grad(dy, {selection.shape}, np.s_[{index}])" if gradient else f"y = x[{index}]"


def _tf_code(selection: Selection, gradient: bool) -> str:
    said = arguments(selection, "tf")
    if not said["begin"]:  # TensorFlow takes an empty list for floats
        said |= {"begin": [0], "end": [0], "strides": [1], "ellipsis_mask": 1}
    lists = {"shape": list(selection.shape)} if gradient else {}
    lists |= {name: said[name] for name in LISTS["tf"]}
    is_wide = any(abs(value) > INT32_MAX for values in lists.values() for value in values)
    given = [f"{name}={_tf_list(values, is_wide)}" for name, values in lists.items()]
    given += [f"{name}={said[name]}" for name in MASKS if said[name]]
    if gradient:
        return f"dx = tf.raw_ops.StridedSliceGrad({', '.join(given)}, dy=dy)"
    return f"y = tf.raw_ops.StridedSlice(input=x, {', '.join(given)})"


def _tf_list(values: list[int], is_wide: bool) -> str:
    """A list, which TensorFlow reads as int32, or where that will not do, a constant."""
    if values and not is_wide:
        return str(values)
    return f"tf.constant({values}, tf.int{64 if is_wide else 32})"


def _onnx_code(selection: Selection, gradient: bool) -> str:
    """Nodes and the initializers that they read, as a list of each."""
    said = arguments(selection, "onnx")
    after = [op for op in ("squeeze", "unsqueeze") if said[op]]
    named = {name: said[name] for name in LISTS["onnx"]}
    if gradient:
        named = {"shape": list(selection.shape), **named}
        nodes = ['make_node("SliceGrad", ["dY", "shape", "starts", "ends", "axes", "steps"], ["dX"], '
                 'domain="com.microsoft")']  # fmt: skip
    else:
        named |= {op: said[op] for op in after}
        results = [*(f"y{i}" for i in range(len(after))), "y"]
        nodes = [f'make_node("Slice", ["x", "starts", "ends", "axes", "steps"], ["{results[0]}"])']
        for i, op in enumerate(after):
            nodes.append(f'make_node("{op.capitalize()}", ["{results[i]}", "{op}"], ["{results[i + 1]}"])')
    tensors = [f'make_tensor("{name}", TensorProto.INT64, [{len(v)}], {list(v)})' for name, v in named.items()]
    prefix = "grad_" if gradient else ""
    lines = ["from onnx import TensorProto", "from onnx.helper import make_node, make_tensor"]
    for kind, listed in (("nodes", nodes), ("initializers", tensors)):
        lines += [f"{prefix}{kind} = [", *(f"    {entry}," for entry in listed), "]"]
    return "\n".join(lines)


def cannot_be_said(selection: Selection, dialect: str) -> list[str]:
    """What a dialect's slice alone cannot express of a selection, and what to do about it.

    Parameters
    ----------
    selection : Selection
        The slice.
    dialect : {"python", "tf", "onnx"}
        The notation.

    Returns
    -------
    list of str
        One sentence per obstacle; empty if there is none.

    Examples
    --------
    >>> import backslice as bs
    >>> from backslice import dialects
    >>> dialects.cannot_be_said(bs.Selection.from_index((4, 6), "2"), "onnx")
    ["ONNX's Slice has no integer index: Squeeze axes [0] after it"]
    """
    found = []
    if dialect == "onnx":
        said = selection.to_onnx()
        if said["squeeze"]:
            found.append(f"ONNX's Slice has no integer index: Squeeze axes {said['squeeze']} after it")
        if said["unsqueeze"]:
            found.append(f"ONNX's Slice has no new axes: Unsqueeze axes {said['unsqueeze']} after it")
        if not selection.shape:
            found.append("ONNX's Slice refuses a scalar input; ONNX Runtime's SliceGrad takes it")
    if dialect == "tf":
        try:
            selection.to_tf()
        except Error as error:
            found.append(f"this slice cannot be written for TensorFlow: {error}")
    return found
