"""The frameworks for which there are programs, and the modules that these need."""

FRAMEWORKS = {
    "jax": ("jax",),
    "onnxruntime": ("onnxruntime", "onnx"),
    "tensorflow": ("tensorflow",),
    "torch": ("torch",),
}
