// Python strings <-> tensors of std::string, for containers that hold them for longer than a call.
#pragma once

#include "bindings/arrays.h"

namespace backslice::python {

enum class StringKind { Unknown, Str, Bytes };

// "str" or "bytes"; Unknown counts as Str.
const char* text_of(StringKind kind);

// An object array of str or of bytes. `kind` says which are wanted; Unknown becomes what is found. Raises DTypeError,
// and leaves `kind` alone then. Runs no Python code unless it raises.
Tensor strings_from_objects(const InputArray& input, const char* argument, StringKind& kind);

// Whether handlers of signals may run, and raise, while strings are made. They wait where the strings have been taken
// out of a container: what a handler raised would lose them.
enum class Handlers { MayRun, Wait };

// A new object array. Needs no memory but Python's own.
nb::object objects_from_strings(const Tensor& tensor, StringKind kind, Handlers handlers = Handlers::MayRun);

// The same into `out`, an object array of that shape, which keeps its elements where this raises.
void fill_with_strings(nb::handle out, const Tensor& tensor, StringKind kind);

}  // namespace backslice::python
