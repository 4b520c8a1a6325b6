// Result<T>: a value, or the Status that says why there is none.
//
//     Result<Tensor> dx = slice_grad(selection, dy);
//     if (!dx.ok()) return dx.status();
//     use(*dx);
//
// Callers who prefer exceptions call value(), the one function here that throws.
#pragma once

#include <cassert>
#include <stdexcept>
#include <utility>
#include <variant>

#include "backslice/status.h"

namespace backslice {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Status error) : state_(std::move(error)) { assert(!std::get<Status>(state_).ok()); }

  bool ok() const { return std::holds_alternative<T>(state_); }
  Status status() const& { return ok() ? Status() : std::get<Status>(state_); }
  Status status() && { return ok() ? Status() : std::get<Status>(std::move(state_)); }  // needs no memory

  // Precondition: ok().
  T& operator*() & { return get(); }
  const T& operator*() const& { return const_cast<Result*>(this)->get(); }
  T&& operator*() && { return std::move(get()); }
  T* operator->() { return &get(); }
  const T* operator->() const { return &**this; }

  // Returns the value, or throws std::runtime_error with the message.
  T& value() & {
    if (!ok()) throw std::runtime_error(status().to_string());
    return get();
  }
  T&& value() && { return std::move(value()); }

 private:
  T& get() {
    assert(ok());
    return *std::get_if<T>(&state_);
  }

  std::variant<Status, T> state_;
};

}  // namespace backslice
