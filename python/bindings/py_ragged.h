// RaggedTensor in Python.
#pragma once

#include <optional>

#include "bindings/ragged_values.h"

namespace backslice::python {

class PyRagged {
 public:
  PyRagged(RaggedTensor rt, ValueType type) : rt_(std::move(rt)), type_(std::move(type)) {}
  static PyRagged make(nb::handle values, nb::handle nested_row_splits);
  static PyRagged make(nb::handle values, nb::handle nested_row_splits, CallContext& call);

  // Returns a ragged tensor as a Python object; one of ragged rank 0 is an array.
  static nb::object to_python(RaggedTensor rt, const ValueType& type);

  const RaggedTensor& rt() const { return rt_; }
  const ValueType& type() const { return type_; }
  nb::object array() const;  // the dense tensor, if it is not ragged
  std::string device() const { return type_.place.is_cpu() ? "cpu" : to_string(type_.place.device); }
  PyRagged cpu() const;  // itself, or a copy on the CPU
  nb::object values() const { return values_to_python(rt_.values(), type_); }
  nb::tuple nested_row_splits() const;
  nb::tuple shape() const;
  std::int64_t size() const;
  nb::object to_list() const;
  nb::object get(nb::handle index) const;
  nb::object slice_grad(nb::handle index, nb::handle grad, nb::handle out, nb::handle accumulate) const;
  bool equals(nb::handle other) const;
  nb::object repr() const;

 private:
  // Returns the first rows, or their number if even those are long.
  std::string shown_rows() const;
  std::string shown_shape() const;

  Index read_items(nb::handle index) const;
  void wait_for_values() const;

  RaggedTensor rt_;
  ValueType type_;
};

// A RaggedTensor, or an array, which has ragged rank 0; resolved first and viewed later, like an ArrayArgument, during
// the call.
class RaggedArgument {
 public:
  RaggedArgument(nb::handle object, std::string name, CallContext& call);
  RaggedTensor tensor(ValueType& type) const;

 private:
  nb::object owner_;  // of the ragged tensor
  const PyRagged* ragged_;
  CallContext& call_;
  std::optional<ArrayArgument> array_;  // for arguments that are not ragged tensors
};

// VariantArray and the operations between it and RaggedTensor.
void bind_variant_arrays(nb::module_& m);

}  // namespace backslice::python
