// Python indices <-> Index and Selection.
#pragma once

#include <variant>

#include "backslice/selection.h"
#include "bindings/numpy_api.h"

namespace backslice::python {

namespace nb = nanobind;

// A NumPy basic index, its text, or a Selection, before its shape is known. Reading it may run Python code (__index__),
// so it is read before arrays are viewed.
class GivenIndex {
 public:
  explicit GivenIndex(nb::handle index);

  // Returns the Selection for that shape. A given Selection must have been made for it.
  Selection on(Ints shape) const;

  // The items of an index's text, with the text itself, which errors show.
  struct Text {
    IndexText index;
    std::string text;
  };

 private:
  std::variant<Index, Text, Selection> given_;
};

// Does both at once, if the shape is known.
Selection read_selection(Ints shape, nb::handle index);

// Returns the items of an index of an object whose shape is not a list of extents. A Selection must select from `rows`
// rows.
Index read_index_items(nb::handle index, std::int64_t rows);

// Returns the Selection, or raises DTypeError.
const Selection& require_selection(nb::handle object);

// Returns an index's text.
GivenIndex::Text read_index_text(nb::handle text, const char* argument);

// Returns a tuple of ints, slices and None.
nb::tuple to_python(const Index& index);

nb::tuple to_tuple(Ints list);
nb::list to_list(Ints list);

}  // namespace backslice::python
