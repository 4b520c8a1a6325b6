#include "bindings/index.h"

#include "bindings/arguments.h"
#include "bindings/errors.h"
#include "bindings/instances.h"
#include "bindings/neighbours.h"
#include "bindings/objects.h"

namespace backslice::python {
namespace {

// Reads a bound of a slice, unless it is None. Integers past int64 saturate, as in Python.
IndexBound read_bound(nb::handle bound) {
  if (bound.is_none()) return std::nullopt;
  std::int64_t value = 0;
  int overflow = 0;
  if (!read_int(bound, "index", value, overflow)) {
    raise_dtype_error("slice bound " + repr_text(bound) + " is not an integer or None");
  }
  return value;
}

SliceRange read_range(const PySliceObject* slice) {
  return {read_bound(slice->start), read_bound(slice->stop), read_bound(slice->step)};
}

// Returns whether it has axes, or is a truth value.
bool is_advanced(nb::handle item) {
  PyObject* p = item.ptr();
  if (PyBool_Check(p)) return true;
  if (PyLong_Check(p)) return false;
  if (PyList_Check(p) || PyTuple_Check(p) || PyArray_IsScalar(p, Bool)) return true;
  if (PyArray_Check(p)) return PyArray_NDIM(as_array(item)) > 0 || PyArray_ISBOOL(as_array(item));
  std::int64_t rank = 0;
  int overflow = 0;
  const nb::object ndim = find_attribute(item, "ndim");  // scalar of another library's array
  return ndim.is_valid() && find_int(ndim, rank, overflow) && rank > 0;
}

void refuse_advanced(nb::handle item) {
  if (!is_advanced(item)) return;
  raise_unimplemented("index item " + repr_text(item) +
                      " asks for advanced indexing; backslice takes integers, slices, None and ...: for arrays of "
                      "integers or bools, np.add.at(dx, index, dy) is the gradient, and sparse_slice_grad that of "
                      "slices of sparse tensors");
}

IndexItem read_index_item(nb::handle item) {
  if (item.is_none()) return NewAxis{};
  if (item.ptr() == Py_Ellipsis) return EllipsisItem{};
  if (PySlice_Check(item.ptr())) return read_range(reinterpret_cast<PySliceObject*>(item.ptr()));
  refuse_advanced(item);
  std::int64_t value = 0;
  int overflow = 0;
  if (!read_int(item, "index", value, overflow)) {
    raise_dtype_error("index item " + repr_text(item) + " is not an integer, a slice, None or ...");
  }
  if (overflow != 0) raise_out_of_range("index " + repr_text(item) + " is out of bounds");
  return value;
}

Index read_index_items(nb::handle index) {
  if (PyUnicode_Check(index.ptr())) return read_index_text(index, "index").index.items;
  if (!PyTuple_Check(index.ptr())) return {read_index_item(index)};
  Index items;
  items.reserve(static_cast<std::size_t>(PyTuple_GET_SIZE(index.ptr())));
  for (nb::handle item : nb::cast<nb::tuple>(index)) items.push_back(read_index_item(item));
  return items;
}

// A tuple, the usual index, is not one: nanobind would look up its type by name.
bool is_selection(nb::handle index) { return !PyTuple_Check(index.ptr()) && nb::isinstance<Selection>(index); }

const Selection& selection_of(nb::handle index) {
  if (const auto* selection = find_instance<Selection>(index)) return *selection;
  raise_invalid_argument("index is a Selection that was not initialised; make one with Selection.from_index");
}

const Selection& checked_for(Ints shape, const Selection& selection) {
  if (selection.shape() == unwrap(Shape::make(shape))) return selection;
  raise_invalid_argument("index is a Selection for shape " + to_string(Ints(selection.shape())) + ", not for shape " +
                         to_string(shape));
}

nb::object bound_to_python(const std::optional<std::int64_t>& bound) {
  return bound ? nb::object(nb::int_(*bound)) : nb::none();
}

}  // namespace

GivenIndex::Text read_index_text(nb::handle text, const char* argument) {
  const std::string_view read = read_str(text, argument);
  if (read.find('\0') != std::string_view::npos) {
    raise_invalid_argument(std::string(argument) + " is " + repr_text(text) +
                           ", which has a NUL character; expected text such as \"1:3, ::2\"");
  }
  return {unwrap(parse_index_text(read), read), std::string(read)};
}

GivenIndex::GivenIndex(nb::handle index) {
  if (is_selection(index)) {
    given_ = selection_of(index);
  } else if (PyUnicode_Check(index.ptr())) {
    given_ = read_index_text(index, "index");
  } else {
    given_ = read_index_items(index);
  }
}

const Selection& require_selection(nb::handle object) {
  if (const auto* selection = find_instance<Selection>(object)) return *selection;
  raise_dtype_error("selection is of type " + type_text(object) + ", expected a Selection");
}

Selection GivenIndex::on(Ints shape) const {
  if (const auto* items = std::get_if<Index>(&given_)) return unwrap(Selection::from_index(shape, *items));
  if (const auto* text = std::get_if<Text>(&given_)) {
    return unwrap(Selection::from_index_text(shape, text->index), text->text);
  }
  return checked_for(shape, std::get<Selection>(given_));
}

Selection read_selection(Ints shape, nb::handle index) {
  if (is_selection(index)) return checked_for(shape, selection_of(index));
  if (PyUnicode_Check(index.ptr())) return GivenIndex(index).on(shape);
  return unwrap(Selection::from_index(shape, read_index_items(index)));
}

Index read_index_items(nb::handle index, std::int64_t rows) {
  return is_selection(index) ? checked_for({rows}, selection_of(index)).to_index() : read_index_items(index);
}

nb::tuple to_python(const Index& index) {
  NewList items;
  for (const IndexItem& item : index) {
    if (const auto* integer = std::get_if<std::int64_t>(&item)) {
      items.append(nb::int_(*integer));
    } else if (const auto* range = std::get_if<SliceRange>(&item)) {
      const nb::object start = bound_to_python(range->start), stop = bound_to_python(range->stop),
                       step = bound_to_python(range->step);
      items.append(checked([&] { return PySlice_New(start.ptr(), stop.ptr(), step.ptr()); }));
    } else if (std::holds_alternative<NewAxis>(item)) {
      items.append(nb::none());
    } else {
      items.append(nb::ellipsis());
    }
  }
  return items.tuple();
}

namespace {

NewList integers(Ints list) {
  NewList items;
  for (std::int64_t v : list) items.append(nb::int_(v));
  return items;
}

}  // namespace

nb::list to_list(Ints list) { return nb::borrow<nb::list>(integers(list).list()); }
nb::tuple to_tuple(Ints list) { return integers(list).tuple(); }

}  // namespace backslice::python
