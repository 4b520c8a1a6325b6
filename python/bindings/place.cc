#include "bindings/place.h"

#include "backslice/cuda.h"
#include "bindings/device_array.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/objects.h"
#include "bindings/package.h"
#include "core/boundary.h"

namespace backslice::python {
namespace {

// Keeps memory of another library alive.
struct ForeignMemory {
  nb::object array;              // as its library has it
  std::shared_ptr<void> memory;  // the exported object, if there is one
};

// The last owner may be a thread without the GIL. Its type identifies such an owner.
struct DropForeignMemory {
  void operator()(ForeignMemory* owned) const noexcept {
    release_with_gil([](void* p) { delete static_cast<ForeignMemory*>(p); }, owned);
  }
};

// Returns the array that owns the memory, or None.
nb::object owner_of(const Buffer& buffer) {
  const std::shared_ptr<void> owner = cuda_owner(buffer);
  if (owner == nullptr || std::get_deleter<DropForeignMemory>(owner) == nullptr) return nb::none();
  return static_cast<const ForeignMemory*>(owner.get())->array;
}

Buffer new_buffer(const Place& place, CudaStream stream, std::int64_t bytes, Contents contents) {
  const nb::object made = call_with(
      attribute(place.library, "memory"),
      nb::make_tuple(bytes, place.device.ordinal, nb::borrow(contents == Contents::Zero ? Py_True : Py_False)));
  const auto address = nb::cast<std::uintptr_t>(nb::object(made[1]));
  return owned_buffer(nb::object(made[0]), nullptr, reinterpret_cast<std::byte*>(address), place.device, stream);
}

// Translates a library's error after an allocation. Anything but missing memory is left to check() and unwrap().
Status refused(const Place& place, nb::python_error& error) {
  if (error.matches(PyExc_Exception) &&
      nb::cast<bool>(call(attribute(place.library, "is_out_of_memory"), error.value()))) {
    return Status(StatusCode::ResourceExhausted, str_text(error.value()));
  }
  error.restore();
  return Status(StatusCode::Cancelled, "the library that was asked for memory raised an error");
}

Result<Buffer> try_new_buffer(const Place& place, CudaStream stream, std::int64_t bytes, Contents contents) {
  try {
    return new_buffer(place, stream, bytes, contents);
  } catch (nb::python_error& error) {
    return refused(place, error);
  }
}

}  // namespace

Place read_place(nb::handle device) {
  const nb::object place = call(registered("cuda_place"), device);
  const nb::object ordinal = place[0], library = place[1];
  if (ordinal.is_none()) return {};
  const int number = nb::cast<int>(ordinal);
  (void)unwrap(without_gil([&] { return cuda_allocator(number); }));  // refuses a device that does not exist
  return {Device::cuda(number), library.is_none() ? nb::object() : library};
}

void check_on_device(nb::handle numpy_dtype, const std::string& argument) {
  const char kind = reinterpret_cast<PyArray_Descr*>(numpy_dtype.ptr())->kind;
  if (kind != 'S' && kind != 'U' && kind != 'O') return;
  raise_dtype_error(argument + " has dtype " + str_text(numpy_dtype) +
                    ", expected numbers; strings and objects are on the CPU alone");
}

nb::object shared_array(const Tensor& tensor, nb::handle numpy_dtype, const Place& place, Pending pending,
                        std::shared_ptr<void> loan) {
  // An array of the owner's would outlive the DeviceArray, and so the loan.
  const nb::object owner = loan == nullptr ? owner_of(tensor.buffer()) : nb::none();
  const nb::object made = nb::cast(DeviceArray(tensor, nb::borrow(numpy_dtype), pending, std::move(loan)));
  if (!place.library.is_valid()) return made;
  return call_with(attribute(place.library, "share"), nb::make_tuple(made, owner));
}

Buffer owned_buffer(nb::handle array, std::shared_ptr<void> memory, std::byte* data, Device device, CudaStream stream) {
  const std::shared_ptr<ForeignMemory> owner(new ForeignMemory{nb::borrow(array), std::move(memory)},
                                             DropForeignMemory());
  return cuda_wrap(owner, data, device.ordinal, stream);
}

Result<Buffer> LibraryAllocator::allocate(std::int64_t bytes, Contents contents) {
  const GilHeld held;
  return without_throwing([&] { return try_new_buffer(place_, stream_, bytes, contents); });
}

}  // namespace backslice::python
