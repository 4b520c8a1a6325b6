"""The exceptions backslice raises. Each is also the built-in exception a Python programmer would expect."""


class Error(Exception):
    """Any error backslice raises.

    Attributes
    ----------
    argument : str or None
        The argument to blame, where it is one.
    position : int or None
        The entry of that argument: of a list its place in it, of an index the item, of a shape the axis.
    span : tuple of int or None
        For an argument that was read from text: the first wrong character, and the one after the last.
        The message then shows the text, with carets under that part.
    output_written : bool
        Whether the call had begun to write `out`, or a GradBuffer, when it failed. Where it had not, that is as it was.
        KeyboardInterrupt has the attribute, too, where it is true.
    """

    argument: str | None = None
    position: int | None = None
    span: tuple[int, int] | None = None
    output_written: bool = False


class InvalidArgumentError(Error, ValueError):
    """An argument has a value that cannot be used."""


class OutOfRangeError(Error, IndexError):
    """An index lies outside its axis."""


class DTypeError(Error, TypeError):
    """An element type, or the type of an argument, does not fit."""


class UnimplementedError(Error, NotImplementedError):
    """Something meaningful that backslice does not do."""


class ResourceExhaustedError(Error, MemoryError):
    """There is not enough memory."""


class FailedPreconditionError(Error, RuntimeError):
    """The object is not in a state that allows the call."""


class InternalError(Error, RuntimeError):
    """An invariant was found broken."""
