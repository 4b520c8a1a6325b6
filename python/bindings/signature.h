// One row of the table that generate_signatures.py makes of the type stub.
#pragma once

#include <array>
#include <cstddef>

namespace backslice::python {

enum class Kind { Function, Class, Constructor, Method, StaticMethod, Property };

struct Parameter {
  const char* name;
  const char* default_value;  // a Python literal, or null
};

inline constexpr std::size_t kMostParameters = 16;

struct Signature {
  const char* scope;  // the class, or empty
  const char* name;
  Kind kind;
  const char* doc;     // begins with the text signature, where it is of something that can be called
  const char* makers;  // of a class without a constructor: what makes its instances
  std::array<Parameter, kMostParameters> parameters;  // without self
  std::size_t count;                                  // of the parameters, *name and **name included
  std::size_t positional;                             // how many of them can be given by position
  bool collects;           // *name follows these: a tuple of all further positional arguments
  bool collects_keywords;  // **name comes last: a dict of all further keywords
};

// Whether parameter i is *name or **name, which no keyword means.
constexpr bool is_collector(const Signature& signature, std::size_t i) {
  return (signature.collects && i == signature.positional) || (signature.collects_keywords && i + 1 == signature.count);
}

}  // namespace backslice::python
