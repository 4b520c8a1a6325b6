/// @file
/// BACKSLICE_EXPORT marks what a shared library build makes visible.
#pragma once

#define BACKSLICE_EXPORT [[gnu::visibility("default")]]

/// Of a function whose result refers to memory of its object: compilers that know it warn where the object is a
/// temporary. Where a function can be told from its object's value category, temporaries give a copy or are refused.
#if __has_cpp_attribute(clang::lifetimebound)
#define BACKSLICE_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define BACKSLICE_LIFETIME_BOUND
#endif
