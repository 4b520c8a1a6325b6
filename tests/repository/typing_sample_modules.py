"""A user's program that uses every module beside `backslice` itself, for type checkers. Parts of it run."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import backslice as bs
import numpy as np
from backslice import dialects, picture, ragged
from numpy.typing import NDArray


def notations() -> str:
    spec: dialects.Spec = dialects.parse("tf", "begin=1,0 end=3,5 strides=1,2")
    selection = spec.selection(tuple(dialects.integers("4,5", "shape")))
    differences: list[str] = spec.disagreements((4, 5)) + dialects.unsupported_reasons(selection, "onnx")
    starts: list[int] = dialects.arguments(selection, "onnx")["starts"]
    print(spec.dialect, spec.arguments, differences, starts, dialects.code(selection, "python", gradient=True))
    return dialects.index_text(selection)


def pictures(folder: Path) -> picture.Picture:
    drawing = picture.of(bs.Selection.from_index((4, 6), "1:3"), picture.Limits(rows=8, columns=8))
    picture.png(drawing, folder / "slice.png")
    picture.png(drawing, str(folder / "again.png"))
    print(len(picture.svg(drawing)), len(picture.html(drawing)))
    cell = picture.Cell(picture.Kind.TAKEN, text="1")
    return picture.Picture("one cell", [picture.Panel("x", rows=[[cell]])])


def linking() -> tuple[str, str, str]:
    before: dict[str, int] = bs.keep_memory()
    print(before, bs.keep_memory(False), bs.__version__)
    print((bs.cuda.devices(), bs.cuda.versions()) if bs.cuda.is_available() else bs.cuda.unavailable_reason())
    return bs.get_include(), bs.get_library(), bs.get_cmake_dir()


def errors() -> list[str]:
    kinds: list[type[bs.Error]] = [
        bs.DTypeError,
        bs.FailedPreconditionError,
        bs.InternalError,
        bs.InvalidArgumentError,
        bs.OutOfRangeError,
        bs.ResourceExhaustedError,
        bs.UnimplementedError,
    ]
    return [kind.__name__ for kind in kinds]


def prepared(selection: bs.Selection) -> bs.PreparedSlice:
    return selection.prepare("float32")


def rows() -> bs.RaggedTensor:
    assert ragged.from_row_lengths([1.0, 2.0, 3.0], [2, 1]) == ragged.from_list([[1.0, 2.0], [3.0]])
    return ragged.from_list([[1, 2], []], dtype="int32", ragged_rank=1)


def scipy_arrays(a: Any) -> Any:
    from backslice import scipy

    taken = scipy.sparse_slice(a, [0, 0], [1, 2])
    scipy.sparse_slice_grad_by_size(taken.data, a, [0, 0], [1, 2])
    rt: bs.RaggedTensor = scipy.ragged_from_csr(a.tocsr())
    return scipy.sparse_slice_grad(taken, a, [0, 0]), scipy.csr_from_ragged(rt, a.tocsr().indices, a.shape)


# The rest needs packages that may be missing here. It is type-checked without being run.


def neighbours(rt: bs.RaggedTensor) -> tuple[bs.RaggedTensor, bs.RaggedTensor]:
    from backslice import arrow, awkward

    return arrow.from_arrow(arrow.to_arrow(rt)), awkward.from_awkward(awkward.to_awkward(rt))


def dask_arrays(dy: Any, indices: Any) -> list[Any]:
    from backslice import dask

    dx = dask.slice_grad(dy, (4, 5), np.s_[1:3], chunks=(2, 5))
    return [
        dask.multi_slice_grad((4, 5), [("1:3", dy)], dtype="float32", onto=dx),
        dask.strided_slice_grad([4, 5], [1], [3], dy=dy),
        dask.onnx_slice_grad(dy, [4, 5], [1], [3], axes=[0]),
        dask.sparse_slice_grad(dy, indices, [0], indices),
        dask.sparse_slice_grad_by_size(dy, indices, [0], [2]),
    ]


def onnx_models(model: Any) -> Any:
    from backslice import onnx, onnxruntime

    nodes: list[onnx.SliceNode] = onnx.slice_nodes(model)
    gradients: onnx.GradientNodes = onnx.gradient_nodes(model, slices=[node.name for node in nodes])
    path: str = onnxruntime.library_path()
    checks: Mapping[str, str] = onnxruntime.status().self_tests
    options = [onnxruntime.session_options(), onnxruntime.session_options("model.onnx")]
    return gradients.added_to(model), options, path, checks


def in_torch(x: Any) -> list[Any]:
    import backslice.torch as bt

    bt.install()
    with bt.enabled():
        status: bt.Status = bt.status()
        row: bt.KernelStatus = status["slice_backward"]
    bt.uninstall()
    bt.fuse_graph(x)
    print(row.kernel, bt.compile_backend())
    return [bt.slice(x, "1:3"), *bt.multi_slice(x, [0, 1]), bt.pad_to(x, (4,), np.s_[1:3])]


def in_jax(x: Any) -> list[Any]:
    import backslice.jax as bsj

    dx = bsj.fuse_slices(bsj.slice_grad)(x, (4,), "1:3")
    dv = bsj.sparse_slice_grad(x, [[0]], [0], [[0]])
    pieces = bsj.ragged_gradient([x, None], [0, 2, 3], (3,))
    print(len(bsj.export_checks()))
    return [dx, dv, pieces, bsj.slice(x, 0), *bsj.multi_slice(x, [0]), bsj.multi_slice_grad((4,), [("1:3", x)])]


def in_tensorflow(x: Any) -> list[Any]:
    import backslice.tensorflow as bst

    try:
        library: Path = bst.build(progress=False)
    except bst.BuildError as error:
        return [str(error)]
    bst.install()
    with bst.enabled():
        status: bst.Status = bst.status()
        row: bst.KernelStatus = status["StridedSliceGrad"]
    bst.uninstall()
    print(library, row.version, row.calls + row.plain_calls, status.self_tests["fast kernels"])
    dx = bst.slice_grad(x, (4,), "1:3")
    return [dx, bst.multi_slice_grad((4,), [("1:3", x)]), bst.slice(x, "1:3"), *bst.multi_slice(x, [0, 1])]


def main() -> None:
    import scipy.sparse

    with tempfile.TemporaryDirectory() as folder:
        print(pictures(Path(folder)).title)
    identity: NDArray[np.float64] = np.eye(3)
    print(notations(), linking(), errors(), rows(), scipy_arrays(scipy.sparse.coo_array(identity)))
    print(prepared(bs.Selection.from_index((4,), "1:3")))


if __name__ == "__main__":
    main()
