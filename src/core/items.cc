#include "core/items.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "core/visit_dtype.h"

namespace backslice {
namespace {

struct Bytes {
  static std::size_t size(std::int64_t count, std::int64_t item_size) {
    return static_cast<std::size_t>(count * item_size);
  }
  static void copy(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t item_size) {
    if (count > 0) std::memcpy(dst, src, size(count, item_size));
  }
  static void move(std::byte* dst, std::byte* src, std::int64_t count, std::int64_t item_size) noexcept {
    copy(dst, src, count, item_size);
  }
  static void zero(std::byte* dst, std::int64_t count, std::int64_t item_size) noexcept {
    if (count > 0) std::memset(dst, 0, size(count, item_size));
  }
  static bool equal(const std::byte* a, const std::byte* b, std::int64_t count, std::int64_t item_size) noexcept {
    return std::equal(a, a + count * item_size, b);
  }
};

struct Strings {
  static std::string* at(std::byte* items) { return reinterpret_cast<std::string*>(items); }
  static const std::string* at(const std::byte* items) { return reinterpret_cast<const std::string*>(items); }

  static void copy(std::byte* dst, const std::byte* src, std::int64_t count, std::int64_t) {
    std::copy_n(at(src), count, at(dst));
  }
  static void move(std::byte* dst, std::byte* src, std::int64_t count, std::int64_t) noexcept {
    std::move(at(src), at(src) + count, at(dst));
  }
  static void zero(std::byte* dst, std::int64_t count, std::int64_t) noexcept {
    std::for_each_n(at(dst), count, [](std::string& s) { s.clear(); });
  }
  static bool equal(const std::byte* a, const std::byte* b, std::int64_t count, std::int64_t) noexcept {
    return std::equal(at(a), at(a) + count, at(b));
  }
  static void construct(std::byte* items, std::int64_t count) {
    std::uninitialized_value_construct_n(at(items), count);
  }
  static void destroy(std::byte* items, std::int64_t count) noexcept { std::destroy_n(at(items), count); }
};

template <class T>
void add_items(std::byte* sum, const std::byte* term, std::int64_t count) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < count * kSize; i += kSize) {
    T a, b;
    std::memcpy(&a, sum + i, sizeof(T));
    std::memcpy(&b, term + i, sizeof(T));
    a = a + b;
    std::memcpy(sum + i, &a, sizeof(T));
  }
}

// Formats of less than 16 bits, which no processor adds: their bits are unpacked and packed again.
bool is_added_bit_by_bit(DType dtype) {
  return can_add(dtype) && item_size(dtype) == 1 && dtype != DType::Int8 && dtype != DType::UInt8;
}

ItemOperations make_operations(DType dtype) {
  if (dtype == DType::String) {
    return {Strings::copy,
            Strings::move,
            Strings::zero,
            Strings::equal,
            nullptr,
            Strings::construct,
            Strings::destroy,
            alignof(std::string),
            1};
  }
  ItemOperations bytes{Bytes::copy, Bytes::move, Bytes::zero, Bytes::equal, nullptr, nullptr, nullptr, 1, 1};
  if (is_added_bit_by_bit(dtype)) bytes.addition_work = 32;
  if (can_add(dtype)) visit_addable(dtype, [&]<class T>() { bytes.add = add_items<T>; });
  return bytes;
}

constexpr auto kDTypes = static_cast<std::size_t>(DType::StringView) + 1;

std::array<ItemOperations, kDTypes> make_table() {
  std::array<ItemOperations, kDTypes> table{};
  for (DType dtype : all_dtypes()) table[static_cast<std::size_t>(dtype)] = make_operations(dtype);
  return table;
}

}  // namespace

const ItemOperations& operations_of(DType dtype) {
  static const auto table = make_table();
  return table[static_cast<std::size_t>(is_element_type(dtype) ? dtype : DType::Bytes)];
}

}  // namespace backslice
