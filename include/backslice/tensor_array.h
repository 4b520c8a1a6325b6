/// @file
/// TensorArray: a list of tensors that is written and read by index, with gradients.
///
/// What TensorFlow's TensorArrayV3 operations do, without a graph: operations happen in the order they are called. A
/// forward array is written once at each index. grad(source) makes its gradient: an array of the same size whose writes
/// to one index add up. Handles are values: copies share one array, which lives as long as any of them.
///
///     Result<TensorArray> steps = TensorArray::make(3, DType::Float32);
///     if (!steps) return steps.status();
///     if (Status s = steps->write(0, y0); !s.ok()) return s;        // holds y0 by reference
///     Result<TensorArray> dsteps = steps->grad("loss");             // the same accumulator for the same source
///     if (!dsteps) return dsteps.status();
///     for (const Tensor& term : {a, b}) {
///       if (Status s = dsteps->write(0, term); !s.ok()) return s;
///     }
///     Result<Tensor> dy0 = dsteps->read(0);                         // a + b
///
/// Elements that lie next to each other in one block (as unstack, split and scatter leave them) are stacked, gathered
/// and concatenated without a copy. Results may share memory with what was written: treat them as read-only.
///
/// In a child that was forked while another thread was using the array, operations that would have to wait for that
/// thread return FailedPrecondition; functions that return no Result throw a std::exception.
///
/// Elements can be read into your own memory, too: ..._shape says how much that takes, and ..._into fills it. An output
/// has exactly that shape and the array's dtype, any strides, and overlaps neither itself nor an element. If elements
/// were written in between, so that the shape changed, it is InvalidArgument.
///
///     Result<Shape> shape = dsteps->read_shape(0);
///     Status filled = dsteps->read_into(0, out);                    // clears the element, if it succeeds
///
/// Elements may be on a CUDA device, which the options name. Operations that copy or add elements are queued on the
/// Context's stream, behind what the streams of the elements' memory have queued (cuda_await). Elements that are let go
/// of while a stream still reads them are kept for it (cuda_keep).
///
/// Thread-safe. Each operation is atomic, and one that fails, for whatever reason, changes nothing. No lock is held
/// while executors, allocators, deleters or cancellation run: they may use the array. Operations do not wait for each
/// other: any number of threads may write to one index of a gradient array, read without clearing, or ask for shapes.
/// Where only one of two can succeed (both write an index of a forward array, both read what is cleared after reading,
/// or one writes what the other reads), the one that comes while the other is at work is FailedPrecondition.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backslice/context.h"
#include "backslice/ints.h"
#include "backslice/partial_shape.h"
#include "backslice/tensor.h"
#include "backslice/tensor_array_contents.h"

namespace backslice {

namespace tensor_array {
struct State;
}

/// A handle to an array of tensors.
class BACKSLICE_EXPORT TensorArray {
 public:
  /// `contiguous` needs a full element_shape and a fixed size. An array has at most 2^31 - 1 elements, as TensorFlow's
  /// indices are int32.
  static Result<TensorArray> make(std::int64_t size, DType dtype, const TensorArrayOptions& = {}, const Context& = {});
  template <int = 0>  // here and below: so that `{}` is the argument with a default, not the Context
  static Result<TensorArray> make(std::int64_t size, DType dtype, const Context& context) {
    return make(size, dtype, TensorArrayOptions(), context);
  }

  /// Holds the value by reference. At most kMaxTerms are kept for an index of a gradient array; one more, and they are
  /// added up.
  Status write(std::int64_t index, const Tensor& value, const Context& = {});
  /// The same with your own memory, which `owner` keeps alive and which must not change any more. If `owner` is null,
  /// you keep it alive until the array no longer holds it.
  Status write(std::int64_t index, const ConstView& value, std::shared_ptr<const void> owner,
               const Context& context = {}) {
    return write(index, detail::shared_tensor(value, std::move(owner)), context);
  }
  static constexpr std::size_t kMaxTerms = 8;

  /// Returns the written tensor, or the sum of the written tensors. An unwritten element reads as zeros if its shape is
  /// known. As in TensorFlow, reading past the end of a gradient array of known element shape makes it longer. An index
  /// outside of any other array, and a closed array, are InvalidArgument.
  Result<Tensor> read(std::int64_t index, const Context& = {});
  Result<Shape> read_shape(std::int64_t index, const Context& = {}) const;
  Status read_into(std::int64_t index, const View& out, const Context& = {});

  /// Reads many elements into one tensor, [indices, element...]. A shape that is given becomes the array's.
  Result<Tensor> gather(Ints indices, const PartialShape& element_shape = {}, const Context& = {});
  Result<Shape> gather_shape(Ints indices, const PartialShape& element_shape = {}, const Context& = {}) const;
  Status gather_into(Ints indices, const View& out, const PartialShape& element_shape = {}, const Context& = {});
  template <int = 0>
  Result<Tensor> gather(Ints indices, const Context& context) {
    return gather(indices, PartialShape(), context);
  }
  template <int = 0>
  Result<Shape> gather_shape(Ints indices, const Context& context) const {
    return gather_shape(indices, PartialShape(), context);
  }
  template <int = 0>
  Status gather_into(Ints indices, const View& out, const Context& context) {
    return gather_into(indices, out, PartialShape(), context);
  }
  /// Writes row i of the value to indices[i].
  Status scatter(Ints indices, const Tensor& value, const Context& = {});

  /// gather and scatter of all indices.
  Result<Tensor> stack(const Context& = {});
  Result<Shape> stack_shape(const Context& = {}) const;
  Status stack_into(const View& out, const Context& = {});
  Status unstack(const Tensor& value, const Context& = {});

  /// The elements one after the other, and how many rows each has.
  struct Concatenated {
    Tensor value;
    std::vector<std::int64_t> lengths;
  };
  /// Reads all elements, joined along their first axis.
  Result<Concatenated> concat(const PartialShape& element_shape_except0 = {}, const Context& = {});
  Result<Shape> concat_shape(const PartialShape& element_shape_except0 = {}, const Context& = {}) const;
  /// `lengths` has room for size() numbers.
  Status concat_into(const View& out, std::span<std::int64_t> lengths, const PartialShape& element_shape_except0 = {},
                     const Context& = {});
  template <int = 0>
  Result<Concatenated> concat(const Context& context) {
    return concat(PartialShape(), context);
  }
  template <int = 0>
  Result<Shape> concat_shape(const Context& context) const {
    return concat_shape(PartialShape(), context);
  }
  template <int = 0>
  Status concat_into(const View& out, std::span<std::int64_t> lengths, const Context& context) {
    return concat_into(out, lengths, PartialShape(), context);
  }
  /// Writes the first lengths[0] rows to index 0, and so on.
  Status split(const Tensor& value, Ints lengths, const Context& = {});

  /// How many elements the array has.
  Result<std::int64_t> size() const;

  /// Releases everything. Operations on elements fail from now on; gradients that were made before still work.
  Status close();

  /// The gradient array of that source; made at the first call, which fixes the size of a dynamic array.
  Result<TensorArray> grad(const std::string& source, const Context& context = {}) {
    return grad_with_shape(source, {}, context);
  }
  /// Its elements have shape_to_prepend before the element shape. The first call for a source decides.
  Result<TensorArray> grad_with_shape(const std::string& source, Ints shape_to_prepend, const Context& = {});

  /// The gradient of that source if it was made.
  Result<std::optional<TensorArray>> find_grad(std::string_view source) const;

  /// Returns the contents without reading them: elements are neither cleared nor count as read. Values are shared,
  /// except those of a contiguous array. restore() makes a new array from the contents.
  Result<TensorArrayContents> contents(const Context& = {}) const;
  static Result<TensorArray> restore(const TensorArrayContents& contents, const Context& = {});

  const std::string& name() const& BACKSLICE_LIFETIME_BOUND;  ///< "name@source" for gradients.
  std::string name() const&& { return name(); }
  DType dtype() const;
  Device device() const;  ///< Where its elements are.
  Result<PartialShape> element_shape() const;
  bool is_gradient() const;
  Result<bool> is_closed() const;

  friend bool operator==(const TensorArray& a, const TensorArray& b) { return a.state_ == b.state_; }

 private:
  explicit TensorArray(std::shared_ptr<tensor_array::State> state) : state_(std::move(state)) {}
  std::shared_ptr<tensor_array::State> state_;
};

/// TensorFlow's TensorArrayGradWithShape, for ported graphs: flow_in is ignored, flow_out is 0.
struct GradWithShape {
  TensorArray grad_handle;
  float flow_out = 0;
};
BACKSLICE_EXPORT Result<GradWithShape> tensor_array_grad_with_shape(TensorArray handle, float flow_in,
                                                                    Ints shape_to_prepend, const std::string& source,
                                                                    const Context& = {});

}  // namespace backslice
