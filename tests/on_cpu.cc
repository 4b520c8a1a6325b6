#include "backend.h"

const backslice::testing::Backend& backslice::testing::backend_under_test() { return cpu(); }
