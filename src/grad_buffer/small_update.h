// SmallUpdate: the gradient of a small slice on its way into a GradBuffer on the CPU. It is the short path of write()
// and add(), which takes less time than their checks. The Python bindings read their arguments into one.
#pragma once

#include <optional>

#include "backslice/grad_buffer.h"
#include "ops/small_move.h"

namespace backslice {

// Preconditions: dy fits the slice and the buffer, and shares no memory with it; the move is short.
struct SmallUpdate {
  Selection::Axes region;  // with ascending steps, one for each axis of the buffer
  SmallMove move;          // of the elements of dy
  const std::byte* dy;

  // Returns nullopt if that is not small. Precondition: dy was checked.
  static std::optional<SmallUpdate> of(const Selection& selection, const ConstView& dy, const ConstView& buffer);

  // As GradBuffer::write(), where no more than one small region may not be zero. Elsewhere it returns false and does
  // nothing.
  BACKSLICE_EXPORT bool write(GradBuffer& buffer) const;

  // As GradBuffer::add(), where the slice takes the only region. Elsewhere it returns false and does nothing.
  BACKSLICE_EXPORT bool add(GradBuffer& buffer) const;

 private:
  bool is_region(const Selection& other) const;
};

}  // namespace backslice
