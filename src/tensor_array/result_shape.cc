#include "tensor_array/result_shape.h"

#include <algorithm>

#include "core/errors.h"
#include "memory/tensor_rows.h"

namespace backslice::tensor_array {
namespace {

Result<Shape> with_first(const State& array, std::int64_t first, Ints inner) {
  auto shape = stacked_shape(first, inner);
  if (!shape.ok()) return invalid_argument(array.prefix(), shape.status().message());
  return shape;
}

// [0, shape...]
Result<Shape> no_rows_of(const State& array, const PartialShape& shape, const char* needed) {
  const Ints dims = shape.has_rank() ? shape.dims() : Ints();
  if (!shape.has_rank() || std::find(dims.begin(), dims.end(), PartialShape::kUnknown) != dims.end()) {
    return unimplemented(array.prefix(), needed, ", got ", shape.to_string());
  }
  return with_first(array, 0, dims);
}

Result<Shape> concatenated_nothing(const State& array, const PartialShape& except0) {
  constexpr const char* kNeeds =
      "concat of no elements needs an element shape whose extents after the first are defined";
  const PartialShape& known = array.element_shape;
  if (!known.has_rank()) return no_rows_of(array, except0, kNeeds);
  if (known.dims().empty()) {
    return invalid_argument(array.prefix(), "concat joins elements along their first axis, but the element shape is ",
                            known.to_string());
  }
  const auto own = PartialShape::make(known.dims().subspan(1));
  if (!own.ok()) return own.status();
  if (!own->is_compatible_with(except0)) {
    return invalid_argument(array.prefix(), "element_shape_except0 is ", except0.to_string(),
                            ", but the array's element shape is ", known.to_string())
        .at("element_shape_except0");
  }
  return no_rows_of(array, own->merged_with(except0), kNeeds);
}

// Returns element i as rows that can follow those of `first`.
Status check_rows(const State& array, std::size_t i, const Shape& shape, const Shape& first,
                  const PartialShape& except0) {
  if (shape.rank() == 0) {
    return invalid_argument(array.prefix(), "concat joins elements along their first axis, but the element at index ",
                            i, " is a scalar; stack takes scalars, too");
  }
  const auto inner = Ints(shape).subspan(1);
  if (!std::ranges::equal(inner, Ints(first).subspan(1))) {
    return invalid_argument(array.prefix(),
                            "Could not concat: elements must agree but for their first extent; the element at index 0 "
                            "has shape ",
                            Ints(first), ", the element at index ", i, " has shape ", Ints(shape));
  }
  const auto without_first = PartialShape::make(inner);
  if (except0.is_compatible_with(*without_first)) return Status();
  return invalid_argument(array.prefix(), "element_shape_except0 is ", except0.to_string(),
                          ", but the element at index ", i, " has (without its first extent) shape ",
                          without_first->to_string())
      .at("element_shape_except0");
}

}  // namespace

Result<Shape> stacked_elements(const State& array, Ints indices, std::span<const Element> elements,
                               const PartialShape& element_shape) {
  if (elements.empty()) {
    return no_rows_of(array, element_shape, "gather of no elements needs a fully defined element shape");
  }
  const Shape& first = elements[0].shape;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    if (elements[i].shape == first) continue;
    return invalid_argument(array.prefix(), "Could not gather: the element at index ", indices[0], " has shape ",
                            Ints(first), ", the element at index ", indices[i], " has shape ", Ints(elements[i].shape));
  }
  return with_first(array, static_cast<std::int64_t>(elements.size()), first);
}

Result<Shape> concatenated_elements(const State& array, std::span<const Element> elements,
                                    const PartialShape& except0) {
  if (elements.empty()) return concatenated_nothing(array, except0);
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Shape& shape = elements[i].shape;
    BACKSLICE_RETURN_IF_ERROR(check_rows(array, i, shape, elements[0].shape, except0));
    if (__builtin_add_overflow(rows, shape[0], &rows)) {
      return invalid_argument(array.prefix(), "Could not concat: more than 2**63 - 1 rows");
    }
  }
  return with_first(array, rows, Ints(elements[0].shape).subspan(1));
}

}  // namespace backslice::tensor_array
