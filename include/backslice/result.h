/// @file
/// Result<T>: a value, or the Status that says why there is none.
///
///     Result<Tensor> dx = slice_grad(selection, dy);
///     if (!dx) return dx.status();
///     use(*dx);
///
/// Calls that need each other's results can be chained; the first error ends the chain and becomes its result:
///
///     Result<Tensor> dx = Selection::from_index({4, 5}, "1:3, ::2")
///                             .and_then([&](const Selection& s) { return slice_grad(s, dy); });
///
/// Callers who prefer exceptions call value(), the one function here that throws.
#pragma once

#include <cassert>
#include <concepts>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

#include "backslice/export.h"
#include "backslice/status.h"

namespace backslice {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Status error) : state_(std::move(error)) { assert(!std::get<Status>(state_).ok()); }

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const
    requires(!std::same_as<T, bool>)
  {
    return ok();
  }
  /// `if (result)` would be true of a Result that holds false: write `if (!result.ok())`, then `if (*result)`.
  explicit operator bool() const
    requires std::same_as<T, bool>
  = delete;  // a Result<bool> is not a condition: use ok(), and then * or value()

  Status status() const& { return ok() ? Status() : std::get<Status>(state_); }
  Status status() && { return ok() ? Status() : std::get<Status>(std::move(state_)); }  ///< Needs no memory.

  /// The value. Precondition: ok(). A temporary Result returns it by value, so that the value in `for (float v :
  /// *dx.elements<float>())` outlives the loop.
  T& operator*() & BACKSLICE_LIFETIME_BOUND { return get(); }
  const T& operator*() const& BACKSLICE_LIFETIME_BOUND { return get(); }
  T operator*() && { return std::move(get()); }
  T* operator->() & BACKSLICE_LIFETIME_BOUND { return &get(); }
  const T* operator->() const& BACKSLICE_LIFETIME_BOUND { return &get(); }
  void operator->() const&& = delete;  ///< It would go before what it gives: value() gives the value itself.

  /// The value, or std::runtime_error with the message of the status.
  T& value() & BACKSLICE_LIFETIME_BOUND { return checked().get(); }
  const T& value() const& BACKSLICE_LIFETIME_BOUND { return checked().get(); }
  T value() && { return std::move(checked().get()); }

  /// next(value), which returns a Result or a Status; or this error.
  template <class Next>
  auto and_then(Next&& next) & {
    return chained(*this, std::forward<Next>(next));
  }
  template <class Next>
  auto and_then(Next&& next) const& {
    return chained(*this, std::forward<Next>(next));
  }
  template <class Next>
  auto and_then(Next&& next) && {
    return chained(std::move(*this), std::forward<Next>(next));
  }

  /// A Result of function(value), which cannot fail; or this error.
  template <class Function>
  auto transform(Function&& function) const& {
    return and_then([&](const T& value) { return wrapped(std::invoke(std::forward<Function>(function), value)); });
  }
  template <class Function>
  auto transform(Function&& function) && {
    return std::move(*this).and_then(
        [&](T&& value) { return wrapped(std::invoke(std::forward<Function>(function), std::move(value))); });
  }

  /// This value; or recover(status), which returns another Result<T>.
  template <class Recover>
  Result or_else(Recover&& recover) const& {
    return ok() ? *this : Result(std::invoke(std::forward<Recover>(recover), status()));
  }
  template <class Recover>
  Result or_else(Recover&& recover) && {
    return ok() ? std::move(*this) : Result(std::invoke(std::forward<Recover>(recover), std::move(*this).status()));
  }

 private:
  template <class U>
  static Result<U> wrapped(U value) {
    return Result<U>(std::move(value));
  }

  template <class Self, class Next>
  static auto chained(Self&& self, Next&& next) {
    using Outcome = std::remove_cvref_t<decltype(std::invoke(std::forward<Next>(next), *std::forward<Self>(self)))>;
    if (!self.ok()) return Outcome(std::forward<Self>(self).status());
    return Outcome(std::invoke(std::forward<Next>(next), *std::forward<Self>(self)));
  }

  Result& checked() {
    if (!ok()) throw std::runtime_error(status().to_string());
    return *this;
  }
  const Result& checked() const { return const_cast<Result*>(this)->checked(); }

  T& get() {
    assert(ok());
    return *std::get_if<T>(&state_);
  }
  const T& get() const { return const_cast<Result*>(this)->get(); }

  std::variant<Status, T> state_;
};

}  // namespace backslice
