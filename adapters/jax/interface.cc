#include "handlers.h"

// XLA refuses newer handlers only when a backend starts, which then fails completely. Python therefore checks before.
int backslice_xla_interface() { return 1000 * XLA_FFI_API_MAJOR + XLA_FFI_API_MINOR; }
