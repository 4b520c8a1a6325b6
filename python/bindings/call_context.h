// What every operation is called with.
#pragma once

#include <nanobind/nanobind.h>

#include "backslice/context.h"
#include "bindings/interruption.h"

namespace backslice::python {

// Ctrl-C ends the call. Where the calling thread runs serially, it does all of the work itself.
class CallContext : public Context {
 public:
  CallContext();

  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

 private:
  Interruption interruption_;
};

// Whether the operations that the calling thread calls run on it alone. Schedulers that keep every core busy with tasks
// of their own want that. Returns what was set before.
bool set_serial(bool serial) noexcept;

// How a gradient is written. accumulate=True without out is an InvalidArgumentError.
Write read_write(nanobind::handle accumulate, nanobind::handle out);

}  // namespace backslice::python
