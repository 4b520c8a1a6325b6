/// @file
/// All of backslice.
#pragma once

#include "backslice/broadcast.h"
#include "backslice/buffer_pool.h"
#include "backslice/cost.h"
#include "backslice/cuda.h"
#include "backslice/grad_buffer.h"
#include "backslice/multi_slice.h"
#include "backslice/notation.h"
#include "backslice/picture.h"
#include "backslice/prepared_slice.h"
#include "backslice/ragged_slice.h"
#include "backslice/ragged_variant.h"
#include "backslice/slice.h"
#include "backslice/sparse_slice.h"
#include "backslice/targets.h"
#include "backslice/tensor_array_container.h"
#include "backslice/version.h"
