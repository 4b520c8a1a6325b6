#include "bindings/arguments.h"

#include <algorithm>
#include <limits>
#include <span>

#include "bindings/errors.h"
#include "bindings/interruption.h"
#include "bindings/neighbours.h"

namespace backslice::python {
namespace {

std::string dtype_name(PyArray_Descr* dtype) { return str_text(reinterpret_cast<PyObject*>(dtype)); }

[[noreturn]] void refuse_rank(const char* argument, nb::handle shape) {
  raise_invalid_argument(std::string(argument) + " must be 1-D, got " + argument + ".shape = " + repr_text(shape));
}

std::int64_t read_item(nb::handle item, const char* argument, std::size_t position) {
  const auto where = [&] { return std::string(argument) + "[" + std::to_string(position) + "]"; };
  std::int64_t value = 0;
  int overflow = 0;
  if (!read_int(item, argument, value, overflow)) {
    if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
      raise_invalid_argument(std::string(argument) + " must be 1-D, but " + where() + " is a " + type_text(item));
    }
    raise_dtype_error(where() + " is " + repr_text(item) + ", expected an int");
  }
  if (overflow != 0) raise_invalid_argument(where() + " is " + repr_text(item) + ", which does not fit int64");
  return value;
}

std::vector<std::int64_t> read_items(nb::handle sequence, const char* argument) {
  const nb::object items = items_of(sequence);  // an item's __index__ may change the list
  std::vector<std::int64_t> list;
  list.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(items.ptr())));
  LongLoop loop;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
    loop.step();
    list.push_back(read_item(PyTuple_GET_ITEM(items.ptr(), i), argument, list.size()));
  }
  return list;
}

// Reads a tuple of plain ints, the usual shape, into an empty list. Returns false for everything else, which may run
// users' code.
bool find_small_ints(nb::handle object, Dims& list) {
  if (!PyTuple_CheckExact(object.ptr()) || PyTuple_GET_SIZE(object.ptr()) > kMaxRank) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object.ptr()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(object.ptr(), i);
    int overflow = 0;
    if (!PyLong_CheckExact(item)) return false;
    list.push_back(PyLong_AsLongLongAndOverflow(item, &overflow));
    if (overflow != 0) return false;
  }
  return true;
}

// Returns the extents of a tf.TensorShape.
std::vector<std::int64_t> read_extents(nb::handle extents, nb::handle shape, const char* argument) {
  if (extents.is_none()) {
    raise_invalid_argument(std::string(argument) + " is " + repr_text(shape) +
                           ", whose rank is not known; expected every extent");
  }
  const nb::object items = items_of(extents);
  for (Py_ssize_t axis = 0; axis < PyTuple_GET_SIZE(items.ptr()); ++axis) {
    if (PyTuple_GET_ITEM(items.ptr(), axis) != Py_None) continue;
    raise_invalid_argument(std::string(argument) + " is " + repr_text(shape) + ", whose axis " + std::to_string(axis) +
                           " is not known; expected every extent");
  }
  return read_items(items, argument);
}

// Copies the array's memory as integers of that type, in order; a subclass cannot interfere.
template <class Int>
std::span<const Int> cast_integers(PyArrayObject* array, int type, nb::object& owner) {
  owner = checked([&] { return PyArray_View(array, nullptr, &PyArray_Type); });
  owner = checked([&] { return PyArray_CastToType(as_array(owner), PyArray_DescrFromType(type), 0); });
  return {static_cast<const Int*>(PyArray_DATA(as_array(owner))),
          static_cast<std::size_t>(PyArray_SIZE(as_array(owner)))};
}

std::vector<std::int64_t> read_integers(PyArrayObject* array, const char* argument) {
  nb::object owner;
  if (PyArray_DESCR(array)->kind == 'i') {
    const auto integers = cast_integers<std::int64_t>(array, NPY_INT64, owner);
    return {integers.begin(), integers.end()};
  }
  std::vector<std::int64_t> list;
  for (std::uint64_t integer : cast_integers<std::uint64_t>(array, NPY_UINT64, owner)) {
    if (integer > std::numeric_limits<std::int64_t>::max()) {
      raise_invalid_argument(std::string(argument) + "[" + std::to_string(list.size()) + "] is " +
                             std::to_string(integer) + ", which does not fit int64");
    }
    list.push_back(static_cast<std::int64_t>(integer));
  }
  return list;
}

nb::object numpy_array_of(nb::handle object, const char* argument) {
  try {
    return as_numpy_array(object);
  } catch (const nb::python_error& e) {
    refuse_tracer(object, argument);
    raise_dtype_error(std::string(argument) + " cannot be read as an array: " + message_of(e));
  }
}

// Throws the exception of __index__.
bool convert_int(nb::handle object, std::int64_t& value, int& overflow) {
  if (PyBool_Check(object.ptr()) || is_masked_array(object)) return false;
  nb::object integer;
  if (PyLong_Check(object.ptr())) {
    integer = nb::borrow(object);
  } else {
    if (!PyIndex_Check(object.ptr())) return false;
    integer = checked([&] { return PyNumber_Index(object.ptr()); });
  }
  value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow != 0) {
    value = overflow < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
  return true;
}

}  // namespace

bool read_int(nb::handle object, const char* argument, std::int64_t& value, int& overflow) {
  try {
    return convert_int(object, value, overflow);
  } catch (nb::python_error& error) {
    refuse_tracer(object, argument);
    raise_dtype_error_from(error, type_text(object) + ".__index__ failed: " + message_of(error));
  }
}

std::int64_t require_int(nb::handle object, const char* argument, int& overflow) {
  std::int64_t value = 0;
  if (!read_int(object, argument, value, overflow)) {
    raise_dtype_error(std::string(argument) + " is " + repr_text(object) + ", expected an int");
  }
  return value;
}

bool find_int(nb::handle object, std::int64_t& value, int& overflow) {
  try {
    return convert_int(object, value, overflow);
  } catch (const nb::python_error& error) {
    pass_on_unless_ordinary(error);
    return false;
  }
}

std::vector<std::int64_t> IntReader::read(nb::handle object, const char* argument) {
  if (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr()) || PyRange_Check(object.ptr())) {
    return read_items(object, argument);
  }
  if (PyArray_Check(object.ptr())) return read_array(object, argument);
  if (const nb::object extents = find_extents(object); extents.is_valid()) {
    return read_extents(extents, object, argument);
  }
  std::int64_t value = 0;
  int overflow = 0;
  if (!has_attribute(object, "__array__") && find_int(object, value, overflow)) refuse_rank(argument, nb::make_tuple());
  if (PyUnicode_Check(object.ptr()) || PyBytes_Check(object.ptr()) || object.is_none()) {
    raise_dtype_error(std::string(argument) + " is " + repr_text(object) +
                      ", expected a list of int or an integer array");
  }
  return read_array(numpy_array_of(object, argument), argument);
}

std::vector<std::int64_t> IntReader::read_array(nb::handle array, const char* argument) {
  PyArrayObject* source = as_array(array);
  if (is_masked_array(array)) {
    raise_dtype_error(std::string(argument) + " is a masked array, whose mask would be lost; pass its .filled(value)");
  }
  note_type(PyArray_DESCR(source), argument);
  if (PyArray_NDIM(source) != 1) refuse_rank(argument, array.attr("shape"));
  return read_integers(source, argument);
}

void IntReader::note_type(PyArray_Descr* dtype, const char* argument) {
  if (dtype->kind != 'i' && dtype->kind != 'u') {
    raise_dtype_error(std::string(argument) + " has dtype " + dtype_name(dtype) + ", expected integers");
  }
  if (allowed_[0] == kEnd) return;
  const int* allowed_end = std::find(std::begin(allowed_), std::end(allowed_), kEnd);
  // long and long long are two numbers for one type
  const auto same = [](int a, int b) { return PyArray_EquivTypenums(a, b) != 0; };
  if (std::none_of(std::cbegin(allowed_), allowed_end, [&](int type) { return same(type, dtype->type_num); })) {
    std::string expected;
    for (const int* type = allowed_; type != allowed_end; ++type) {
      PyArray_Descr* allowed = PyArray_DescrFromType(*type);
      expected += (expected.empty() ? "" : " or ") + dtype_name(allowed);
      Py_DECREF(allowed);
    }
    raise_dtype_error(std::string(argument) + " has dtype " + dtype_name(dtype) + ", expected " + expected);
  }
  if (type_ == NPY_NOTYPE) {
    type_ = dtype->type_num;
    first_array_ = argument;
  } else if (!same(type_, dtype->type_num)) {
    PyArray_Descr* first = PyArray_DescrFromType(type_);
    const std::string first_name = dtype_name(first);
    Py_DECREF(first);
    raise_dtype_error(std::string(argument) + " has dtype " + dtype_name(dtype) + ", but " + std::string(first_array_) +
                      " has " + first_name + "; they must share one");
  }
}

std::vector<std::int64_t> read_shape(nb::handle object, const char* argument) {
  if (PyTuple_Check(object.ptr())) return IntReader().read(object, argument);
  std::int64_t value = 0;
  int overflow = 0;
  if (!PyArray_Check(object.ptr()) && find_int(object, value, overflow)) {
    if (overflow != 0) raise_invalid_argument(std::string(argument) + " " + repr_text(object) + " does not fit int64");
    return {value};
  }
  return IntReader().read(object, argument);
}

Dims read_dims(nb::handle object, const char* argument) {
  Dims dims;
  if (find_small_ints(object, dims)) return dims;
  const auto list = read_shape(object, argument);
  if (list.size() > kMaxRank) check(Shape::make(list, argument).status());
  return Dims(list);
}

std::int32_t read_mask(nb::handle object, const char* argument) {
  int overflow = 0;
  const std::int64_t value = require_int(object, argument, overflow);
  const auto mask = static_cast<std::int32_t>(value);
  if (overflow != 0 || mask != value) {
    raise_invalid_argument(std::string(argument) + " is " + repr_text(object) + ", which does not fit int32");
  }
  return mask;
}

bool read_flag(nb::handle object, const char* argument) {
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  raise_dtype_error(std::string(argument) + " is " + repr_text(object) + ", expected True or False");
}

}  // namespace backslice::python
