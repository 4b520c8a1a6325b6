#include "texts.h"

#include <cstring>

namespace backslice::onnxruntime {

Texts::Texts(const Api& api, const OrtValue* value, std::int64_t count) {
  if (count == 0) return;
  const auto strings = static_cast<std::size_t>(count);
  std::size_t size = 0;
  api.require(slots::kGetStringTensorDataLength, value, &size);
  characters_.resize(size + 1);  // never null, even if all texts are empty
  std::vector<std::size_t> offsets(strings);
  api.require(slots::kGetStringTensorContent, value, characters_.data(), size, offsets.data(), strings);
  offsets.push_back(size);
  views_.reserve(strings);
  for (std::size_t i = 0; i < strings; ++i) {
    views_.push_back({characters_.data() + offsets[i], static_cast<std::int64_t>(offsets[i + 1] - offsets[i])});
  }
}

void write_texts(const Api& api, const StringView* texts, std::int64_t count, OrtValue* value) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (texts[i].size == 0) continue;
    const auto size = static_cast<std::size_t>(texts[i].size);
    char* text = nullptr;
    api.require(slots::kResizeStringElement, value, static_cast<std::size_t>(i), size, &text);
    std::memcpy(text, texts[i].data, size);
  }
}

}  // namespace backslice::onnxruntime
