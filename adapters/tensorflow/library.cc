// The kernels that stand in for TensorFlow's own, and the functions that backslice/tensorflow/library.py calls.
//
// TensorFlow keeps a kernel until the process ends. A switch inside these kernels selects, per call, the fast
// implementation or the plain one of reference.h. Nothing of C++ crosses the boundary to TensorFlow or to Python:
// TensorFlow and this library may have different C++ runtimes.
#include <array>
#include <atomic>
#include <string_view>

#include "core/boundary.h"
#include "data_types.h"
#include "multi_slice.h"
#include "slice_kernels.h"

#define BACKSLICE_TENSORFLOW_API extern "C" __attribute__((visibility("default")))

namespace backslice::tensorflow {
namespace {

std::atomic<bool> is_enabled = false;

// The number of calls by the plain implementation, by the fast one, and for nodes of self-tests.
using Counts = std::array<std::atomic<std::int64_t>, 3>;

template <class Kernel>
class Switched : public Kernel {
 public:
  explicit Switched(const Attributes& attributes) : Kernel(attributes), is_test_(attributes.has("_backslice_test")) {}

  void compute(Call& call) const {
    const bool is_fast = is_enabled.load(std::memory_order_relaxed);
    counts[is_test_ ? 2 : is_fast].fetch_add(1, std::memory_order_relaxed);
    Kernel::compute(call, is_fast);
  }

  static inline Counts counts = {};

 private:
  const bool is_test_;
};

struct Replacement {
  std::string_view op;
  std::string (*types)();
  void (*add)(const char* op, const std::string& types, const std::string& label);
  Counts& counts;
};

template <class Kernel>
Replacement replacement(const char* op, std::string (*types)()) {
  return {op, types, register_kernel<Switched<Kernel>>, Switched<Kernel>::counts};
}

const Replacement kReplacements[] = {
    replacement<StridedSliceGrad>("StridedSliceGrad", all_types),
    replacement<StridedSlice>("StridedSlice", types_without_strided_slice),
    replacement<SparseSlice>("SparseSlice", all_types),
    replacement<SparseSliceGrad>("SparseSliceGrad", all_types),
};

template <class Body>
Status status_of(const Body& body) {
  return without_throwing([&] { return body(), Status(); });
}

// Returns NULL if there was no error. The text is valid until the next call of this thread.
const char* reason(const Status& status) {
  thread_local std::string text;
  if (status.ok()) return nullptr;
  text = status.message();
  return text.c_str();
}

// Ops must be registered while TensorFlow loads the library, so that it makes Python functions for them.
const Status loaded = status_of(register_multi_slice);

}  // namespace

BACKSLICE_TENSORFLOW_API const char* backslice_tensorflow_load_error() { return reason(loaded); }

// Registers a kernel in front of TensorFlow's own, or under a label: see register_kernel. Once per op and label.
BACKSLICE_TENSORFLOW_API const char* backslice_tensorflow_register(const char* op, const char* label) {
  for (const Replacement& kernel : kReplacements)
    if (kernel.op == op) return reason(status_of([&] { kernel.add(op, kernel.types(), label); }));
  return "there is no kernel for this op";
}

// The fast implementations are off at first.
BACKSLICE_TENSORFLOW_API void backslice_tensorflow_enable(int is_fast) { is_enabled = is_fast != 0; }

// Returns the number of calls of an op, of one of the three kinds of Counts.
BACKSLICE_TENSORFLOW_API std::int64_t backslice_tensorflow_calls(const char* op, int kind) {
  for (const Replacement& kernel : kReplacements)
    if (kernel.op == op) return kernel.counts.at(static_cast<std::size_t>(kind));
  return 0;
}

}  // namespace backslice::tensorflow
