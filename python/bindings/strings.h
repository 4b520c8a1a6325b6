// Python strings <-> tensors of std::string, for containers that keep them after a call.
#pragma once

#include "bindings/arrays.h"

namespace backslice::python {

enum class StringKind { Unknown, Str, Bytes };

// "str" or "bytes"; Unknown counts as Str.
const char* text_of(StringKind kind);

// Reads an object array of str or of bytes. `kind` is the wanted kind; Unknown becomes the kind that is found. Raises
// DTypeError without changing `kind`. Runs no Python code unless it raises.
Tensor strings_from_objects(const InputArray& input, const char* argument, StringKind& kind);

// Whether signal handlers may run, and raise, while strings are made. They wait if the strings were taken out of a
// container: an exception would lose them.
enum class Handlers { MayRun, Wait };

// Returns a new object array. Allocates only Python's memory.
nb::object objects_from_strings(const Tensor& tensor, StringKind kind, Handlers handlers = Handlers::MayRun);

// The same into `out`, an object array of that shape, which keeps its elements if this raises.
void fill_with_strings(nb::handle out, const Tensor& tensor, StringKind kind);

}  // namespace backslice::python
