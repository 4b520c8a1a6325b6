"""The exceptions backslice raises. Each is also the built-in exception a Python programmer would expect."""


class Error(Exception):
    """Any error backslice raises."""


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
