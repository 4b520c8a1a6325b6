// Slices of sparse tensors and their gradients.
#include <nanobind/nanobind.h>

#include <optional>

#include "backslice/sparse_slice.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/module.h"
#include "bindings/results.h"

namespace backslice::python {
namespace {

// The indices of entries, viewed in place: a matrix, or a tuple with an array for each column.
struct IndexList {
  std::vector<InputArray> arrays;  // keep the memory alive, and have the dtype
  std::vector<nb::object> guards;  // keep the memory on its device
  CooIndices indices;
};

bool is_array(nb::handle object) {
  return PyArray_Check(object.ptr()) || has_attribute(object, "__dlpack__") || has_attribute(object, "__array__") ||
         has_attribute(object, "__cuda_array_interface__");
}

bool is_columns(nb::handle object) {
  if (!PyTuple_Check(object.ptr()) || PyTuple_GET_SIZE(object.ptr()) == 0) return false;
  for (nb::handle item : nb::borrow<nb::tuple>(object)) {
    if (!is_array(item)) return false;
  }
  return true;
}

// The same, resolved but not viewed yet.
class IndexArgument {
 public:
  IndexArgument(nb::handle object, const char* name, CallContext& call) : name_(name), is_columns_(is_columns(object)) {
    if (!is_columns_) {
      arrays_.emplace_back(object, name, &call);
      return;
    }
    for (nb::handle item : nb::borrow<nb::tuple>(object)) {
      arrays_.emplace_back(item, name_ + "[" + std::to_string(arrays_.size()) + "]", &call);
    }
  }

  IndexList view() const {
    std::vector<InputArray> arrays;
    std::vector<nb::object> guards;
    std::vector<ConstView> views;
    for (const ArrayArgument& array : arrays_) {
      arrays.push_back(array.view());
      guards.push_back(keep_from_resizing(arrays.back()));
      views.push_back(arrays.back().view);
    }
    CooIndices indices = unwrap(is_columns_ ? CooIndices::from_columns(views, name_.c_str())
                                            : CooIndices::from_matrix(views[0], name_.c_str()));
    return {std::move(arrays), std::move(guards), indices};
  }

 private:
  std::string name_;
  bool is_columns_;
  std::vector<ArrayArgument> arrays_;
};

// Checks that values have a gradient: they are not strings.
ArrayArgument read_gradient(nb::handle object, const char* name, CallContext& call) {
  ArrayArgument grad(object, name, &call);
  const char kind = reinterpret_cast<PyArray_Descr*>(grad.numpy_dtype().ptr())->kind;
  if (kind == 'S' || kind == 'U' || kind == 'O') {
    raise_dtype_error(grad.name() + " has dtype " + str_text(grad.numpy_dtype()) +
                      ", expected numbers; strings have no gradient");
  }
  return grad;
}

MatchOrder read_order(nb::handle order) {
  const auto text = PyUnicode_Check(order.ptr()) ? utf8_of(order) : std::nullopt;
  if (text == "in_order") return MatchOrder::InOrder;
  if (text == "any") return MatchOrder::Any;
  raise_invalid_argument("order is " + repr_text(order) + ", expected \"in_order\" or \"any\"");
}

Tensor column_of(Tensor matrix, int axis) {
  const View view = matrix.view();
  const Layout& layout = view.layout;
  std::byte* first = view.elements() == 0 ? view.data : view.data + axis * layout.strides[1];
  return Tensor::of(matrix.buffer(), unwrap(View::strided(first, view.dtype, {layout.shape[0]}, {layout.strides[0]},
                                                          layout.item_size, view.device)));
}

nb::object indices_to_python(const Tensor& indices, const IndexList& like, const CallContext& call) {
  const nb::object& dtype = like.arrays[0].numpy_dtype;
  const auto to_python = [&](const Tensor& part) {
    return part.device().is_cpu() ? to_numpy(part, dtype) : call.device_array(part, dtype);
  };
  if (!like.indices.is_columns()) return to_python(indices);
  NewList columns;
  for (int axis = 0; axis < like.indices.rank(); ++axis) columns.append(to_python(column_of(indices, axis)));
  return columns.tuple();
}

// Returns the shape of a gradient: that of `grad`, with as many rows as the input. nullopt if there is none; the
// operation then raises.
std::optional<Shape> gradient_shape(const ConstView& grad, const CooIndices& input) {
  if (grad.shape().rank() == 0) return std::nullopt;
  Dims dims(grad.shape());
  dims[0] = input.rows();
  const auto shape = Shape::make(dims);
  return shape.ok() ? std::optional(*shape) : std::nullopt;
}

nb::object ints_to_numpy(Ints list) {
  const auto size = static_cast<npy_intp>(list.size());
  nb::object array = nb::steal(PyArray_SimpleNew(1, &size, NPY_INT64));
  if (!array.is_valid()) nb::raise_python_error();
  std::copy(list.begin(), list.end(), static_cast<std::int64_t*>(PyArray_DATA(as_array(array))));
  return array;
}

nb::tuple py_sparse_slice(nb::handle indices, nb::handle values, nb::handle shape, nb::handle start, nb::handle size) {
  CallContext context;
  const auto dims = IntReader().read(shape, "shape"), from = IntReader().read(start, "start"),
             sizes = IntReader().read(size, "size");
  const IndexArgument given_indices(indices, "indices", context);
  const ArrayArgument given_values(values, "values", &context);
  context.use_device_memory();
  const IndexList list = given_indices.view();
  const InputArray input = given_values.view();
  const ResultElements elements(input, "values");
  SparseTensor result =
      unwrap(elements.run([&] { return sparse_slice(list.indices, input.view, dims, from, sizes, context); }));
  const nb::object out_values = elements.new_array(std::move(result.values));
  return nb::make_tuple(indices_to_python(result.indices, list, context), out_values, ints_to_numpy(result.shape));
}

nb::object py_sparse_slice_grad(nb::handle backprop_val_grad, nb::handle input_indices, nb::handle input_start,
                                nb::handle output_indices, nb::handle order, nb::handle out, nb::handle accumulate) {
  CallContext context;
  const Write write = read_write(accumulate, out);
  const MatchOrder match_order = read_order(order);
  const auto start = IntReader().read(input_start, "input_start");
  const IndexArgument given_input(input_indices, "input_indices", context),
      given_output(output_indices, "output_indices", context);
  const ArrayArgument given_grad = read_gradient(backprop_val_grad, "backprop_val_grad", context);
  const OutputArgument output_argument(out, &context);
  context.use_device_memory();
  const IndexList input = given_input.view(), output = given_output.view();
  const InputArray grad = given_grad.view();
  const auto shape = gradient_shape(grad.view, input.indices);
  return ResultElements(grad, "backprop_val_grad")
      .result(
          shape ? &*shape : nullptr, ResultElements::Work::Any, output_argument,
          [&] { return sparse_slice_grad(grad.view, input.indices, start, output.indices, match_order, context); },
          [&](const View& view) {
            return sparse_slice_grad_into(grad.view, input.indices, start, output.indices, view, match_order, write,
                                          context);
          });
}

nb::object py_sparse_slice_grad_by_size(nb::handle grad_values, nb::handle input_indices, nb::handle start,
                                        nb::handle size, nb::handle out, nb::handle accumulate) {
  CallContext context;
  const Write write = read_write(accumulate, out);
  const auto from = IntReader().read(start, "start"), sizes = IntReader().read(size, "size");
  const IndexArgument given_input(input_indices, "input_indices", context);
  const ArrayArgument given_grad = read_gradient(grad_values, "grad", context);
  const OutputArgument output_argument(out, &context);
  context.use_device_memory();
  const IndexList input = given_input.view();
  const InputArray grad = given_grad.view();
  const auto shape = gradient_shape(grad.view, input.indices);
  return ResultElements(grad, "grad")
      .result(
          shape ? &*shape : nullptr, ResultElements::Work::Any, output_argument,
          [&] { return sparse_slice_grad_by_size(grad.view, input.indices, from, sizes, context); },
          [&](const View& view) {
            return sparse_slice_grad_by_size_into(grad.view, input.indices, from, sizes, view, write, context);
          });
}

}  // namespace

void bind_sparse_slices(nb::module_& m) {
  m.def("sparse_slice", py_sparse_slice);
  m.def("sparse_slice_grad", py_sparse_slice_grad);
  m.def("sparse_slice_grad_by_size", py_sparse_slice_grad_by_size);
}

}  // namespace backslice::python
