// CallContext: the Context of one call from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "backslice/context.h"
#include "bindings/interruption.h"
#include "bindings/place.h"

namespace backslice::python {

// Ctrl-C ends the call. If the calling thread runs serially, it does all of the work itself.
//
// A call with arrays on a CUDA device runs on the current stream of the library of the first array, and returns when
// the work is queued. For libraries that report no stream, it runs on CUDA's default stream and returns when it is
// done: otherwise nothing would keep the memory of the arguments alive. The same applies to calls with arrays of
// several libraries.
class CallContext : public Context {
 public:
  CallContext();

  CallContext(const CallContext&) = delete;
  CallContext& operator=(const CallContext&) = delete;

  // A call on the device of a container, which messages call `name`. Runs Python code.
  void run_on(const Place& place, std::string name);

  // Waits for the stream of a part of the container that may be another library's. Precondition: the call runs on that
  // device.
  void use_part(const Place& place);

  // Returns the stream for an array of that device, as DLPack numbers streams. Runs Python code for the first array of
  // each type. Raises InvalidArgumentError if earlier arrays are on another device.
  nanobind::object stream_for(nanobind::handle array, const char* argument, int ordinal);

  // Registers an array with a known stream, whose library keeps memory alive for queued work. The call's stream waits
  // for that stream.
  void use(nb::object library, std::uintptr_t number, const char* argument, int ordinal, bool keeps_memory = true);

  // The same for an array whose library must be called for both. Runs Python code for the first array of each type.
  void use_library_of(nb::handle array, const char* argument, int ordinal);

  // Whether an array of that device was registered.
  bool runs_on(Device device) const { return is_chosen_ && device == place_.device; }
  const Place& place() const { return place_; }

  // Makes the call allocate device memory from the caller's library, if that has an allocator. Not for calls that hold
  // locks (place.h).
  void use_device_memory();

  // The same for a container: it holds locks, so Ctrl-C is detected in another way (interruption.h).
  Context for_container(const CancelledTest* ctrl_c) const;

  // Waits for the work if no library would.
  Status finish() const;
  bool waits() const { return waits_; }

  // Returns a result on the device as an array of the caller's library. Waits as finish() does.
  nb::object device_array(const Tensor& tensor, nb::handle numpy_dtype) const;

  // Keeps the memory of a container alive until the call's queued work is done.
  void keep(const Tensor& tensor) const;

 private:
  void must_be_here(const char* argument, int ordinal) const;
  void join(nb::object library, std::uintptr_t number, bool keeps_memory, const char* argument, int ordinal);
  void choose(nb::object library, std::uintptr_t number, bool keeps_memory, int ordinal);
  nb::object number() const { return nb::int_(reinterpret_cast<std::uintptr_t>(stream)); }

  Interruption interruption_;
  Place place_;
  std::string first_;  // name of the first argument on a device, for messages
  nb::object type_;    // of the last array
  bool is_chosen_ = false, waits_ = false;
  std::shared_ptr<Allocator> memory_;
};

// Makes operations that the calling thread calls run on it alone, for schedulers that keep every core busy with their
// own tasks. Returns the previous setting.
bool set_serial(bool serial) noexcept;

// Reads how a gradient is written. accumulate=True without out is an InvalidArgumentError.
Write read_write(nanobind::handle accumulate, nanobind::handle out);

}  // namespace backslice::python
