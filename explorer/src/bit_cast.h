// std::bit_cast, which emscripten's C++ library lacks before 3.1.10. Must be included first.
#pragma once

#include <version>

#ifndef __cpp_lib_bit_cast
namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

}  // namespace std
#endif
