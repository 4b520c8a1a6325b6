// Kernels for PyTorch's dispatcher that compute small gradients of slices without Python, which would cost more than
// the gradient. All others go to operations of the same arguments that Python has registered.
//
// They use PyTorch's C interface for extensions, which stays the same from version to version. Its functions are given
// by address, so that nothing here is compiled against PyTorch.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "bindings/arguments.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/text.h"

namespace backslice::python {
namespace small_slices {
namespace {

namespace nb = nanobind;

// An argument or a result of a kernel: a number, or the address of an object that comes with it.
using Value = std::uint64_t;
using Handle = void*;  // of a tensor, a list or a library of kernels
using Kernel = void (*)(Value*, std::uint64_t, std::uint64_t);
using Extents = std::array<std::int64_t, 32>;

constexpr std::uint64_t kVersion = (2ULL << 56) | (10ULL << 48);  // PyTorch 2.10: how arguments are passed

// PyTorch's functions, in the order of C_FUNCTIONS in internals.py. They return zero where they succeed.
struct Interface {
  int (*library_init_impl)(const char* space, const char* key, const char* file, std::uint32_t line, Handle* library);
  int (*library_impl)(Handle library, const char* op, Kernel kernel, std::uint64_t version);
  int (*delete_library)(Handle library);
  int (*call_dispatcher)(const char* op, const char* overload, Value* stack, std::uint64_t version);
  void (*check)(bool condition, const char* function, const char* file, std::uint32_t line, const char* message);
  int (*list_size)(Handle list, std::size_t* size);
  int (*list_get_item)(Handle list, std::size_t index, Value* item);
  int (*delete_list)(Handle list);
  int (*delete_tensor)(Handle tensor);
  int (*get_dim)(Handle tensor, std::int64_t* rank);
  int (*get_sizes)(Handle tensor, std::int64_t** extents);
  int (*get_dtype)(Handle tensor, std::int32_t* dtype);
  std::size_t (*element_size)(std::int32_t dtype);
  int (*empty_strided)(std::int64_t rank, const std::int64_t* extents, const std::int64_t* strides, std::int32_t dtype,
                       std::int32_t device_type, std::int32_t device, Handle* tensor);
  int (*zero)(Handle tensor);
  int (*view)(Handle tensor, std::int64_t rank, const std::int64_t* extents, const std::int64_t* strides,
              std::int64_t offset, Handle* view);
  int (*copy)(Handle to, Handle from, std::int32_t non_blocking);
};

Interface torch;                // written once, before the first kernel may run
std::vector<Handle> libraries;  // of the registered kernels; install() and uninstall() run one at a time
std::atomic<std::int64_t> limit{std::numeric_limits<std::int64_t>::max()};  // in bytes, of gradients that are small
thread_local std::string failure;                                           // of the operation in Python
thread_local bool is_interrupt = false;                                     // it was a KeyboardInterrupt

// A block of a contiguous tensor, in elements.
struct Block {
  std::size_t rank = 0;
  Extents extents{}, strides{};
  std::int64_t offset = 0;

  // Takes every `step`-th of an axis, `count` of them.
  void take(std::size_t axis, std::int64_t start, std::int64_t step, std::int64_t count) {
    offset += start * strides[axis];
    strides[axis] *= step;
    extents[axis] = count;
  }
  void drop(std::size_t axis) {
    std::copy(extents.begin() + axis + 1, extents.end(), extents.begin() + axis);
    std::copy(strides.begin() + axis + 1, strides.end(), strides.begin() + axis);
    --rank;
  }
};

// Reads the shape of a gradient. False where it is not below the limit, is empty, or has too many axes.
bool read_shape(Handle list, std::int64_t item_size, Block& block) {
  if (torch.list_size(list, &block.rank) != 0 || block.rank == 0 || block.rank > block.extents.size()) return false;
  const std::int64_t most = limit.load(std::memory_order_relaxed) - 1;
  std::int64_t bytes = item_size;
  for (std::size_t axis = block.rank; axis-- > 0;) {
    Value extent = 0;
    if (torch.list_get_item(list, axis, &extent) != 0) return false;
    block.extents[axis] = static_cast<std::int64_t>(extent);
    block.strides[axis] = bytes / item_size;
    if (block.extents[axis] <= 0 || bytes > most / block.extents[axis]) return false;
    bytes *= block.extents[axis];
  }
  return bytes <= most;
}

bool find_axis(Value dim, const Block& block, std::size_t& axis) {
  const auto rank = static_cast<std::int64_t>(block.rank), given = static_cast<std::int64_t>(dim);
  axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  return given >= -rank && given < rank;
}

// Each narrows a block to what its operation takes, from the arguments that follow the shape.
struct Select {
  static constexpr const char* kOp = "select_backward";
  static constexpr const char* kInPython = "backslice::select_backward";
  static bool narrow(const Value* arguments, Block& block) {
    std::size_t axis = 0;
    if (!find_axis(arguments[0], block, axis)) return false;
    const std::int64_t extent = block.extents[axis];
    const auto index = static_cast<std::int64_t>(arguments[1]);
    if (index < -extent || index >= extent) return false;
    block.take(axis, index < 0 ? index + extent : index, 1, 1);
    block.drop(axis);
    return true;
  }
};

struct Slice {
  static constexpr const char* kOp = "slice_backward";
  static constexpr const char* kInPython = "backslice::slice_backward";
  static bool narrow(const Value* arguments, Block& block) {
    std::size_t axis = 0;
    if (!find_axis(arguments[0], block, axis)) return false;
    const std::int64_t extent = block.extents[axis];
    const auto bound = [extent](Value given) {
      const auto at = static_cast<std::int64_t>(given);
      return std::clamp<std::int64_t>(at < 0 ? at + extent : at, 0, extent);
    };
    const std::int64_t start = bound(arguments[1]), end = bound(arguments[2]);
    const auto step = static_cast<std::int64_t>(arguments[3]);
    if (step < 1 || step > extent || start >= end) return false;
    block.take(axis, start, step, (end - start + step - 1) / step);
    return true;
  }
};

bool has_extents(Handle tensor, const Block& block) {
  std::int64_t rank = 0, *extents = nullptr;
  return torch.get_dim(tensor, &rank) == 0 && rank == static_cast<std::int64_t>(block.rank) &&
         torch.get_sizes(tensor, &extents) == 0 && std::equal(extents, extents + rank, block.extents.begin());
}

// Computes a gradient as PyTorch does: zeros, and a copy to a view of them. Null where it is not an ordinary small one.
template <class Operation>
Handle small_gradient(const Value* stack) {
  const Handle dy = reinterpret_cast<Handle>(stack[0]);
  std::int32_t dtype = 0;
  Block block;
  if (torch.get_dtype(dy, &dtype) != 0) return nullptr;
  const auto item_size = static_cast<std::int64_t>(torch.element_size(dtype));
  if (item_size < 1 || !read_shape(reinterpret_cast<Handle>(stack[1]), item_size, block)) return nullptr;
  const Block whole = block;
  if (!Operation::narrow(stack + 2, block) || !has_extents(dy, block)) return nullptr;
  Handle dx = nullptr, part = nullptr;
  const auto rank = static_cast<std::int64_t>(whole.rank);
  if (torch.empty_strided(rank, whole.extents.data(), whole.strides.data(), dtype, /*CPU*/ 0, -1, &dx) != 0) {
    return nullptr;
  }
  const bool is_complete = torch.zero(dx) == 0 &&
                           torch.view(dx, static_cast<std::int64_t>(block.rank), block.extents.data(),
                                      block.strides.data(), block.offset, &part) == 0 &&
                           torch.copy(part, dy, 0) == 0;
  if (part != nullptr) torch.delete_tensor(part);
  if (is_complete) return dx;
  torch.delete_tensor(dx);
  return nullptr;
}

// The arguments go with the call, and the result comes in place of the first.
template <class Operation>
void compute_or_call(Value* stack, std::uint64_t, std::uint64_t) {
  if (const Handle dx = small_gradient<Operation>(stack); dx != nullptr) {
    torch.delete_tensor(reinterpret_cast<Handle>(stack[0]));
    torch.delete_list(reinterpret_cast<Handle>(stack[1]));
    stack[0] = reinterpret_cast<Value>(dx);
    return;
  }
  failure.clear();
  is_interrupt = false;
  const bool has_run = torch.call_dispatcher(Operation::kInPython, "", stack, kVersion) == 0;
  if (has_run && failure.empty()) return;
  if (has_run) torch.delete_tensor(reinterpret_cast<Handle>(stack[0]));
  if (is_interrupt) PyErr_SetInterrupt();  // so that Python raises it again after the error that follows
  // It throws, in PyTorch's own library.
  torch.check(false, Operation::kOp, "", 0, has_run ? failure.c_str() : "a gradient of a slice could not be computed");
}

template <class Operation>
bool register_kernel(const std::string& file, std::uint32_t line) {
  libraries.push_back(nullptr);
  return torch.library_init_impl("aten", "CPU", file.c_str(), line, &libraries.back()) == 0 &&
         torch.library_impl(libraries.back(), Operation::kOp, compute_or_call<Operation>, kVersion) == 0;
}

// A kernel that calls one in Python, where a signal may be raised before the first line.
nb::object guarded(nb::handle kernel, nb::handle fail, const nb::args& arguments) {
  PyObject* const dx = call_python([&] { return PyObject_CallObject(kernel.ptr(), arguments.ptr()); });
  if (dx != nullptr) return nb::steal(dx);
  const nb::python_error error;  // what was raised
  is_interrupt = error.matches(PyExc_KeyboardInterrupt);
  return call_with(fail, nb::make_tuple(error.value(), arguments[0], arguments[1]));
}

std::int64_t number_in(nb::handle object, const char* argument) {
  int overflow = 0;
  return require_int(object, argument, overflow);
}

void bind_kernels(nb::module_& m) {
  m.def("_register_small_slices", [](nb::handle functions, nb::handle op, nb::handle file, nb::handle line) {
    const std::vector<std::int64_t> addresses = IntReader().read(functions, "functions");
    if (addresses.size() * sizeof(addresses[0]) != sizeof(torch))
      raise_invalid_argument("functions has another length");
    const std::string place(read_str(file, "file"));
    const bool is_select = read_str(op, "op") == Select::kOp;
    const auto number = static_cast<std::uint32_t>(number_in(line, "line"));
    if (torch.check == nullptr) std::memcpy(&torch, addresses.data(), sizeof(torch));
    return (is_select ? register_kernel<Select> : register_kernel<Slice>)(place, number);
  });
  m.def("_remove_small_slices", [] {
    for (; !libraries.empty(); libraries.pop_back()) torch.delete_library(libraries.back());
  });
  m.def("_set_small_slices", [](nb::handle bytes) { limit = number_in(bytes, "limit"); });
  m.def("_fail_small_slice", [](nb::handle message) { failure = read_str(message, "message"); });
  m.def("_guard_small_slice", [](nb::handle kernel, nb::handle fail) {
    return nb::cpp_function([kernel = nb::borrow(kernel), fail = nb::borrow(fail)](const nb::args& arguments) {
      return guarded(kernel, fail, arguments);
    });
  });
}

}  // namespace
}  // namespace small_slices

void bind_small_slices(nanobind::module_& m) { small_slices::bind_kernels(m); }

}  // namespace backslice::python
