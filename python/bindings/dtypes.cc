#include "bindings/dtypes.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "bindings/errors.h"
#include "bindings/module.h"
#include "bindings/neighbours.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

// NumPy's numbers for the types of ml_dtypes, and the inverse map.
std::unordered_map<int, DType> ml_dtype_of_number;
std::unordered_map<DType, int> number_of_ml_dtype;

bool is_ml_dtype(DType dtype) {
  switch (dtype) {
    case DType::Int1:
    case DType::Int2:
    case DType::Int4:
    case DType::UInt1:
    case DType::UInt2:
    case DType::UInt4:
    case DType::BFloat16: return true;
    default:
      return name(dtype).starts_with("float8") || name(dtype).starts_with("float6") ||
             name(dtype).starts_with("float4");
  }
}

// The native types by kind and logarithm of their size; Bytes for missing ones.
DType number_type(char kind, npy_intp size) {
  constexpr DType kNone = DType::Bytes;
  constexpr DType kSigned[] = {DType::Int8, DType::Int16, DType::Int32, DType::Int64, kNone};
  constexpr DType kUnsigned[] = {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64, kNone};
  constexpr DType kFloat[] = {kNone, DType::Float16, DType::Float32, DType::Float64, kNone};
  constexpr DType kComplex[] = {kNone, kNone, kNone, DType::Complex64, DType::Complex128};
  const int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : size == 16 ? 4 : -1;
  if (log < 0) return kNone;
  return (kind == 'i' ? kSigned : kind == 'u' ? kUnsigned : kind == 'f' ? kFloat : kComplex)[log];
}

// TensorFlow's quantised types: a struct with one field, named like the type.
std::optional<DType> quantised_type(nb::handle dtype) {
  const nb::object names = dtype.attr("names");
  if (names.is_none() || nb::len(names) != 1) return std::nullopt;
  const nb::object field = names[0];
  const auto text = utf8_of(field);
  if (!text || !(text->starts_with("qint") || text->starts_with("quint"))) return std::nullopt;
  const auto found = dtype_from_name(*text);
  if (!found) return std::nullopt;
  const nb::object stored = new_str(text->substr(1));  // qint8 holds an int8
  if (!dtype[field].equal(as_numpy_dtype(stored))) return std::nullopt;
  if (nb::cast<long>(dtype.attr("itemsize")) != item_size(*found)) return std::nullopt;
  return found;
}

// The dtypes with DLPack codes. DLPack packs types of less than a byte; here each element takes one byte.
struct DlpackType {
  nb::dlpack::dtype_code code;
  DType dtype;
};
using Code = nb::dlpack::dtype_code;
constexpr DlpackType kDlpackTypes[] = {
    {Code::Bool, DType::Bool},
    {Code::Int, DType::Int8},
    {Code::Int, DType::Int16},
    {Code::Int, DType::Int32},
    {Code::Int, DType::Int64},
    {Code::UInt, DType::UInt8},
    {Code::UInt, DType::UInt16},
    {Code::UInt, DType::UInt32},
    {Code::UInt, DType::UInt64},
    {Code::Float, DType::Float16},
    {Code::Float, DType::Float32},
    {Code::Float, DType::Float64},
    {Code::Bfloat, DType::BFloat16},
    {Code::Complex, DType::Complex64},
    {Code::Complex, DType::Complex128},
    {Code::Float8_E3M4, DType::Float8E3M4},
    {Code::Float8_E4M3, DType::Float8E4M3},
    {Code::Float8_E4M3B11FNUZ, DType::Float8E4M3B11FNUZ},
    {Code::Float8_E4M3FN, DType::Float8E4M3FN},
    {Code::Float8_E4M3FNUZ, DType::Float8E4M3FNUZ},
    {Code::Float8_E5M2, DType::Float8E5M2},
    {Code::Float8_E5M2FNUZ, DType::Float8E5M2FNUZ},
    {Code::Float8_E8M0FNU, DType::Float8E8M0FNU},
};

[[noreturn]] void refuse_dtype(nb::handle dtype, const char* argument) {
  raise_dtype_error(std::string(argument) + " has dtype " + str_text(dtype) +
                    ", which backslice does not move; it moves bool, integers, floats to 64 bits and complex to 128, "
                    "the types of ml_dtypes, TensorFlow's quantised types, S, U, and objects that are all str or "
                    "all bytes");
}

}  // namespace

nb::object as_numpy_dtype(nb::handle object) {
  try {
    return call(reinterpret_cast<PyObject*>(&PyArrayDescr_Type), object);
  } catch (const nb::python_error& e) {
    // NumPy does not know the dtypes of other libraries.
    if (const nb::object known = find_numpy_name(object); known.is_valid()) return as_numpy_dtype(known);
    raise_dtype_error("dtype is " + repr_text(object) + ", which NumPy does not know: " + message_of(e));
  }
}

void learn_ml_dtypes() {
  const nb::object ml_dtypes = nb::module_::import_("ml_dtypes");
  for (DType dtype : all_dtypes()) {
    if (!is_ml_dtype(dtype)) continue;
    const std::string type_name(name(dtype));
    if (!nb::hasattr(ml_dtypes, type_name.c_str())) continue;  // an older ml_dtypes has fewer
    const int number = nb::cast<int>(as_numpy_dtype(ml_dtypes.attr(type_name.c_str())).attr("num"));
    ml_dtype_of_number[number] = dtype;
    number_of_ml_dtype[dtype] = number;
  }
}

ElementType element_type(nb::handle dtype, const char* argument) {
  const auto* descr = reinterpret_cast<PyArray_Descr*>(dtype.ptr());
  const npy_intp size = PyDataType_ELSIZE(descr);
  if (descr->type_num >= NPY_USERDEF) {
    const auto found = ml_dtype_of_number.find(descr->type_num);
    if (found != ml_dtype_of_number.end()) return {found->second, size};
    refuse_dtype(dtype, argument);
  }
  switch (descr->kind) {
    case 'b': return {DType::Bool, size};
    case 'i':
    case 'u':
    case 'f':
    case 'c': {
      const DType number = number_type(descr->kind, size);
      if (number == DType::Bytes) break;
      return {PyArray_ISNBO(descr->byteorder) ? number : DType::Bytes, size};
    }
    case 'S':
    case 'U': return {DType::Bytes, size};
    case 'O': return {DType::Bytes, size, true};
    case 'V':
      if (const auto quantised = quantised_type(dtype)) return {*quantised, size};
      break;
    default: break;
  }
  refuse_dtype(dtype, argument);
}

nb::object numpy_dtype(nb::dlpack::dtype dtype, const char* argument) {
  const auto is_same = [&](const DlpackType& type) {
    return static_cast<int>(type.code) == dtype.code && dtype.bits == 8 * item_size(type.dtype) && dtype.lanes == 1;
  };
  const auto* found = std::find_if(std::begin(kDlpackTypes), std::end(kDlpackTypes), is_same);
  if (found == std::end(kDlpackTypes)) {
    raise_dtype_error(std::string(argument) + " has a DLPack type (code " + std::to_string(dtype.code) + ", " +
                      std::to_string(dtype.bits) + " bits, " + std::to_string(dtype.lanes) +
                      " lanes) that NumPy has no dtype for");
  }
  if (const auto number = number_of_ml_dtype.find(found->dtype); number != number_of_ml_dtype.end()) {
    return nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number->second)));
  }
  return as_numpy_dtype(new_str(name(found->dtype)));
}

std::optional<nb::dlpack::dtype> dlpack_dtype(DType dtype) {
  for (const DlpackType& type : kDlpackTypes) {
    if (type.dtype != dtype) continue;
    return nb::dlpack::dtype{static_cast<std::uint8_t>(type.code), static_cast<std::uint8_t>(8 * item_size(dtype)), 1};
  }
  return std::nullopt;
}

void bind_dtypes(nb::module_& m) { m.def("_numpy_dtype", as_numpy_dtype); }

}  // namespace backslice::python
