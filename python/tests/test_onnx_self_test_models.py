"""The models that backslice.onnxruntime writes and reads without the package onnx, compared with that package."""

import numpy as np
import onnx
import pytest
from backslice.onnxruntime import checks
from backslice.onnxruntime.model_format import imported_domains


@pytest.mark.parametrize("domain", ["backslice", "com.microsoft"])
def test_the_models_of_the_self_test_are_valid(domain):
    model = onnx.load_from_string(checks.gradient(domain))
    onnx.checker.check_model(model)
    assert [(i.domain, i.version) for i in model.opset_import] == [("", 13), (domain, 1)]
    assert [onnx.numpy_helper.to_array(t).tolist() for t in model.graph.initializer] == [[4, 2], [1], [2]]
    onnx.checker.check_model(onnx.load_from_string(checks.PLAIN), full_check=True)


@pytest.mark.parametrize("domains", [[], ["com.microsoft"], ["", "a", "com.microsoft", "a" * 300]])
def test_imported_domains_are_those_of_the_package_onnx(domains):
    tensor = onnx.helper.make_tensor("t", onnx.TensorProto.FLOAT, [1000], np.ones(1000))
    graph = onnx.helper.make_graph([], "graph", [], [], [tensor])
    opsets = [onnx.helper.make_opsetid(domain, i + 1) for i, domain in enumerate(domains)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, producer_name="a test")
    assert imported_domains(model.SerializeToString()) == {i.domain for i in model.opset_import}
