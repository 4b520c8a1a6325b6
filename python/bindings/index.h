// Python indices <-> Index and Selection.
#pragma once

#include <variant>

#include "backslice/selection.h"
#include "bindings/numpy_api.h"

namespace backslice::python {

namespace nb = nanobind;

// A NumPy basic index, its text, or a Selection, before it is known of what shape. Reading it may run Python code
// (__index__), so it is read before arrays are viewed.
class GivenIndex {
 public:
  explicit GivenIndex(nb::handle index);

  // What it selects. A Selection must have been made for that shape.
  Selection on(Ints shape) const;

  // What an index's text was read as, with the text itself, which errors show.
  struct Text {
    IndexText index;
    std::string text;
  };

 private:
  std::variant<Index, Text, Selection> given_;
};

// The same at once, where the shape is known.
Selection read_selection(Ints shape, nb::handle index);

// The items of an index of something whose shape is not a list of extents. A Selection must be one of `rows` rows.
Index read_index_items(nb::handle index, std::int64_t rows);

// A Selection, or DTypeError.
const Selection& require_selection(nb::handle object);

// An index's text.
GivenIndex::Text read_index_text(nb::handle text, const char* argument);

// A tuple of ints, slices and None.
nb::tuple to_python(const Index& index);

nb::tuple to_tuple(Ints list);
nb::list to_list(Ints list);

}  // namespace backslice::python
