#include "strings.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace backslice::tensorflow {
namespace {

// The two lowest bits of the first byte say which of the forms it is; the size is in the bits above them.
enum Form : std::uint8_t { kSmall = 0, kLarge = 1, kOffset = 2, kView = 3 };

constexpr std::int64_t kSmallCapacity = 22;

union String {
  struct {
    std::uint8_t size;
    char text[23];
  } small;
  struct {
    std::uint64_t size, capacity;
    char* text;
  } large;
  struct {
    std::uint32_t size, offset, count;
  } offset;  // the text lies so many bytes after the string itself
  struct {
    std::uint64_t size;
    const char* text;
    void* owner;
  } view;
};
static_assert(sizeof(String) == 24);

StringView text_of(const String& string) {
  switch (string.small.size & 3) {
    case kSmall: return {string.small.text, string.small.size >> 2};
    case kLarge: return {string.large.text, static_cast<std::int64_t>(string.large.size >> 2)};
    case kOffset: return {reinterpret_cast<const char*>(&string) + string.offset.offset, string.offset.size >> 2};
    default: return {string.view.text, static_cast<std::int64_t>(string.view.size >> 2)};
  }
}

void write_small(StringView text, String& string) {
  string.small.size = static_cast<std::uint8_t>(text.size << 2);
  if (text.size > 0) std::memcpy(string.small.text, text.data, static_cast<std::size_t>(text.size));
  string.small.text[text.size] = '\0';
}

// TensorFlow frees the text of large strings with free().
void write_large(StringView text, String& string) {
  const auto size = static_cast<std::size_t>(text.size), capacity = (size + 16) / 16 * 16 - 1;
  auto* copy = static_cast<char*>(std::malloc(capacity + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data, size);
  copy[size] = '\0';
  string.large = {size << 2 | kLarge, capacity, copy};
}

}  // namespace

std::vector<StringView> read_strings(const void* strings, std::int64_t count) {
  const auto* first = static_cast<const String*>(strings);
  std::vector<StringView> texts;
  texts.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) texts.push_back(text_of(first[i]));
  return texts;
}

void write_strings(const StringView* texts, std::int64_t count, void* strings) {
  auto* first = static_cast<String*>(strings);
  for (std::int64_t i = 0; i < count; ++i)
    texts[i].size <= kSmallCapacity ? write_small(texts[i], first[i]) : write_large(texts[i], first[i]);
}

}  // namespace backslice::tensorflow
