// Turns a DType at run time into a C++ type at compile time. Only addition needs it.
//
//     visit_addable(dtype, []<class T>() { ... T a, b; a + b ... });
//
// Every T here is trivially copyable and has an operator+ that follows the rule on sums: integers wrap, small floats
// add in float32 and round to nearest even.
#pragma once

#include <cassert>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "backslice/dtype.h"
#include "core/small_float.h"

namespace backslice {

// An integer of kBits that wraps, in the low bits of Storage. Its sign makes no difference to the sum.
template <class Storage, int kBits = 8 * sizeof(Storage)>
struct Wrapping {
  Storage value;

  friend Wrapping operator+(Wrapping a, Wrapping b) {
    constexpr auto kMask = static_cast<Storage>(static_cast<Storage>(~Storage{0}) >> (8 * sizeof(Storage) - kBits));
    return {static_cast<Storage>((a.value + b.value) & kMask)};
  }
};

// Precondition: can_add(dtype).
template <class Visitor>
void visit_addable(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::Int1:
    case DType::UInt1: return visitor.template operator()<Wrapping<std::uint8_t, 1>>();
    case DType::Int2:
    case DType::UInt2: return visitor.template operator()<Wrapping<std::uint8_t, 2>>();
    case DType::Int4:
    case DType::UInt4: return visitor.template operator()<Wrapping<std::uint8_t, 4>>();
    case DType::Int8:
    case DType::UInt8: return visitor.template operator()<Wrapping<std::uint8_t>>();
    case DType::Int16:
    case DType::UInt16: return visitor.template operator()<Wrapping<std::uint16_t>>();
    case DType::Int32:
    case DType::UInt32: return visitor.template operator()<Wrapping<std::uint32_t>>();
    case DType::Int64:
    case DType::UInt64: return visitor.template operator()<Wrapping<std::uint64_t>>();
    case DType::Float16: return visitor.template operator()<Float16>();
    case DType::BFloat16: return visitor.template operator()<BFloat16>();
    case DType::Float32: return visitor.template operator()<float>();
    case DType::Float64: return visitor.template operator()<double>();
    case DType::Float8E3M4: return visitor.template operator()<Float8E3M4>();
    case DType::Float8E4M3: return visitor.template operator()<Float8E4M3>();
    case DType::Float8E4M3B11FNUZ: return visitor.template operator()<Float8E4M3B11FNUZ>();
    case DType::Float8E4M3FN: return visitor.template operator()<Float8E4M3FN>();
    case DType::Float8E4M3FNUZ: return visitor.template operator()<Float8E4M3FNUZ>();
    case DType::Float8E5M2: return visitor.template operator()<Float8E5M2>();
    case DType::Float8E5M2FNUZ: return visitor.template operator()<Float8E5M2FNUZ>();
    case DType::Float8E8M0FNU: return visitor.template operator()<Float8E8M0FNU>();
    case DType::Float6E2M3FN: return visitor.template operator()<Float6E2M3FN>();
    case DType::Float6E3M2FN: return visitor.template operator()<Float6E3M2FN>();
    case DType::Float4E2M1FN: return visitor.template operator()<Float4E2M1FN>();
    case DType::Complex64: return visitor.template operator()<std::complex<float>>();
    case DType::Complex128: return visitor.template operator()<std::complex<double>>();
    case DType::Bool:
    case DType::QInt8:
    case DType::QUInt8:
    case DType::QInt16:
    case DType::QUInt16:
    case DType::QInt32:
    case DType::String:
    case DType::Bytes:
    case DType::StringView: break;
  }
  assert(false && "a dtype that cannot be added");
}

}  // namespace backslice
