// All of backslice.
#pragma once

#include "backslice/buffer_pool.h"
#include "backslice/plan.h"
#include "backslice/slice.h"
#include "backslice/version.h"
