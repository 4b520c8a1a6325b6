// What every operation is called with.
#pragma once

#include <nanobind/nanobind.h>

#include "backslice/slice.h"

namespace backslice::python {

class CallOptions : public Options {
 public:
  CallOptions() = default;

  // Of a gradient. accumulate=True without out is an InvalidArgumentError.
  CallOptions(nanobind::handle accumulate, nanobind::handle out);

  CallOptions(const CallOptions&) = delete;
  CallOptions& operator=(const CallOptions&) = delete;
};

}  // namespace backslice::python
