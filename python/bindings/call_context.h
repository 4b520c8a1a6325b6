// What every operation is called with.
#pragma once

#include <nanobind/nanobind.h>

#include "backslice/context.h"
#include "bindings/interruption.h"

namespace backslice::python {

// Ctrl-C ends the call.
class CallContext : public Context {
 public:
  CallContext() { cancelled = interruption_.test(); }

  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

 private:
  Interruption interruption_;
};

// How a gradient is written. accumulate=True without out is an InvalidArgumentError.
Write read_write(nanobind::handle accumulate, nanobind::handle out);

}  // namespace backslice::python
