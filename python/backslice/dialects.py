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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import Selection, parse_index
from .deprecated import deprecated_names
from .errors import InvalidArgumentError
from .suggestions import check_keywords

__all__ = ["Spec", "arguments", "code", "index_text", "integers", "parse", "unsupported_reasons"]

DIALECTS = ("python", "tf", "onnx")
NAMES = {"python": "NumPy", "tf": "TensorFlow", "onnx": "ONNX"}


@dataclass(frozen=True)
class Spec:
    """A slice in its original notation.

    Attributes
    ----------
    dialect : {"python", "tf", "onnx"}
        The notation.
    arguments : dict
        The arguments of that notation's slice.
    text : str
        The text that it was read from, which errors show; empty if there is none.
    """

    dialect: str
    arguments: dict[str, Any]
    text: str = field(default="", compare=False, repr=False)

    def selection(self, shape: tuple[int, ...]) -> Selection:
        """Return the normal form of this slice of a tensor.

        Parameters
        ----------
        shape : tuple of int
            The shape of the tensor.

        Returns
        -------
        Selection
        """
        if self.text:
            return _core._select_text(self.dialect, self.text, shape)
        if self.dialect == "tf":
            return Selection.from_tf(shape, **self.arguments)
        if self.dialect == "onnx":
            return Selection.from_onnx(shape, **self.arguments)
        return Selection.from_index(shape, self.arguments["index"])

    def disagreements(self, shape: tuple[int, ...], others: tuple[str, ...] = DIALECTS) -> list[str]:
        """Return the axes on which the same numbers select other elements in another dialect.

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
        return _core._disagreements(self.dialect, self.arguments, shape, others)


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
        parse_index(text)  # refuses wrong text before a shape is known
        return Spec(dialect, {"index": text}, text)
    read = _core._parse_slice(dialect, text).items()
    return Spec(dialect, {name: value for name, value in read if value or not name.endswith("_mask")}, text)


def integers(text: str, name: str) -> list[int]:
    """Read a list of integers.

    Parameters
    ----------
    text : str
        Written as ``1,2``, ``[1, 2]``, ``(1, 2)`` or ``1 2``; also hexadecimal, binary, and ``INT_MAX``.
    name : str
        The name of the list in error messages.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from backslice import dialects
    >>> dialects.integers("[0b11, -1]", "begin")
    [3, -1]
    """
    return _core._parse_integers(text, name)


def index_text(selection: Selection) -> str:
    """Return the selection in Python's notation, as short as possible.

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
    return f"x[{_core._index_text(selection)}]"


def arguments(selection: Selection, dialect: str) -> dict[str, Any]:
    """Return the selection as the arguments of a dialect's slice.

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
    return {"index": _core._index_text(selection)}


def code(selection: Selection, dialect: str, gradient: bool = False) -> str:
    """Return the slice, or its gradient, as code of a dialect.

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
    return _core._code(selection, dialect, gradient)


def unsupported_reasons(selection: Selection, dialect: str) -> list[str]:
    """Return the parts of a selection that a dialect's slice alone cannot express, and what to do about each.

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
    >>> dialects.unsupported_reasons(bs.Selection.from_index((4, 6), "2"), "onnx")
    ["ONNX's Slice has no integer index: Squeeze axes [0] after it"]
    """
    return _core._obstacles(selection, dialect)


check_keywords(__name__)

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(__name__, {"cannot_be_said": (unsupported_reasons, "unsupported_reasons")})
