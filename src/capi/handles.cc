#include "capi/handles.h"

#include <mutex>
#include <unordered_set>

#include "capi/boundary.h"

namespace backslice::capi {
namespace {

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::Buffer: return "backslice_buffer";
    case Kind::Selection: return "backslice_selection";
    case Kind::PreparedSlice: return "backslice_prepared_slice";
    case Kind::GradBuffer: return "backslice_grad_buffer";
    case Kind::Ragged: return "backslice_ragged";
    case Kind::VariantArray: return "backslice_variant_array";
    case Kind::TensorArray: return "backslice_tensor_array";
    case Kind::Ended: break;
  }
  return nullptr;
}

#ifdef NDEBUG
void add_alive(const void*) {}
void remove_alive(const void*) {}
bool is_alive(const void*) { return true; }
#else
struct Alive {
  std::mutex mutex;
  std::unordered_set<const void*> handles;
};

// Never destroyed: handles may be freed in the destructors of other globals.
Alive& alive() {
  static Alive* const all = new Alive;
  return *all;
}

void add_alive(const void* handle) {
  const std::lock_guard lock(alive().mutex);
  alive().handles.insert(handle);
}

void remove_alive(const void* handle) {
  const std::lock_guard lock(alive().mutex);
  alive().handles.erase(handle);
}

bool is_alive(const void* handle) {
  const std::lock_guard lock(alive().mutex);
  return alive().handles.contains(handle);
}
#endif

const HandleBase* base_of(const void* handle) { return static_cast<const HandleBase*>(handle); }

// Returns the kind of a handle; refuses a pointer that is not a handle.
Kind kind_of(const void* handle, const Argument& argument) {
  if (is_alive(handle) && name_of(base_of(handle)->kind) != nullptr) return base_of(handle)->kind;
  refuse(invalid_argument(text(argument), " is not a handle: it was freed, or backslice did not make it")
             .at(text(argument)));
}

}  // namespace

HandleBase::HandleBase(Kind own) : kind(own) { add_alive(this); }

HandleBase::~HandleBase() {
  // No later code reads it before the memory is freed, so the compiler would remove a plain store.
  *const_cast<volatile Kind*>(&kind) = Kind::Ended;
  remove_alive(this);
}

void check_handle(const void* handle, Kind kind, const Argument& argument) {
  if (handle == nullptr) {
    refuse(invalid_argument(text(argument), " is NULL, expected a ", name_of(kind)).at(text(argument)));
  }
  const Kind found = kind_of(handle, argument);
  if (found == kind) return;
  refuse(invalid_argument(text(argument), " is a ", name_of(found), ", expected a ", name_of(kind)).at(text(argument)));
}

}  // namespace backslice::capi

void backslice_free(void* handle) {
  using namespace backslice::capi;
  guarded([&] {
    if (handle == nullptr) return backslice::Status();
    kind_of(handle, {"handle"});
    delete static_cast<HandleBase*>(handle);
    return backslice::Status();
  });
}
