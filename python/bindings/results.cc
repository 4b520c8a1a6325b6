#include "bindings/results.h"

#include "bindings/index.h"
#include "bindings/known_tensors.h"
#include "bindings/object_arrays.h"
#include "bindings/objects.h"
#include "bindings/package.h"
#include "core/errors.h"

namespace backslice::python {

Status in_numpy_terms(Status status, nb::handle numpy_dtype) {
  if (!status.is_about_dtype()) return status;
  std::string message(status.message());
  for (const DType own : {DType::Bytes, DType::String}) {
    const std::string known = "dtype " + std::string(name(own));
    if (const std::size_t at = message.find(known); at != std::string::npos) {
      return dtype_error(message.replace(at, known.size(), "dtype " + str_text(numpy_dtype)));
    }
  }
  return status;
}

ResultElements::ResultElements(const InputArray& input, const char* argument) : input_(input), argument_(argument) {
  if (is_object()) zero_ = empty_string_of(input, argument);
}

nb::object ResultElements::new_array(Tensor tensor) const {
  if (is_on_device()) return input_.on_device.call->device_array(tensor, input_.numpy_dtype);
  return is_object() ? new_object_array(std::move(tensor), zero_) : to_numpy(tensor, input_.numpy_dtype);
}

nb::object ResultElements::quickly_made(const Shape* shape, View& view) const {
  return shape == nullptr ? nb::object() : new_known_tensor(input_.on_device.array, input_.view, *shape, view);
}

nb::object ResultElements::new_device_array(const Shape& shape) const {
  return call_with(registered("new_cuda_array"), nb::make_tuple(input_.on_device.array, to_tuple(shape)));
}

// Writing to it needs only the call's stream, which is the library's current one.
OutputArgument ResultElements::device_output(nb::handle array) const {
  return OutputArgument(array, input_.on_device.call);
}

void ResultElements::finish(const CallContext* call) {
  if (call != nullptr && call->waits()) python::check(without_gil([&] { return call->finish(); }));
}

void ResultElements::fill_objects(const View& out, const std::function<Status(const View&)>& fill) const {
  move_objects(out, zero_, fill);
}

}  // namespace backslice::python
