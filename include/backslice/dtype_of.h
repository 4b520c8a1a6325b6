/// @file
/// dtype_of<T>: the DType of a C++ type, for views of ordinary memory and for reading elements back.
///
///     dtype_of<float>                  DType::Float32
///     dtype_of<std::complex<double>>   DType::Complex128
///     dtype_of<std::string>            DType::String
///
/// C++20 has no types for bfloat16, float8 and the like. A type of your own takes part once it is declared; its size
/// must be that of the dtype (any size for DType::Bytes):
///
///     template <>
///     struct backslice::DTypeOf<my::bfloat16> : backslice::DTypeConstant<backslice::DType::BFloat16> {};
#pragma once

#include <complex>
#include <concepts>
#include <string>
#include <type_traits>

#include "backslice/dtype.h"
#include "backslice/ints.h"

namespace backslice {

template <DType dtype>
using DTypeConstant = std::integral_constant<DType, dtype>;

/// The DType of T, as its member `value`. Types without one are not elements.
template <class T>
struct DTypeOf {};

namespace detail {

template <Integer T>
consteval DType integer_dtype() {
  constexpr bool kSigned = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return kSigned ? DType::Int8 : DType::UInt8;
  if constexpr (sizeof(T) == 2) return kSigned ? DType::Int16 : DType::UInt16;
  if constexpr (sizeof(T) == 4) return kSigned ? DType::Int32 : DType::UInt32;
  if constexpr (sizeof(T) == 8) return kSigned ? DType::Int64 : DType::UInt64;
}

}  // namespace detail

template <detail::Integer T>
struct DTypeOf<T> : DTypeConstant<detail::integer_dtype<T>()> {};
template <>
struct DTypeOf<bool> : DTypeConstant<DType::Bool> {};
template <>
struct DTypeOf<float> : DTypeConstant<DType::Float32> {};
template <>
struct DTypeOf<double> : DTypeConstant<DType::Float64> {};
template <>
struct DTypeOf<std::complex<float>> : DTypeConstant<DType::Complex64> {};
template <>
struct DTypeOf<std::complex<double>> : DTypeConstant<DType::Complex128> {};
template <>
struct DTypeOf<std::string> : DTypeConstant<DType::String> {};

/// A type that elements of a tensor can have; const makes no difference.
template <class T>
concept ElementType = requires {
  { DTypeOf<std::remove_cv_t<T>>::value } -> std::convertible_to<DType>;
};

/// The DType of T. A type without one does not compile.
template <ElementType T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

}  // namespace backslice
