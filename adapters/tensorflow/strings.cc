#include "strings.h"

#include <dlfcn.h>

#include <cstddef>

namespace backslice::tensorflow {
namespace {

struct alignas(8) String {  // TF_TString
  std::byte opaque[24];
};

// In the larger of TensorFlow's two libraries, which older wheels do not have under this name.
template <class Function>
Function* string_function(const char* name) {
  for (const char* library : {"libtensorflow_cc.so.2", "libtensorflow_framework.so.2"}) {
    void* const handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) continue;
    if (void* const found = dlsym(handle, name)) return reinterpret_cast<Function*>(found);
  }
  return nullptr;
}

struct StringFunctions {
  const char* (*data)(const String*) = string_function<const char*(const String*)>("TF_StringGetDataPointer");
  std::size_t (*size)(const String*) = string_function<std::size_t(const String*)>("TF_StringGetSize");
  void (*copy)(String*, const char*,
               std::size_t) = string_function<void(String*, const char*, std::size_t)>("TF_StringCopy");
};

const StringFunctions& string_functions() {
  static const StringFunctions functions;
  return functions;
}

}  // namespace

bool has_string_functions() {
  const StringFunctions& functions = string_functions();
  return functions.data != nullptr && functions.size != nullptr && functions.copy != nullptr;
}

std::vector<StringView> read_strings(const void* strings, std::int64_t count) {
  const StringFunctions& functions = string_functions();
  std::vector<StringView> texts;
  texts.reserve(static_cast<std::size_t>(count));
  for (const auto* string = static_cast<const String*>(strings); count > 0; --count, ++string)
    texts.push_back({functions.data(string), static_cast<std::int64_t>(functions.size(string))});
  return texts;
}

void write_strings(const StringView* texts, std::int64_t count, void* strings) {
  for (auto* string = static_cast<String*>(strings); count > 0; --count, ++string, ++texts)
    string_functions().copy(string, texts->data, static_cast<std::size_t>(texts->size));
}

}  // namespace backslice::tensorflow
