#include "handlers.h"

// XLA refuses handlers that are newer than itself, but only when a backend starts, which then fails as a whole.
// Python therefore asks beforehand.
int backslice_xla_interface() { return 1000 * XLA_FFI_API_MAJOR + XLA_FFI_API_MINOR; }
