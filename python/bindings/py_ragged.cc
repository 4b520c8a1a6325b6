#include "bindings/py_ragged.h"

#include <algorithm>

#include "backslice/cuda.h"
#include "backslice/ragged_slice.h"
#include "bindings/arguments.h"
#include "bindings/call_context.h"
#include "bindings/device_array.h"
#include "bindings/errors.h"
#include "bindings/index.h"
#include "bindings/instances.h"
#include "bindings/module.h"
#include "bindings/neighbours.h"
#include "bindings/objects.h"
#include "bindings/results.h"
#include "core/boundary.h"

namespace backslice::python {
namespace {

// Returns values.tolist(), a block at a time.
nb::object list_of(nb::handle values) {
  constexpr npy_intp kBlock = 1 << 18;  // elements
  PyArrayObject* array = as_array(values);
  if (PyArray_NDIM(array) == 0 || PyArray_SIZE(array) <= kBlock) return call(attribute(values, "tolist"));
  const npy_intp rows = PyArray_DIM(array, 0), step = std::max<npy_intp>(1, kBlock / (PyArray_SIZE(array) / rows));
  nb::object list = checked([] { return PyList_New(0); });
  LongLoop loop;
  for (npy_intp lo = 0; lo < rows; lo += step) {
    loop.look();
    const nb::object block = checked([&] { return PySequence_GetSlice(values.ptr(), lo, std::min(lo + step, rows)); });
    const nb::object part = call(attribute(block, "tolist"));
    if (call_python([&] { return PyList_SetSlice(list.ptr(), lo, lo, part.ptr()); }) != 0) nb::raise_python_error();
  }
  return list;
}

// Groups the list of all items of a level into its rows.
nb::object grouped(nb::handle items, const RaggedTensor& rt, int level) {
  const std::int64_t count = rt.nested_row_splits()[static_cast<std::size_t>(level)].shape()[0] - 1;
  nb::object rows = checked([] { return PyList_New(0); });
  LongLoop loop;
  for (std::int64_t i = 0; i < count; ++i) {
    loop.step();
    const nb::object row =
        checked([&] { return PyList_GetSlice(items.ptr(), rt.split(level, i), rt.split(level, i + 1)); });
    if (call_python([&] { return PyList_Append(rows.ptr(), row.ptr()); }) != 0) nb::raise_python_error();
  }
  return rows;
}

// Returns whether values of two types can be equal. The library moves several NumPy dtypes as opaque items, and str and
// bytes as one type; here they differ. Without strings, their kind does not matter.
bool same_values(const ValueType& a, const ValueType& b) {
  if (!same_dtype(a.numpy, b.numpy)) return false;
  return a.strings == b.strings || a.strings == StringKind::Unknown || b.strings == StringKind::Unknown;
}

// Other Python threads run while splits are copied from a device and while the call waits for it.
RaggedTensor made_of(const Tensor& values, std::vector<Tensor> splits, const CallContext& call) {
  const Context context{.allocator = call.allocator, .stream = call.stream};
  return unwrap(without_gil([&]() -> Result<RaggedTensor> {
    auto made = RaggedTensor::make(values, std::move(splits), context);
    if (const Status done = call.finish(); !done.ok()) return done;
    return made;
  }));
}

}  // namespace

PyRagged PyRagged::make(nb::handle values, nb::handle nested_row_splits) {
  CallContext call;
  return make(values, nested_row_splits, call);
}

PyRagged PyRagged::make(nb::handle values, nb::handle nested_row_splits, CallContext& call) {
  const ArrayArgument given_values(values, "values", &call);
  const NestedSplits given_splits(nested_row_splits, "nested_row_splits", &call);
  if (given_values.is_on_device()) call.use_device_memory();
  ValueType type;
  const Tensor tensor = values_of(given_values, type);
  auto splits = given_splits.tensors();
  return {made_of(tensor, std::move(splits), call), type};
}

nb::object PyRagged::to_python(RaggedTensor rt, const ValueType& type) {
  if (rt.ragged_rank() == 0) return values_to_python(rt.values(), type);
  return nb::cast(PyRagged(std::move(rt), type));
}

nb::tuple PyRagged::nested_row_splits() const {
  NewList lists;
  for (const Tensor& splits : rt_.nested_row_splits()) lists.append(splits_to_python(splits));
  return lists.tuple();
}

nb::tuple PyRagged::shape() const {
  NewList dims;
  const Shape& values = rt_.values().shape();
  if (rt_.ragged_rank() > 0) dims.append(nb::int_(rt_.rows()));
  for (int level = 0; level < rt_.ragged_rank(); ++level) dims.append(nb::none());
  for (int axis = rt_.ragged_rank() > 0; axis < values.rank(); ++axis) dims.append(nb::int_(values[axis]));
  return dims.tuple();
}

std::int64_t PyRagged::size() const {
  if (rt_.values().shape().rank() == 0) raise_dtype_error("a scalar has no rows");
  return rt_.rows();
}

PyRagged PyRagged::cpu() const {
  if (type_.place.is_cpu()) return *this;
  CallContext call;
  call.run_on(type_.place, "the tensor");
  const nb::object values = DeviceArray(rt_.values(), type_.numpy, {call.stream}).to_numpy();
  return make(values, nested_row_splits());
}

nb::object PyRagged::to_list() const {
  if (!type_.place.is_cpu()) return cpu().to_list();
  nb::object items = list_of(values());
  for (int level = rt_.ragged_rank() - 1; level >= 0; --level) items = grouped(items, rt_, level);
  return items;
}

nb::object PyRagged::get(nb::handle index) const {
  const Index items = read_items(index);
  CallContext context;
  context.run_on(type_.place, "the tensor");
  context.use_device_memory();
  RaggedTensor taken = unwrap(without_gil([&] { return ragged_slice(items, rt_, context); }));
  context.keep(rt_.values());
  check(without_gil([&] { return context.finish(); }));
  // A dense tensor is returned unchanged, except for an index of one of its rows.
  const bool takes_row = !items.empty() && std::holds_alternative<std::int64_t>(items[0]);
  if (rt_.ragged_rank() > 0 || takes_row) return to_python(std::move(taken), type_);
  return nb::cast(PyRagged(std::move(taken), type_));
}

nb::object PyRagged::slice_grad(nb::handle index, nb::handle grad, nb::handle out, nb::handle accumulate) const {
  const Write write = read_write(accumulate, out);
  const Index items = read_items(index);
  const auto* ragged = find_instance<PyRagged>(grad);
  const nb::object foreign = find_ragged_parts(grad);
  const nb::object values = ragged != nullptr    ? ragged->values()
                            : foreign.is_valid() ? nb::object(foreign[0])
                                                 : nb::borrow(grad);
  CallContext context;
  context.run_on(type_.place, "the tensor");
  const OutputArgument output(out, &context);
  const InputArray input = ArrayArgument(values, "dy", &context).view();
  if (!same_dtype(input.numpy_dtype, type_.numpy)) {
    raise_dtype_error("dy has dtype " + str_text(input.numpy_dtype) + ", expected " + str_text(type_.numpy) +
                      ", that of the values");
  }
  if (type_.is_object()) raise_dtype_error("the values are strings, which have no gradient");
  if (!type_.place.is_cpu()) context.use_device_memory();
  // There may be many more rows than values.
  const auto work = rt_.ragged_rank() > 0 ? ResultElements::Work::Any : ResultElements::Work::LikeResult;
  return ResultElements(input, "dy")
      .result(
          &rt_.values().shape(), work, output, [&] { return ragged_slice_grad(items, rt_, input.view, context); },
          [&](const View& view) { return ragged_slice_grad_into(items, rt_, input.view, view, write, context); });
}

bool PyRagged::equals(nb::handle other) const {
  const auto* ragged = find_instance<PyRagged>(other);
  if (ragged == nullptr || !same_values(type_, ragged->type_)) return false;
  wait_for_values();
  ragged->wait_for_values();
  // Values on a device are copied from it, which may fail.
  return unwrap(
      without_gil([&] { return without_throwing([&]() -> Result<bool> { return rt_.equals(ragged->rt_); }); }));
}

// The comparison runs on CUDA's default stream.
void PyRagged::wait_for_values() const {
  if (type_.place.is_cpu()) return;
  CallContext call;
  call.run_on(type_.place, "the tensor");
  check(cuda_wait(type_.place.device.ordinal, nullptr, call.stream));
}

// Joined in C++: an object made by Python may start its garbage collector, which may end the thread.
nb::object PyRagged::repr() const {
  return new_str("RaggedTensor(" + shown_rows() + ", shape " + shown_shape() + ", dtype " + str_text(type_.numpy) +
                 (type_.place.is_cpu() ? "" : ", " + device()) + ")");
}

// Formats it like a tuple.
std::string PyRagged::shown_shape() const {
  const Shape& values = rt_.values().shape();
  std::vector<std::string> dims;
  if (rt_.ragged_rank() > 0) dims.push_back(std::to_string(rt_.rows()));
  dims.insert(dims.end(), static_cast<std::size_t>(rt_.ragged_rank()), "None");
  for (int axis = rt_.ragged_rank() > 0; axis < values.rank(); ++axis) dims.push_back(std::to_string(values[axis]));
  std::string text;
  for (const std::string& dim : dims) text += (text.empty() ? "" : ", ") + dim;
  return "(" + text + (dims.size() == 1 ? ",)" : ")");
}

std::string PyRagged::shown_rows() const {
  constexpr std::int64_t kRows = 8, kValues = 1000;
  constexpr Py_ssize_t kLetters = 400;
  const std::int64_t rows = rt_.ragged_rank() == 0 ? 0 : rt_.rows();
  const RaggedTensor first = rows > kRows ? unwrap(rt_.slice_rows(0, kRows)) : rt_;
  const Shape& shape = first.values().shape();
  if (!type_.place.is_cpu() || shape.elements() > kValues || (shape.rank() > 0 && shape[0] > kValues)) {
    const std::string count = std::to_string(rt_.values().shape().elements()) + " values";
    return rows > 0 ? std::to_string(rows) + " rows of " + count : count;
  }
  std::string text = repr_text(PyRagged(first, type_).to_list(), kLetters, " ...]");
  if (rows <= kRows) return text;
  text.pop_back();  // the bracket
  return text + ", ... " + std::to_string(rows - kRows) + " more rows]";
}

Index PyRagged::read_items(nb::handle index) const {
  return read_index_items(index, rt_.values().shape().rank() == 0 ? 0 : rt_.rows());
}

nb::object PyRagged::array() const {
  if (!type_.place.is_cpu()) {
    raise_dtype_error("the RaggedTensor is on " + device() + ": use .values there, or .cpu(), which copies it");
  }
  if (rt_.ragged_rank() == 0) return values();
  raise_dtype_error(
      "a RaggedTensor of ragged rank " + std::to_string(rt_.ragged_rank()) +
      " is not one array: its rows may differ in length. Use .values, one row such as rt[0], or .to_list()");
}

RaggedArgument::RaggedArgument(nb::handle object, std::string name, CallContext& call)
    : ragged_(find_instance<PyRagged>(object)), call_(call) {
  if (ragged_ != nullptr) {
    owner_ = nb::borrow(object);
  } else if (nb::isinstance<PyRagged>(object)) {
    raise_dtype_error(name + " is a RaggedTensor that was never initialised");
  } else if (const nb::object foreign = find_ragged_parts(object); foreign.is_valid()) {
    const nb::object values = foreign[0], splits = foreign[1];
    owner_ = nb::cast(PyRagged::make(values, splits, call));
    ragged_ = find_instance<PyRagged>(owner_);
  } else {
    array_.emplace(object, std::move(name), &call);
  }
}

RaggedTensor RaggedArgument::tensor(ValueType& type) const {
  if (ragged_ == nullptr) {
    if (!array_->is_on_device()) return unwrap(RaggedTensor::make(values_of(*array_, type), {}));
    call_.use_device_memory();
    return made_of(values_of(*array_, type), {}, call_);
  }
  type = ragged_->type();
  return ragged_->rt();
}

}  // namespace backslice::python
