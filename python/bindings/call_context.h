// What every operation is called with.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "backslice/context.h"
#include "bindings/interruption.h"
#include "bindings/place.h"

namespace backslice::python {

// Ctrl-C ends the call. Where the calling thread runs serially, it does all of the work itself.
//
// A call with arrays on a CUDA device runs on the stream that the library of the first of them works on, and returns
// when the work is queued. Libraries that tell no stream get CUDA's default one, and the call returns when it is done:
// nobody else would keep the memory of the arguments for it. The same goes where arrays of several libraries meet.
class CallContext : public Context {
 public:
  CallContext();

  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // Runs where a container is, which `name` is what messages call. Runs Python code.
  void run_on(const Place& place, std::string name);

  // The same for a part of the container that may be another library's: its stream is waited for. Precondition: the
  // call runs on that device.
  void use_part(const Place& place);

  // The stream for an array of that device, as DLPack numbers streams. Runs Python code for the first array of each
  // type. Raises InvalidArgumentError where others are on another device.
  nanobind::object stream_for(nanobind::handle array, const char* argument, int ordinal);

  // The same for an array whose stream is known, and whose library keeps the memory that work on it uses. The call's
  // stream waits for that one.
  void use(nb::object library, std::uintptr_t number, const char* argument, int ordinal, bool keeps_memory = true);

  // The same for an array whose library has to be asked for both. Runs Python code for the first array of each type.
  void use_library_of(nb::handle array, const char* argument, int ordinal);

  // Whether an array of that device was asked for.
  bool runs_on(Device device) const { return is_chosen_ && device == place_.device; }
  const Place& place() const { return place_; }

  // Results, and what the call needs meanwhile, get memory of the device: of the caller's library, if it has any to
  // give. Not for calls that hold locks (place.h).
  void use_device_memory();

  // The same for a container: it holds locks, so that Ctrl-C is looked for in another way (interruption.h).
  Context for_container(const CancelledTest* ctrl_c) const;

  // Waits for the work where nobody else would.
  Status finish() const;
  bool waits() const { return waits_; }

  // What was made on the device, as an array of the caller's library. Waits as finish() does.
  nb::object device_array(const Tensor& tensor, nb::handle numpy_dtype) const;

  // Memory of a container that the call reads is kept until that is done.
  void keep(const Tensor& tensor) const;

 private:
  void must_be_here(const char* argument, int ordinal) const;
  void join(nb::object library, std::uintptr_t number, bool keeps_memory, const char* argument, int ordinal);
  void choose(nb::object library, std::uintptr_t number, bool keeps_memory, int ordinal);
  nb::object number() const { return nb::int_(reinterpret_cast<std::uintptr_t>(stream)); }

  Interruption interruption_;
  Place place_;
  std::string first_;  // what messages call what was given first
  nb::object type_;    // of the last array
  bool is_chosen_ = false, waits_ = false;
  std::shared_ptr<Allocator> memory_;
};

// Whether the operations that the calling thread calls run on it alone. Schedulers that keep every core busy with tasks
// of their own want that. Returns what was set before.
bool set_serial(bool serial) noexcept;

// How a gradient is written. accumulate=True without out is an InvalidArgumentError.
Write read_write(nanobind::handle accumulate, nanobind::handle out);

}  // namespace backslice::python
