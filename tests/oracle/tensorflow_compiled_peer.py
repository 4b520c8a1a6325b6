"""Runs in TensorFlow's environment: the same as tensorflow_peer.py, with the compiled kernels."""

import os
import sys

import tensorflow  # noqa: F401 must be first: TensorFlow 2.16 would use the packages beside backslice

sys.path.append(os.environ["BACKSLICE_PACKAGES"])  # after TensorFlow's own packages

import backslice.tensorflow as bst
import tensorflow_peer
from wire import serve

bst.build(progress=False)
bst.install()
assert bst.status().self_tests["compiled kernels"] == "passed", bst.status()

serve(tensorflow_peer.run)
