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

/// An input tensor, or one that was left out. `name` is what messages call it. Views of it hold as long as it does.
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

  /// Where ONNX Runtime holds the elements, in row-major order.
  const void* data() const;

  /// The elements, at most 32 axes of them. Those that ONNX Runtime packs are unpacked.
  ConstView view();

  /// The elements in row-major order, with a contiguous layout of as many.
  ConstView view_as(const Layout& layout);

  /// Refuses what is no list: 1-D.
  void check_list() const;

  /// The elements of a list, 1-D, of int32 or int64.
  std::vector<std::int64_t> list() const;

  /// The elements of an integer tensor of any shape, in row-major order.
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
