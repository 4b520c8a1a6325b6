"""Runs in TensorFlow's environment: what tensorflow_peer.py does, with the kernels that are compiled against it."""

import os
import sys

import tensorflow  # noqa: F401  before the packages beside backslice, which TensorFlow 2.16 would try to use

sys.path.append(os.environ["BACKSLICE_PACKAGES"])  # after TensorFlow's own packages

import backslice.tensorflow as bst
import tensorflow_peer
from wire import serve

bst.build(progress=False)
bst.install()
assert bst.status().self_tests["compiled kernels"] == "passed", bst.status()

serve(tensorflow_peer.run)
