"""The slices of ONNX models, and the nodes of their gradients.

>>> import onnx
>>> from backslice.onnx import gradient_nodes
>>> gradients = gradient_nodes(onnx.load("forward.onnx"))

Importing this package imports ``onnx``.
"""

from .gradient_graph import GradientNodes
from .gradients import gradient_nodes
from .slices import SliceNode, slice_nodes

__all__ = ["GradientNodes", "SliceNode", "gradient_nodes", "slice_nodes"]
