// Lists of integers as Python writes them.
#pragma once

#include <string>

#include "backslice/ints.h"

namespace backslice {

std::string python_list(Ints values);   // [4, 6]
std::string python_tuple(Ints values);  // (4, 6), (4,), ()

}  // namespace backslice
