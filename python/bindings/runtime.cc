// Threads, the memory pool and SIMD targets.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <limits>

#include "backslice/buffer_pool.h"
#include "backslice/executor.h"
#include "backslice/targets.h"
#include "bindings/arguments.h"
#include "bindings/array_argument.h"
#include "bindings/arrays.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/module.h"
#include "bindings/output_argument.h"
#include "execute/environment.h"
#include "kernels/cpu/targets.h"
#include "memory_probe.h"

namespace backslice::python {
namespace {

std::int64_t read_count(nb::handle object, const char* argument) {
  int overflow = 0;
  return require_int(object, argument, overflow);
}

void py_set_num_threads(nb::handle threads) {
  const std::int64_t count = read_count(threads, "threads");
  constexpr std::int64_t kMost = 4096;
  if (count > kMost) raise_invalid_argument("threads is " + repr_text(threads) + ", at most 4096 are supported");
  check(set_num_threads(static_cast<int>(std::max<std::int64_t>(count, -1))));
}

nb::dict py_pool_stats() {
  const PoolStats stats = pool_stats();
  nb::dict dict;
  dict["bytes_in_use"] = stats.bytes_in_use;
  dict["bytes_kept"] = stats.bytes_kept;
  dict["limit"] = stats.limit;
  dict["mapped"] = stats.mapped;
  dict["reused"] = stats.reused;
  return dict;
}

nb::list py_environment_problems() {
  nb::list problems;
  for (const Status& status : {check_num_threads_variable(), check_target_variable()}) {
    if (!status.ok()) problems.append(new_str(status.message()));
  }
  return problems;
}

// Returns the bytes of a contiguous array, or refuses it.
std::int64_t bytes_of(const ConstView& view, const char* argument) {
  if (view.layout != contiguous_layout(view.shape(), view.layout.item_size)) {
    raise_invalid_argument(std::string(argument) + " has gaps or another order; expected a C-contiguous array");
  }
  return view.elements() * view.layout.item_size;
}

// Zeroes dst if src is None, otherwise copies src to it; if dst is None, only reads src.
void py_probe_memory(nb::handle dst, nb::handle src, nb::handle streaming) {
  if (dst.is_none()) {
    const InputArray from = ArrayArgument(src, "src").view();
    const std::int64_t bytes = bytes_of(from.view, "src");
    without_gil([&] { return probe_read(from.view.data, bytes); });
    return;
  }
  const ArrayArgument to_given(dst, "dst"), from_given(src.is_none() ? dst : src, "src");
  const OutputArgument output(dst);
  const InputArray to = to_given.view(), from = from_given.view();
  const View out = output.view(to, "dst");
  const ProbeStores stores = read_flag(streaming, "streaming") ? ProbeStores::Streaming : ProbeStores::Ordinary;
  const std::int64_t bytes = bytes_of(out, "dst");
  if (src.is_none()) return without_gil([&] { probe_zero(out.data, bytes, stores); });
  if (bytes_of(from.view, "src") != bytes) raise_invalid_argument("src must be as large as dst");
  without_gil([&] { probe_copy(out.data, from.view.data, bytes, stores); });
}

// Returns uninitialised memory from the allocator of results.
nb::object py_uninitialised(nb::handle shape, nb::handle like) {
  const auto dims = read_shape(shape, "shape");
  const InputArray input = ArrayArgument(like, "like").view();
  if (input.type.is_object) raise_dtype_error("like holds objects, which must not be uninitialised");
  const Shape made = unwrap(Shape::make(dims));
  return to_numpy(unwrap(Tensor::make(input.type.dtype, made, input.type.item_size, Contents::Uninitialised)),
                  input.numpy_dtype);
}

}  // namespace

void bind_runtime(nb::module_& m) {
  m.def("set_num_threads", py_set_num_threads);
  m.def("get_num_threads", [] { return num_threads(); });
  m.def("_set_serial", [](nb::handle serial) { return set_serial(read_flag(serial, "serial")); });
  m.def("_uninitialised", py_uninitialised);
  m.def("pool_stats", py_pool_stats);
  m.def("set_pool_limit", [](nb::handle bytes) { check(set_pool_limit(read_count(bytes, "bytes"))); });
  m.def("trim_pool", [] { trim_pool(); });
  m.def("probe_memory", py_probe_memory);
  m.def("simd_targets", [] {
    nb::list names;
    for (const std::string& name : simd_targets()) names.append(name);
    return names;
  });
  m.def("simd_target", [] { return simd_target(); });
  m.def("environment_problems", py_environment_problems);
}

}  // namespace backslice::python
