/// @file
/// PreparedSlice: a slice that is checked and planned once, to run often into memory that the caller owns.
///
///     Result<PreparedSlice> crop = PreparedSlice::make(selection, DType::Float32);
///     if (!crop) return crop.status();
///     for (...) {
///       if (Status s = crop->forward(x, y); !s.ok()) return s;        // y = x[selection]
///       if (Status s = crop->gradient(dy, dx); !s.ok()) return s;     // dx: dy where selected, zero elsewhere
///     }
///
/// It is made for tensors of one dtype and one layout each; their addresses may change, other layouts are refused.
/// Immutable, cheap to copy, and may be used by several threads at once.
#pragma once

#include <memory>

#include "backslice/context.h"
#include "backslice/selection.h"

namespace backslice {

/// A slice of one dtype and layout, ready to run.
class BACKSLICE_EXPORT PreparedSlice {
 public:
  /// For contiguous tensors. `item_size` is needed for DType::Bytes only.
  static Result<PreparedSlice> make(const Selection& selection, DType dtype, std::int64_t item_size = kItemSizeOfDType);

  /// For tensors of these layouts: `x` of selection.shape(), `y` of selection.result_shape().
  static Result<PreparedSlice> make(const Selection& selection, DType dtype, const Layout& x, const Layout& y);

  /// out = x[selection]
  Status forward(const ConstView& x, const View& out, const Context& = {}) const;

  /// Writes all of out: dy where selected, zero elsewhere.
  Status gradient(const ConstView& dy, const View& out, const Context& = {}) const;

  /// out[selection] += dy, as Write::Accumulate: after an error, Status::output_written() says whether some was added.
  Status accumulate(const ConstView& dy, const View& out, const Context& = {}) const;

  /// The gradient in memory that is laid out as y() and x(), where views need not be made and compared.
  Status gradient(const void* dy, void* out, const Context& = {}) const;

  const Selection& selection() const& BACKSLICE_LIFETIME_BOUND;
  Selection selection() const&& { return selection(); }
  DType dtype() const;
  const Layout& x() const& BACKSLICE_LIFETIME_BOUND;  ///< Also dx's.
  Layout x() const&& { return x(); }
  const Layout& y() const& BACKSLICE_LIFETIME_BOUND;  ///< Also dy's.
  Layout y() const&& { return y(); }

 private:
  struct Impl;
  explicit PreparedSlice(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace backslice
