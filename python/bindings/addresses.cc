// Slices, and sums of their gradients, of tensors whose addresses the caller knows. backslice.torch calls these for
// tensors on CUDA devices: they read tuples of integers and run no code of users, so that hundreds of slices cost less
// than one of them does through a protocol for arrays.
//
// A slice is one (kind, start, step, count) per axis of the tensor or new axis. Tensors that tell their memory to C are
// taken as they are, which takes less time than a tuple for each.
#include "bindings/addresses.h"

#include <memory>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/errors.h"
#include "bindings/gil_loan.h"
#include "bindings/known_tensors.h"
#include "bindings/module.h"
#include "bindings/objects.h"
#include "core/boundary.h"

namespace backslice::python {
namespace {

enum IndexItemKind : std::int64_t { kInteger = 0, kSlice = 1, kNewAxis = 2 };

nb::handle item(nb::handle tuple, Py_ssize_t i) { return PyTuple_GET_ITEM(tuple.ptr(), i); }

Py_ssize_t require_tuple(nb::handle object, const char* what, Py_ssize_t size = -1) {
  if (!PyTuple_Check(object.ptr())) raise_dtype_error(std::string(what) + " must be a tuple");
  const Py_ssize_t found = PyTuple_GET_SIZE(object.ptr());
  if (size < 0 || found == size) return found;
  raise_invalid_argument(std::string(what) + " has " + std::to_string(found) + " items, expected " +
                         std::to_string(size));
}

std::int64_t integer(nb::handle object, const char* what) {
  int overflow = 0;
  const std::int64_t value = PyLong_Check(object.ptr()) ? PyLong_AsLongLongAndOverflow(object.ptr(), &overflow)
                                                        : require_int(object, what, overflow);
  if (overflow != 0) raise_invalid_argument(std::string(what) + " does not fit 64 bits");
  return value;
}

Dims integers_of(nb::handle object, const char* what) {
  const Py_ssize_t size = require_tuple(object, what);
  if (size > kMaxRank) raise_invalid_argument(std::string(what) + " has more items than there can be axes");
  Dims list;
  for (Py_ssize_t i = 0; i < size; ++i) list.push_back(integer(item(object, i), what));
  return list;
}

std::int64_t in_bytes(std::int64_t elements, std::int64_t item_size) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, item_size, &bytes)) raise_invalid_argument("strides leave the address space");
  return bytes;
}

// Memory that Python code makes for tables on a device. It is asked for and given back by the thread that called the
// operation. What that code raises stays set, since no exception may go through the library.
class MemoryFromPython final : public Allocator {
 public:
  MemoryFromPython(nb::handle make, Device device, GilLoan& loan) : make_(make), device_(device), loan_(loan) {}

  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    if (contents == Contents::Zero) return Status(StatusCode::Internal, "new_memory gives no zeros");
    return loan_.interrupt([&] { return without_throwing([&] { return made(bytes); }); });
  }

  Device device() const override { return device_; }

 private:
  Result<Buffer> made(std::int64_t bytes) {
    PyObject* pair =
        call_python([&] { return PyObject_CallFunction(make_.ptr(), "L", static_cast<long long>(bytes)); });
    if (pair == nullptr) return Status(StatusCode::ResourceExhausted, "new_memory raised an error");
    auto* data = PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2
                     ? static_cast<std::byte*>(PyLong_AsVoidPtr(PyTuple_GET_ITEM(pair, 0)))
                     : nullptr;
    if (data == nullptr) {
      drop(pair);
      return Status(StatusCode::InvalidArgument, "new_memory must return an address and its owner");
    }
    // Where there is no memory for that, it gives the pair back at once, and the lock is here already.
    GilLoan& loan = loan_;
    return Buffer::own(data, [pair, &loan](std::byte*) { loan.interrupt([pair] { drop(pair); }); }, device_);
  }

  nb::handle make_;
  Device device_;
  GilLoan& loan_;
};

Device device_given(nb::handle given) {
  require_tuple(given, "where", 4);
  const std::int64_t ordinal = integer(item(given, 0), "ordinal");
  if (ordinal > INT32_MAX) raise_invalid_argument("ordinal is no device's");
  return ordinal < 0 ? Device::cpu() : Device::cuda(static_cast<int>(ordinal));
}

// Runs an operation of the library while other Python threads may run, and raises what it or code that gives memory
// met.
template <class Operation>
void run_at(const Where& where, const Operation& operation) {
  const Status status = [&] {
    GilLoan loan;
    MemoryFromPython memory(where.new_memory(), where.device(), loan);
    Context context = where.context();
    if (!where.device().is_cpu()) context.allocator = &memory;
    return operation(context);
  }();
  if (PyErr_Occurred() != nullptr) nb::raise_python_error();
  check(status);
}

Selection selection_given(const Shape& shape, nb::handle entries) {
  const Py_ssize_t size = require_tuple(entries, "a slice");
  Selection::Axes axes;
  Dims result_axes;
  for (Py_ssize_t i = 0; i < size; ++i) {
    const nb::handle entry = item(entries, i);
    require_tuple(entry, "an entry of a slice", 4);
    const std::int64_t kind = integer(item(entry, 0), "kind");
    if (result_axes.size() == kMaxRank || axes.size() == kMaxRank) raise_invalid_argument("a slice has too many axes");
    if (kind == kNewAxis) {
      result_axes.push_back(Selection::kNewAxis);
      continue;
    }
    if (kind == kSlice) result_axes.push_back(axes.size());
    axes.push_back(
        {integer(item(entry, 1), "start"), integer(item(entry, 2), "step"), integer(item(entry, 3), "count")});
  }
  return unwrap(Selection::make(shape, std::span(axes.begin(), static_cast<std::size_t>(axes.size())), result_axes));
}

SliceGradient gradient_of(const Shape& shape, nb::handle given, const Where& where) {
  require_tuple(given, "an item of slices", 5);
  return {selection_given(shape, item(given, 0)),
          where.view(item(given, 1), item(given, 2), item(given, 3), item(given, 4))};
}

Write write_of(nb::handle accumulate) {
  return read_flag(accumulate, "accumulate") ? Write::Accumulate : Write::Overwrite;
}

void py_slice_grads_at(nb::handle slices, nb::handle out, nb::handle where_given, nb::handle accumulate) {
  const Where where(where_given);
  const View to = where.view(out);
  const nb::object items = items_of(slices);
  std::vector<SliceGradient> gradients;
  gradients.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr())));
  for (nb::handle given : nb::borrow<nb::tuple>(items)) gradients.push_back(gradient_of(to.shape(), given, where));
  write_gradients(gradients, to, write_of(accumulate), where);
}

// The same of tensors; false, and nothing is done, where one of them does not tell its memory.
bool py_slice_grads_of(nb::handle slices, nb::handle dys, nb::handle out, nb::handle where_given,
                       nb::handle accumulate) {
  const Where where(where_given);
  const View to = where.view(out);
  const nb::object each_slice = items_of(slices), each_dy = items_of(dys);
  const Py_ssize_t size = require_tuple(each_slice, "slices", PyTuple_GET_SIZE(each_dy.ptr()));
  std::vector<SliceGradient> gradients;
  gradients.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    const std::optional<ConstView> dy = where.view_of_tensor(item(each_dy, i));
    if (!dy) return false;
    gradients.push_back({selection_given(to.shape(), item(each_slice, i)), *dy});
  }
  write_gradients(gradients, to, write_of(accumulate), where);
  return true;
}

void py_slice_at(nb::handle x, nb::handle slice, nb::handle out, nb::handle where_given) {
  const Where where(where_given);
  const View from = where.view(x), to = where.view(out);
  const Selection selection = selection_given(from.shape(), slice);
  run_at(where, [&](const Context& context) { return slice_into(selection, from, to, context); });
}

}  // namespace

Where::Where(nb::handle given)
    : device_(device_given(given)), type_(element_type(item(given, 2), "dtype")), new_memory_(item(given, 3)) {
  if (type_.is_object) raise_dtype_error("dtype must be one of numbers");
  context_.stream = reinterpret_cast<CudaStream>(static_cast<std::uintptr_t>(integer(item(given, 1), "stream")));
}

std::optional<ConstView> Where::view_of_tensor(nb::handle object) const {
  nb::dlpack::dltensor tensor;
  if (!view_known_tensor(object, tensor)) return std::nullopt;
  ConstView found = view_of(tensor, type_, "dy");
  if (found.device != device_ || tensor.dtype.lanes * tensor.dtype.bits != 8 * type_.item_size) return std::nullopt;
  return found;
}

View Where::view(nb::handle memory) const {
  require_tuple(memory, "a memory", 4);
  return view(item(memory, 0), item(memory, 1), item(memory, 2), item(memory, 3));
}

View Where::view(nb::handle address, nb::handle offset, nb::handle shape, nb::handle strides) const {
  Dims byte_strides = integers_of(strides, "strides");
  for (std::int64_t& stride : byte_strides) stride = in_bytes(stride, type_.item_size);
  const auto first = static_cast<std::uintptr_t>(integer(address, "address")) +
                     static_cast<std::uintptr_t>(in_bytes(integer(offset, "offset"), type_.item_size));
  return unwrap(View::strided(reinterpret_cast<void*>(first), type_.dtype, integers_of(shape, "shape"), byte_strides,
                              type_.item_size, device_));
}

void write_gradients(std::span<const SliceGradient> gradients, const View& to, Write write, const Where& where) {
  run_at(where, [&](const Context& context) {
    return gradients.size() == 1 ? slice_grad_into(gradients[0].selection, gradients[0].dy, to, write, context)
                                 : multi_slice_grad_into(to.shape(), gradients, to, write, context);
  });
}

void bind_addresses(nb::module_& m) {
  m.def("_slice_grads_at", py_slice_grads_at);
  m.def("_slice_grads_of", py_slice_grads_of);
  m.def("_slice_at", py_slice_at);
}

}  // namespace backslice::python
