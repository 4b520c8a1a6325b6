/* backslice in C: the backward pass of slicing, for every language that can call C. Includes all of the C interface. */
#ifndef BACKSLICE_C_BACKSLICE_H
#define BACKSLICE_C_BACKSLICE_H

#include "backslice/c/base.h"
#include "backslice/c/grad_buffer.h"
#include "backslice/c/ragged.h"
#include "backslice/c/ragged_variant.h"
#include "backslice/c/selection.h"
#include "backslice/c/slice.h"
#include "backslice/c/sparse_slice.h"
#include "backslice/c/tensor_array.h"

#endif
