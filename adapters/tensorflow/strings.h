// TensorFlow's strings: 24 bytes each, which hold the text or say where it is.
#pragma once

#include <cstdint>
#include <vector>

namespace backslice::tensorflow {

/// An element of DType::StringView.
struct StringView {
  const char* data;
  std::int64_t size;
};

/// Where the texts of `count` strings of TensorFlow's are.
std::vector<StringView> read_strings(const void* strings, std::int64_t count);

/// Copies texts into `count` strings of TensorFlow's that are empty so far. Throws std::bad_alloc.
void write_strings(const StringView* texts, std::int64_t count, void* strings);

}  // namespace backslice::tensorflow
