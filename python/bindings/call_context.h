// What every operation is called with.
#pragma once

#include <nanobind/nanobind.h>

#include "backslice/context.h"
#include "bindings/interruption.h"

namespace backslice::python {

// Ctrl-C ends the call. Where the calling thread runs serially, it does all of the work itself.
//
// A call with arrays on a CUDA device runs on the stream that the library of the first of them works on, and returns
// when the work is queued. Libraries that tell no stream get CUDA's default one, and the call returns when it is done:
// nobody else would keep the memory of the arguments for it.
class CallContext : public Context {
 public:
  CallContext();

  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // The stream for an array of that device, as DLPack numbers streams. Runs Python code for the first array.
  nanobind::object stream_for(nanobind::handle array, int ordinal);

  // Whether an array of that device was asked for.
  bool runs_on(Device device) const { return is_chosen_ && device == device_; }

  // Waits for the work where nobody else would.
  Status finish() const;

 private:
  Interruption interruption_;
  Device device_;
  bool is_chosen_ = false, waits_ = false;
};

// Whether the operations that the calling thread calls run on it alone. Schedulers that keep every core busy with tasks
// of their own want that. Returns what was set before.
bool set_serial(bool serial) noexcept;

// How a gradient is written. accumulate=True without out is an InvalidArgumentError.
Write read_write(nanobind::handle accumulate, nanobind::handle out);

}  // namespace backslice::python
