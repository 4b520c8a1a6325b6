/// @file
/// BACKSLICE_EXPORT marks what a shared library build makes visible.
#pragma once

#define BACKSLICE_EXPORT [[gnu::visibility("default")]]
