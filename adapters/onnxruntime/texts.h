// Tensors of strings, whose texts ONNX Runtime stores in a special form.
#pragma once

#include <cstdint>
#include <vector>

#include "api.h"

namespace backslice::onnxruntime {

/// Returns an element of DType::StringView.
struct StringView {
  const char* data;
  std::int64_t size;
};

/// Returns a copy of the texts of a tensor.
class Texts {
 public:
  Texts() = default;
  Texts(const Api& api, const OrtValue* value, std::int64_t count);

  const StringView* data() const { return views_.data(); }

 private:
  std::vector<char> characters_;
  std::vector<StringView> views_;
};

/// Sets the elements of a tensor whose strings are all empty.
void write_texts(const Api& api, const StringView* texts, std::int64_t count, OrtValue* value);

}  // namespace backslice::onnxruntime
