// All of backslice.
#pragma once

#include "backslice/plan.h"
#include "backslice/slice.h"
#include "backslice/version.h"
