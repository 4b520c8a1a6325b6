/// @file
/// The version of these headers; CMake and the Python package take theirs from here.
#pragma once

#define BACKSLICE_VERSION "0.2.0"
