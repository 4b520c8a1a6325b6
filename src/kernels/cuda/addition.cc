#include "kernels/cuda/addition.h"

#include <cassert>
#include <complex>

#include "core/visit_dtype.h"

namespace backslice::cuda {
namespace {

template <class T>
struct AdditionOf;

template <class Storage, int kBits>
struct AdditionOf<Wrapping<Storage, kBits>> {
  static Addition make() {
    // Narrow integers take a byte each.
    std::uint64_t mask = ~0ull;
    if (kBits < 8) mask = 0x0101010101010101u * ((1u << kBits) - 1);
    return {.kind = Addition::Kind::Wrapping, .width = sizeof(Storage), .mask = mask};
  }
};

template <FloatFormat kFormat>
struct AdditionOf<SmallFloat<kFormat>> {
  static Addition make() { return {.kind = Addition::Kind::SmallFloat, .width = 1, .format = kFormat}; }
};

}  // namespace

Addition addition_of(DType dtype) {
  using Kind = Addition::Kind;
  switch (dtype) {
    case DType::Float16: return {.kind = Kind::Float16, .width = 2};
    case DType::BFloat16: return {.kind = Kind::BFloat16, .width = 2};
    case DType::Float32:
    case DType::Complex64: return {.kind = Kind::Float32, .width = 4};
    case DType::Float64:
    case DType::Complex128: return {.kind = Kind::Float64, .width = 8};
    case DType::Float8E8M0FNU: return {.kind = Kind::PowerOfTwo, .width = 1};
    default: break;
  }
  Addition addition;
  visit_addable(dtype, [&]<class T>() {
    if constexpr (requires { AdditionOf<T>::make(); }) addition = AdditionOf<T>::make();
  });
  return addition;
}

}  // namespace backslice::cuda
