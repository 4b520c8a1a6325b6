"""Messages between the tests and the peers: pickled built-ins with a length before them, over a pipe.

Arrays are sent as (dtype name, shape, bytes), since the two sides may have different versions of NumPy.
"""

import pickle
import struct
from typing import Any, BinaryIO

import numpy as np

QUANTISED = {"qint8": "i1", "quint8": "u1", "qint16": "i2", "quint16": "u2", "qint32": "i4"}


def named_dtype(name: str) -> "np.dtype[Any]":
    if name in QUANTISED:
        return np.dtype([(name, QUANTISED[name])])
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def pack(array: "np.ndarray[Any, Any]") -> tuple[str, tuple[int, ...], Any]:
    if array.dtype == object:
        return "object", array.shape, list(array.flat)
    name = array.dtype.names[0] if array.dtype.names else array.dtype.name
    return name, array.shape, array.tobytes()


def unpack(packed: tuple[str, tuple[int, ...], Any]) -> "np.ndarray[Any, Any]":
    name, shape, data = packed
    if name == "object":
        array = np.empty(len(data), object)
        array[:] = data
        return array.reshape(shape)
    return np.frombuffer(bytearray(data), named_dtype(name)).reshape(shape)


def send(stream: BinaryIO, message: Any) -> None:
    data = pickle.dumps(message, protocol=4)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    header = stream.read(8)
    if len(header) < 8:
        raise EOFError
    (size,) = struct.unpack("<Q", header)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)


def serve(run: Any) -> None:
    """Run the peer's side: answer every request with the result or the exception of `run`, until the pipe closes."""
    import os
    import sys

    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps the framework's output out of the replies
    send(replies, "ready")
    while True:
        try:
            request = receive(requests)
        except EOFError:
            return
        try:
            arrays = {name: unpack(packed) for name, packed in request["arrays"].items()}
            result = run(request["op"], arrays, request["options"])
            outputs = result if isinstance(result, tuple) else (result,)
            reply = ("ok", [pack(np.asarray(output)) for output in outputs])
        except Exception as error:
            reply = ("error", f"{type(error).__name__}: {error}")
        send(replies, reply)
