// The checks every operation makes at its boundary, before anything is allocated or written.
#pragma once

#include "backslice/context.h"
#include "backslice/selection.h"
#include "backslice/view.h"

namespace backslice {

namespace cuda {
class KnownPages;
}

// Where an operation can run: on the CPU alone, or wherever its arguments are.
enum class RunsOn { Cpu, AnyDevice };

// A readable tensor: its memory is not null and, for memory on a device, really there; strings are aligned.
Status check_input(const ConstView& view, const char* argument, RunsOn runs_on = RunsOn::Cpu);

// The same for one of many on any device, of which the driver is asked about few. Precondition: the others whose pages
// are known are on the same device.
Status check_input(const ConstView& view, const char* argument, cuda::KnownPages& known);

// An argument has exactly this shape; the message names the first axis that differs. `meaning` says whose shape it is.
Status check_shape(const Shape& shape, const char* argument, const Shape& expected, const char* meaning);

// No two elements of an output share memory.
Status check_distinct(const View& out, const char* argument);

// An output shares no memory with another argument.
Status check_apart(const View& out, const char* argument, const ConstView& other, const char* other_argument);

// An output of that shape for elements of that dtype and size, those of `owner`, that does not overlap itself.
// Exported for the Python bindings.
BACKSLICE_EXPORT Status check_output(const View& out, const char* argument, const Shape& expected, DType dtype,
                                     std::int64_t item_size, const char* owner, RunsOn runs_on = RunsOn::Cpu);

// The same for elements like the input's, which was checked before; on its device, not overlapping it either.
Status check_output(const View& out, const Shape& expected, const ConstView& input, const char* input_argument);

// Whether a gradient of this dtype can be computed: sums need an addition, gaps need a zero. `argument` has the dtype.
Status check_gradient_dtype(DType dtype, const char* argument, const Selection& selection, Write write);

// Whether a gradient of that dtype can be added to an output.
Status check_can_accumulate(DType dtype, const char* argument);

}  // namespace backslice
