#include "core/boundary.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace backslice {
namespace {

// Short enough for a std::string to need no memory.
Status out_of_memory() noexcept { return Status(StatusCode::ResourceExhausted, "out of memory"); }

std::string of(const std::exception& thrown) { return std::string(": ") + thrown.what(); }

// `callback` threw it, unless that is null.
Status describe_current_exception(const char* callback) {
  const auto thrown = [&](StatusCode code, const std::string& own, const std::string& text) {
    return Status(code, callback == nullptr ? own + text : callback + (" threw an exception" + text));
  };
  try {
    throw;
  } catch (const StatusException& ended) {
    return ended.status();
  } catch (const std::bad_alloc& refused) {
    return callback == nullptr ? out_of_memory() : thrown(StatusCode::ResourceExhausted, "", of(refused));
  } catch (const std::length_error& refused) {  // a std::vector or std::string longer than there can be
    return callback == nullptr ? out_of_memory() : thrown(StatusCode::ResourceExhausted, "", of(refused));
  } catch (const std::system_error& refused) {
    return thrown(StatusCode::ResourceExhausted, "the system refused a resource", of(refused));
  } catch (const std::exception& other) {
    return thrown(StatusCode::Internal, "unexpected exception", of(other));
  } catch (...) {
    return thrown(StatusCode::Internal, "unexpected exception", " of an unknown type");
  }
}

Status described(const char* callback) noexcept {
  try {
    return describe_current_exception(callback);
  } catch (...) {  // no memory even for the message
    return out_of_memory();
  }
}

}  // namespace

Status status_of_current_exception() noexcept { return described(nullptr); }
Status status_of_current_exception_in(const char* callback) noexcept { return described(callback); }

}  // namespace backslice
