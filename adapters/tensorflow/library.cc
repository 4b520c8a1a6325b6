// What backslice/tensorflow/library.py calls. Functions that can fail return why, and NULL where they did not; the text
// holds until the next call of this thread.
#include "core/boundary.h"
#include "data_types.h"
#include "kernel_registry.h"
#include "multi_slice.h"
#include "replacements.h"

namespace {

using namespace backslice;

const char* said(const Status& status) {
  thread_local std::string text;
  if (status.ok()) return nullptr;
  text = status.message();
  return text.c_str();
}

// Ops must be registered while TensorFlow loads the library, so that it makes Python functions for them.
const Status multi_slice = without_throwing(tensorflow::register_multi_slice);

}  // namespace

#define BACKSLICE_TENSORFLOW_API extern "C" __attribute__((visibility("default")))

BACKSLICE_TENSORFLOW_API const char* backslice_tensorflow_load_error() { return said(multi_slice); }

BACKSLICE_TENSORFLOW_API const char* backslice_tensorflow_install() {
  return said(without_throwing(tensorflow::install));
}

BACKSLICE_TENSORFLOW_API const char* backslice_tensorflow_uninstall() {
  return said(without_throwing(tensorflow::uninstall));
}

BACKSLICE_TENSORFLOW_API int backslice_tensorflow_is_installed() { return tensorflow::is_installed(); }

// The name of the kernel that TensorFlow takes for an op and a type, "" where it does not tell.
BACKSLICE_TENSORFLOW_API const char* backslice_tensorflow_kernel_in_use(const char* op, int type) try {
  thread_local std::string name;
  const Result<tensorflow::KernelInUse> kernel = tensorflow::kernel_in_use(op, type);
  name = kernel ? kernel->class_name : "";
  return name.c_str();
} catch (...) {
  return "";
}
