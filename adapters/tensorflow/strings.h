// TensorFlow's strings, through the functions of its C interface that read and write them.
#pragma once

#include <cstdint>
#include <vector>

namespace backslice::tensorflow {

/// An element of DType::StringView.
struct StringView {
  const char* data;
  std::int64_t size;
};

/// Whether this TensorFlow has the functions. Precondition of the others.
bool has_string_functions();

/// Returns the texts of `count` strings, which stay TensorFlow's.
std::vector<StringView> read_strings(const void* strings, std::int64_t count);

/// Copies texts into `count` strings.
void write_strings(const StringView* texts, std::int64_t count, void* strings);

}  // namespace backslice::tensorflow
