// TensorArrays: the bytes are a program, which runs side by side on the library's arrays and on a plain model.
#include "backslice/tensor_array.h"

#include <deque>

#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/placed.h"
#include "fuzz/tensor_array_model.h"

namespace backslice::fuzz {
namespace {

Dense dense(const Tensor& tensor) {
  return {Numbers(tensor.shape().begin(), tensor.shape().end()), values_of(tensor.view())};
}

PartialShape partial(const Partial& shape) {
  return shape ? must_get(PartialShape::make(*shape), "a partial shape") : PartialShape();
}

class Program {
 public:
  Program(Input& in, TensorArray array, std::shared_ptr<TensorArrayModel> model) : in_(in) {
    pairs_.push_back({std::move(array), std::move(model)});
  }

  void run() {
    for (int left = 40; in_.has_more() && left > 0; --left) {
      Pair& pair = pairs_[static_cast<std::size_t>(in_.within(0, static_cast<std::int64_t>(pairs_.size()) - 1))];
      step(pair);
      check_state(pair);
    }
    for (const auto& [tensor, value] : seen_) {
      must(same(tensor.dtype(), dense(tensor).values, value.values), "what was written or returned never changes");
    }
  }

 private:
  struct Pair {
    TensorArray array;
    std::shared_ptr<TensorArrayModel> model;
  };

  void step(Pair& pair) {
    switch (in_.within(0, 12)) {
      case 0:
      case 1:
      case 2: return write(pair);
      case 3: return scatter(pair);
      case 4: return unstack(pair);
      case 5: return split(pair);
      case 6: return read(pair);
      case 7: return gather(pair);
      case 8: return stack(pair);
      case 9: return concat(pair);
      case 10: return in_.one_in(4) ? close(pair) : read(pair);
      default: return grad(pair);
    }
  }

  // Returns whether a far index has made an array too long to be checked as a whole.
  static bool is_short(const Pair& pair) { return pair.model->size() < 1000; }

  std::int64_t any_index() { return in_.one_in(24) ? in_.integer() : in_.within(-1, 4); }

  Numbers any_indices(std::int64_t count) {
    Numbers indices(static_cast<std::size_t>(count));
    for (std::int64_t& index : indices) index = any_index();
    return indices;
  }

  // Returns shapes from a small pool, so that they are often equal.
  Numbers any_element_shape() {
    const std::vector<Numbers> shapes = {{2}, {2}, {2}, {}, {3}, {0}, {1, 2}, {2, 2}};
    return in_.pick(shapes);
  }

  Partial any_partial() {
    if (in_.flag()) return std::nullopt;
    Numbers shape = any_element_shape();
    for (std::int64_t& extent : shape) extent = in_.one_in(3) ? -1 : extent;
    return shape;
  }

  Tensor any_value(const Pair& pair, Numbers shape) {
    const auto& kind = pair.model->kind();
    return remember(owned(Placed(in_, kind.dtype, kind.item_size, shape, Strides::Any)));
  }

  Tensor remember(const Tensor& tensor) {
    seen_.push_back({tensor, dense(tensor)});
    return tensor;
  }

  Numbers with_rows(std::int64_t rows) {
    Numbers shape = any_element_shape();
    shape.insert(shape.begin(), rows);
    return shape;
  }

  void write(Pair& pair) {
    const std::int64_t index = any_index();
    const Tensor value =
        any_value(pair, in_.flag() && is_short(pair) ? any_element_shape() : with_rows(in_.within(0, 3)));
    agree(pair.array.write(index, value, context_), pair.model->write(index, dense(value)), "write");
  }

  void scatter(Pair& pair) {
    const Numbers indices = any_indices(in_.within(0, 4));
    const auto rows = static_cast<std::int64_t>(indices.size());
    const Tensor value = any_value(pair, in_.one_in(16) ? any_element_shape() : with_rows(rows));
    agree(pair.array.scatter(indices, value, context_), pair.model->scatter(indices, dense(value)), "scatter");
  }

  void unstack(Pair& pair) {
    const Tensor value = any_value(pair, in_.one_in(16) ? Numbers{} : with_rows(in_.within(0, 4)));
    const Dense all = dense(value);
    Numbers indices;
    for (std::int64_t i = 0; !all.shape.empty() && i < all.shape[0]; ++i) indices.push_back(i);
    agree(pair.array.unstack(value, context_), pair.model->scatter(indices, all), "unstack");
  }

  void split(Pair& pair) {
    Numbers lengths(static_cast<std::size_t>(is_short(pair) && !in_.one_in(8) ? pair.model->size() : in_.within(0, 5)));
    std::int64_t rows = 0;
    for (std::int64_t& length : lengths) {
      length = in_.within(0, 3);
      rows += length;
    }
    if (!lengths.empty() && in_.one_in(12)) lengths.back() = in_.integer();
    const Tensor value = any_value(pair, in_.one_in(16) ? Numbers{} : with_rows(rows));
    agree(pair.array.split(value, lengths, context_), pair.model->split(dense(value), lengths), "split");
  }

  void check(const Pair& pair, const Tensor& found, const Dense& expected, const std::string& what) {
    const Dense all = dense(found);
    must(all.shape == expected.shape, what + " has the model's shape");
    must(found.dtype() == pair.model->kind().dtype, what + " has the array's dtype");
    must(same(found.dtype(), all.values, expected.values), what + " has the model's values");
    remember(found);
  }

  // Runs both forms of a reading operation: the one that makes a tensor, and the one that fills the caller's memory.
  template <class Make, class Measure, class Fill>
  Result<Tensor> made_or_filled(const Pair& pair, const Make& make, const Measure& measure, const Fill& fill) {
    if (in_.flag()) return make();
    const auto shape = measure();
    if (!shape.ok()) return shape.status();
    const auto& kind = pair.model->kind();
    Placed out(in_, kind.dtype, kind.item_size, Numbers(shape->begin(), shape->end()), Strides::Distinct);
    if (Status status = fill(out.view()); !status.ok()) return status;
    out.check_gaps();
    return owned(std::move(out));
  }

  void read(Pair& pair) {
    const std::int64_t index = any_index();
    const auto found = made_or_filled(
        pair, [&] { return pair.array.read(index, context_); }, [&] { return pair.array.read_shape(index, context_); },
        [&](const View& out) { return pair.array.read_into(index, out, context_); });
    const auto expected = pair.model->read(index);
    if (agree(found.status(), expected.has_value(), "read")) check(pair, *found, *expected, "read");
  }

  void gather(Pair& pair) {
    const Numbers indices = any_indices(in_.within(0, 4));
    const Partial shape = any_partial();
    const PartialShape known = partial(shape);
    const auto found = made_or_filled(
        pair, [&] { return pair.array.gather(indices, known, context_); },
        [&] { return pair.array.gather_shape(indices, known, context_); },
        [&](const View& out) { return pair.array.gather_into(indices, out, known, context_); });
    const auto expected = pair.model->gather(indices, shape);
    if (agree(found.status(), expected.has_value(), "gather")) check(pair, *found, *expected, "gather");
  }

  void stack(Pair& pair) {
    if (!is_short(pair)) return;
    Numbers indices;
    for (std::int64_t i = 0; i < pair.model->size(); ++i) indices.push_back(i);
    const auto found = made_or_filled(
        pair, [&] { return pair.array.stack(context_); }, [&] { return pair.array.stack_shape(context_); },
        [&](const View& out) { return pair.array.stack_into(out, context_); });
    const auto expected = pair.model->gather(indices, {});
    if (agree(found.status(), expected.has_value(), "stack")) check(pair, *found, *expected, "stack");
  }

  void concat(Pair& pair) {
    if (!is_short(pair)) return;
    const Partial shape = any_partial();
    if (pair.model->size() == 0) return concat_nothing(pair, shape);
    const PartialShape known = partial(shape);
    Numbers lengths(static_cast<std::size_t>(pair.model->size()));
    const auto make = [&]() -> Result<Tensor> {
      auto both = pair.array.concat(known, context_);
      if (!both.ok()) return both.status();
      lengths = both->lengths;
      return both->value;
    };
    const auto found = made_or_filled(
        pair, make, [&] { return pair.array.concat_shape(known, context_); },
        [&](const View& out) { return pair.array.concat_into(out, lengths, known, context_); });
    const auto expected = pair.model->concat(shape);
    if (!agree(found.status(), expected.has_value(), "concat")) return;
    check(pair, *found, expected->value, "concat");
    must(lengths == expected->lengths, "the lengths of concat");
  }

  void concat_nothing(Pair& pair, const Partial& shape) {
    const auto found = pair.array.concat(partial(shape), context_);
    if (!found.ok()) return;
    must(!pair.model->is_closed(), "a closed array is refused");
    must(found->lengths.empty() && found->value.shape()[0] == 0, "no elements give no rows");
  }

  void close(Pair& pair) {
    must(pair.array.close().ok(), "any array can be closed");
    pair.model->close();
  }

  void grad(Pair& pair) {
    const std::string source = in_.flag() ? "a" : "b";
    const Numbers prepend = in_.one_in(8) ? Numbers{-1} : in_.flag() ? Numbers{} : Numbers{in_.within(0, 2)};
    const auto made = pair.array.grad_with_shape(source, prepend);
    const auto model = pair.model->grad(source, prepend);
    if (!agree(made.status(), model != nullptr, "grad_with_shape")) return;
    must(made->is_gradient() && pair.array.find_grad(source).value() == *made, "the gradient is found again");
    for (const Pair& known : pairs_) {
      if (known.model == model) return must(known.array == *made, "one accumulator per source");
    }
    pairs_.push_back({*made, model});
  }

  void check_state(const Pair& pair) {
    must(pair.array.is_closed().value() == pair.model->is_closed(), "closed");
    const auto size = pair.array.size();
    if (agree(size.status(), !pair.model->is_closed(), "size")) must(*size == pair.model->size(), "the model's size");
    must(pair.array.element_shape().value().to_string() == partial(pair.model->element_shape()).to_string(),
         "the element shape is " + partial(pair.model->element_shape()).to_string() + ", not " +
             pair.array.element_shape().value().to_string());
  }

  Input& in_;
  const Context context_{.executor = &in_.executor()};
  std::deque<Pair> pairs_;                      // a deque keeps addresses stable when another is made
  std::vector<std::pair<Tensor, Dense>> seen_;  // written or returned tensors, and their content
};

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice;
  using namespace backslice::fuzz;
  Input in(data, size);
  const DType dtype = in.dtype();
  TensorArrayModel::Kind kind{dtype, any_item_size(in, dtype), in.flag(), in.flag(), in.one_in(4), false};
  const std::vector<Partial> shapes = {std::nullopt, std::nullopt, Numbers{2}, Numbers{-1}, Numbers{-1, 2}, Numbers{}};
  const Partial shape = in.pick(shapes);
  const bool contiguous = in.one_in(4);
  const std::int64_t slots = in.one_in(24) ? in.integer() : in.within(0, 4);
  TensorArrayOptions options;
  if (shape) options.element_shape = *PartialShape::make(*shape);
  options.dynamic_size = kind.dynamic_size;
  options.clear_after_read = kind.clear_after_read;
  options.identical_element_shapes = kind.identical_element_shapes;
  options.contiguous = contiguous && slots < 1000;
  options.item_size = kind.item_size;
  options.device = place();
  auto array = TensorArray::make(slots, dtype, options);
  const bool full = shape && std::ranges::count(*shape, -1) == 0;
  const bool possible =
      slots >= 0 && slots <= std::numeric_limits<std::int32_t>::max() &&
      (!options.contiguous || (full && !kind.dynamic_size && dtype != DType::String && has_zero(dtype)));
  if (!agree(array.status(), possible, "TensorArray::make")) return 0;
  Program(in, *std::move(array), std::make_shared<TensorArrayModel>(slots, kind, shape)).run();
  return 0;
}
