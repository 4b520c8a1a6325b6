// What every operation is called with.
#pragma once

#include <nanobind/nanobind.h>

#include "backslice/slice.h"
#include "bindings/interruption.h"

namespace backslice::python {

class CallOptions : public Options {
 public:
  CallOptions() { cancelled = interruption_.test(); }

  // Of a gradient. accumulate=True without out is an InvalidArgumentError.
  CallOptions(nanobind::handle accumulate, nanobind::handle out);

  CallOptions(const CallOptions&) = delete;
  CallOptions& operator=(const CallOptions&) = delete;

 private:
  Interruption interruption_;
};

}  // namespace backslice::python
