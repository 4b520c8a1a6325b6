#include "bindings/results.h"

#include "bindings/object_arrays.h"
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
  return is_object() ? new_object_array(std::move(tensor), zero_) : to_numpy(tensor, input_.numpy_dtype);
}

void ResultElements::fill_objects(const View& out, const std::function<Status(const View&)>& fill) const {
  move_objects(out, zero_, fill);
}

}  // namespace backslice::python
