// Elements as plain values, for the models: a tensor is a list of strings of bytes in row-major order.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backslice/selection.h"
#include "core/visit_dtype.h"
#include "fuzz/input.h"
#include "fuzz/place.h"

namespace backslice::fuzz {

using Value = std::string;  // the bytes of an element, or the string it is
using Values = std::vector<Value>;

// Calls body(index) for every index of the shape, in row-major order.
template <class Body>
void for_each_index(Ints shape, const Body& body) {
  Numbers index(shape.size(), 0);
  if (std::ranges::count(shape, 0) > 0) return;
  while (true) {
    body(std::as_const(index));
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

inline std::int64_t offset_of(const Layout& layout, const Numbers& index) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * layout.strides[static_cast<int>(i)];
  return offset;
}

inline Value load(const std::byte* p, DType dtype, std::int64_t item_size) {
  if (dtype == DType::String) return *reinterpret_cast<const std::string*>(p);
  return Value(reinterpret_cast<const char*>(p), static_cast<std::size_t>(item_size));
}

inline Values values_of(const ConstView& tensor) {
  const OnCpu on_cpu(tensor);
  const ConstView& view = on_cpu.view();
  Values values;
  for_each_index(view.shape(), [&](const Numbers& index) {
    values.push_back(load(view.data + offset_of(view.layout, index), view.dtype, view.layout.item_size));
  });
  return values;
}

inline Value zero(DType dtype, std::int64_t item_size) {
  return dtype == DType::String ? Value() : Value(static_cast<std::size_t>(item_size), '\0');
}

// Precondition: can_add(dtype).
inline Value sum(DType dtype, const Value& a, const Value& b) {
  Value result = a;
  visit_addable(dtype, [&]<class T>() {
    T x, y;
    std::memcpy(&x, a.data(), sizeof(T));
    std::memcpy(&y, b.data(), sizeof(T));
    x = x + y;
    std::memcpy(result.data(), &x, sizeof(T));
  });
  return result;
}

template <class T>
bool is_nan(const T&) {
  return false;
}
inline bool is_nan(float value) { return value != value; }
inline bool is_nan(double value) { return value != value; }
template <FloatFormat kFormat>
bool is_nan(SmallFloat<kFormat> value) {
  return is_nan(decode(value.bits, kFormat));
}

// Returns the meaningful bits of an element. In types of less than a byte, the other bits are undefined.
inline std::uint8_t used_bits(DType dtype) {
  switch (dtype) {
    case DType::Int1:
    case DType::UInt1: return 0x01;
    case DType::Int2:
    case DType::UInt2: return 0x03;
    case DType::Int4:
    case DType::UInt4:
    case DType::Float4E2M1FN: return 0x0f;
    case DType::Float6E2M3FN:
    case DType::Float6E3M2FN: return 0x3f;
    default: return 0xff;
  }
}

// Compares numbers bit for bit. All NaNs are equal, since the NaN of a sum depends on the order of addition.
template <class T>
bool same_number(DType dtype, const char* a, const char* b) {
  if (std::memcmp(a, b, sizeof(T)) == 0) return true;
  T x, y;
  std::memcpy(&x, a, sizeof(T));
  std::memcpy(&y, b, sizeof(T));
  if (is_nan(x) && is_nan(y)) return true;
  return sizeof(T) == 1 && ((*a ^ *b) & used_bits(dtype)) == 0;
}

inline bool same(DType dtype, const Value& a, const Value& b) {
  if (a == b) return true;
  if (a.size() != b.size() || !can_add(dtype)) return false;
  bool equal = false;
  visit_addable(dtype, [&]<class T>() {
    if constexpr (requires { typename T::value_type; }) {  // complex: compare both numbers
      using Part = typename T::value_type;
      equal = same_number<Part>(dtype, a.data(), b.data()) &&
              same_number<Part>(dtype, a.data() + sizeof(Part), b.data() + sizeof(Part));
    } else {
      equal = same_number<T>(dtype, a.data(), b.data());
    }
  });
  return equal;
}

inline bool same(DType dtype, const Values& a, const Values& b) {
  return std::ranges::equal(a, b, [&](const Value& x, const Value& y) { return same(dtype, x, y); });
}

// Returns the flat positions that a selection selects, in the order of its result.
inline Numbers positions(const Selection& s) {
  if (s.result_shape().elements() == 0) return {};
  Numbers weights(static_cast<std::size_t>(s.shape().rank()) + 1, 1);  // the weight of one step along each axis
  std::int64_t first = 0;
  for (int i = s.shape().rank(); i-- > 0;) {
    const auto at = static_cast<std::size_t>(i);
    first += s.axis(i).start * weights[at + 1];
    weights[at] = weights[at + 1] * s.shape()[i];
  }
  Numbers list;
  for_each_index(s.result_shape(), [&](const Numbers& index) {
    std::int64_t flat = first;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t axis = s.result_axes()[i];
      if (axis == Selection::kNewAxis) continue;
      flat += index[i] * s.axis(static_cast<int>(axis)).step * weights[static_cast<std::size_t>(axis) + 1];
    }
    list.push_back(flat);
  });
  return list;
}

// Returns a selection of this shape; the whole of it if the input's index is invalid.
inline Selection any_selection(Input& in, const Numbers& shape) {
  auto selection = Selection::from_index(shape, in.index(shape));
  return selection.ok() ? *selection : Selection::all(*Shape::make(shape));
}

}  // namespace backslice::fuzz
