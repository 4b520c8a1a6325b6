// PreparedSlice: a slice that is checked and planned once, to run often into memory that the caller owns.
//
//     PreparedSlice crop = PreparedSlice::make(selection, DType::Float32).value();
//     for (...) {
//       crop.forward(x, y);        // y = x[selection]
//       crop.gradient(dy, dx);     // dx: dy where selected, zero elsewhere
//     }
//
// It is made for tensors of one dtype that lie in one way; other addresses are fine, other layouts are refused.
// Immutable, cheap to copy, and may be used by several threads at once.
#pragma once

#include <memory>

#include "backslice/context.h"
#include "backslice/selection.h"

namespace backslice {

class BACKSLICE_EXPORT PreparedSlice {
 public:
  // For contiguous tensors. `item_size` is for DType::Bytes only.
  static Result<PreparedSlice> make(const Selection& selection, DType dtype, std::int64_t item_size = 0);

  // For tensors of these layouts: `x` of selection.shape(), `y` of selection.result_shape().
  static Result<PreparedSlice> make(const Selection& selection, DType dtype, const Layout& x, const Layout& y);

  // out = x[selection]
  Status forward(const ConstView& x, const View& out, const Context& = {}) const;

  // All of out: dy where selected, zero elsewhere.
  Status gradient(const ConstView& dy, const View& out, const Context& = {}) const;

  // out[selection] += dy
  Status accumulate(const ConstView& dy, const View& out, const Context& = {}) const;

  const Selection& selection() const;
  DType dtype() const;
  const Layout& x() const;  // also dx's
  const Layout& y() const;  // also dy's

 private:
  struct Impl;
  explicit PreparedSlice(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace backslice
