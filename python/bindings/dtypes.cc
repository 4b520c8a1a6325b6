#include "bindings/dtypes.h"

#include <nanobind/stl/string.h>

#include <string>
#include <unordered_map>

#include "bindings/errors.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

// NumPy's numbers for the types of ml_dtypes, and the way back.
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

// The native types by kind and the logarithm of their size; Bytes where there is none.
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

// TensorFlow's quantised types: a structure of one field, named like the type.
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

[[noreturn]] void refuse(nb::handle dtype, const char* argument) {
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
    refuse(dtype, argument);
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
  refuse(dtype, argument);
}

nb::object numpy_dtype(nb::dlpack::dtype dtype, const char* argument) {
  using Code = nb::dlpack::dtype_code;
  const std::string bits = std::to_string(dtype.bits);
  std::string type_name;
  switch (static_cast<Code>(dtype.code)) {
    case Code::Int: type_name = "int" + bits; break;
    case Code::UInt: type_name = "uint" + bits; break;
    case Code::Float: type_name = "float" + bits; break;
    case Code::Complex: type_name = "complex" + bits; break;
    case Code::Bool: type_name = "bool"; break;
    case Code::Bfloat: type_name = "bfloat" + bits; break;
    case Code::Float8_E3M4: type_name = "float8_e3m4"; break;
    case Code::Float8_E4M3: type_name = "float8_e4m3"; break;
    case Code::Float8_E4M3B11FNUZ: type_name = "float8_e4m3b11fnuz"; break;
    case Code::Float8_E4M3FN: type_name = "float8_e4m3fn"; break;
    case Code::Float8_E4M3FNUZ: type_name = "float8_e4m3fnuz"; break;
    case Code::Float8_E5M2: type_name = "float8_e5m2"; break;
    case Code::Float8_E5M2FNUZ: type_name = "float8_e5m2fnuz"; break;
    case Code::Float8_E8M0FNU: type_name = "float8_e8m0fnu"; break;
    default: break;
  }
  const auto found = dtype_from_name(type_name);
  // Types of less than a byte are packed in DLPack, and one element per byte here.
  if (!found || dtype.bits != 8 * item_size(*found) || dtype.bits < 8 || dtype.lanes != 1) {
    raise_dtype_error(std::string(argument) + " has a DLPack type (code " + std::to_string(dtype.code) + ", " + bits +
                      " bits, " + std::to_string(dtype.lanes) + " lanes) that NumPy has no dtype for");
  }
  if (const auto number = number_of_ml_dtype.find(*found); number != number_of_ml_dtype.end()) {
    return nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number->second)));
  }
  return as_numpy_dtype(nb::str(type_name.c_str()));
}

}  // namespace backslice::python
