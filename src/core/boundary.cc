#include "core/boundary.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace backslice {
namespace {

// Short enough for a std::string to need no memory.
Status out_of_memory() noexcept { return Status(StatusCode::ResourceExhausted, "out of memory"); }

Status describe_current_exception() {
  try {
    throw;
  } catch (const StatusException& ended) {
    return ended.status();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // a std::vector or std::string longer than there can be
    return out_of_memory();
  } catch (const std::system_error& refused) {
    return Status(StatusCode::ResourceExhausted, std::string("the system refused a resource: ") + refused.what());
  } catch (const std::exception& other) {
    return Status(StatusCode::Internal, std::string("unexpected exception: ") + other.what());
  } catch (...) {
    return Status(StatusCode::Internal, "unexpected exception of an unknown type");
  }
}

}  // namespace

Status status_of_current_exception() noexcept {
  try {
    return describe_current_exception();
  } catch (...) {  // no memory even for the message
    return out_of_memory();
  }
}

}  // namespace backslice
