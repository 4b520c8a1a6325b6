"""Runs in TensorFlow's environment: what tensorflow_peer.py does, with the kernels that are compiled against it."""

import os
import sys

import tensorflow  # noqa: F401  before the packages beside backslice, which TensorFlow 2.16 would try to use

sys.path.append(os.environ["BACKSLICE_PACKAGES"])  # after TensorFlow's own packages

import compiled_program
import tensorflow_peer
from backslice.tensorflow import compiling
from wire import serve

compiling.load(compiling.build(progress=False))


def run(op, arrays, options):  # type: ignore[no-untyped-def]
    if op == "compiled":
        return compiled_program.RUN[options["what"]](compiling.enable)
    return tensorflow_peer.run(op, arrays, options)


serve(run)
