// An input of a kernel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api.h"
#include "backslice/view.h"
#include "element_types.h"
#include "tensor_info.h"
#include "texts.h"

namespace backslice::onnxruntime {

/// An input tensor, or a missing one. `name` is its name in messages. Views of it are valid during its lifetime.
class Input {
 public:
  Input(const Api& api, const OrtValue* value, std::string name);
  Input(Input&&) = default;

  bool is_given() const { return value_ != nullptr; }
  const std::string& name() const { return name_; }
  int type() const { return info_.type(); }
  ElementType element_type() const;
  std::vector<std::int64_t> dims() const { return info_.dims(); }
  std::int64_t elements() const { return info_.elements(); }

  /// Returns the address of the elements, in row-major order.
  const void* data() const;

  /// Returns the elements, at most 32 axes. Elements that ONNX Runtime packs are unpacked.
  ConstView view();

  /// Returns the elements in row-major order, with a contiguous layout of the same number.
  ConstView view_as(const Layout& layout);

  /// Refuses tensors that are not 1-D.
  void check_list() const;

  /// Returns the elements of a 1-D list of int32 or int64.
  std::vector<std::int64_t> list() const;

  /// Returns the elements of an integer tensor of any shape, in row-major order.
  std::vector<std::int64_t> integers() const;

 private:
  const void* readable(ElementType type);

  Api api_;
  const OrtValue* value_;
  std::string name_;
  TensorInfo info_;
  std::vector<std::byte> unpacked_;
  Texts texts_;
};

}  // namespace backslice::onnxruntime
