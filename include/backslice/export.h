/// @file
/// BACKSLICE_EXPORT marks what a shared library build makes visible.
#pragma once

#define BACKSLICE_EXPORT [[gnu::visibility("default")]]

/// For functions whose result refers to memory of their object: some compilers warn if the object is a temporary.
/// Functions that can detect temporaries return a copy or do not compile.
#if __has_cpp_attribute(clang::lifetimebound)
#define BACKSLICE_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define BACKSLICE_LIFETIME_BOUND
#endif
