// TensorArray: the operations that read, each as a new tensor, as a shape, and into the caller's memory.
#include "core/device.h"
#include "core/errors.h"
#include "core/overlap.h"
#include "ops/checks.h"
#include "tensor_array/reading.h"

namespace backslice {

using namespace tensor_array;

namespace {

using Join = Reading::Join;

using Lengths = std::vector<std::int64_t>;

void append_lengths(std::span<const Element> elements, Lengths& lengths) {
  lengths.reserve(elements.size());
  for (const Element& element : elements) lengths.push_back(element.shape[0]);
}

// Returns a new tensor, or a view of the written tensors. `lengths`, unless it is null, gets the rows of each element.
// May throw.
Result<Tensor> read_new(State& array, const Reading& reading, const Context& context, Lengths* lengths = nullptr) {
  const Call call(context, array.device());
  std::optional<Tensor> result;
  const auto make = [&](std::span<const Element> elements, const Shape& shape) {
    auto made = reading.join == Join::One ? sum_of(elements[0], array.dtype, array.item_size, call)
                                          : join_elements(elements, shape, array.dtype, array.item_size, call);
    if (lengths != nullptr) append_lengths(elements, *lengths);
    if (made.ok()) result = *std::move(made);
    return made.status();
  };
  BACKSLICE_RETURN_IF_ERROR(read_elements(array, reading, Effect::Read, call, std::cref(make)));
  return *std::move(result);
}

Result<Shape> measure(State& array, const Reading& reading, const Context& context) {
  return without_throwing([&]() -> Result<Shape> {
    Shape result;
    const auto keep = [&](std::span<const Element>, const Shape& shape) {
      result = shape;
      return Status();
    };
    BACKSLICE_RETURN_IF_ERROR(
        read_elements(array, reading, Effect::None, Call(context, array.device()), std::cref(keep)));
    return result;
  });
}

Status check_out(const State& array, const View& out, std::span<const Element> elements, const Shape& shape) {
  BACKSLICE_RETURN_IF_ERROR(check_same_device(out.device, "out", array.device(), "the array"));
  BACKSLICE_RETURN_IF_ERROR(
      check_output(out, "out", shape, array.dtype, array.item_size, "the array", RunsOn::AnyDevice));
  if (shares_memory(out, elements)) return invalid_argument("out shares memory with an element of the array").at("out");
  return Status();
}

Status check_lengths(std::span<std::int64_t> lengths, const View& out, std::span<const Element> elements) {
  if (lengths.size() != elements.size()) {
    return invalid_argument("lengths has room for ", counted(lengths.size(), "number", "numbers"),
                            ", but the array has ", counted(elements.size(), "element", "elements"),
                            "; it needs one per element")
        .at("lengths");
  }
  const auto view = View::contiguous(lengths.data(), DType::Int64, {std::ssize(lengths)});
  if (!view.ok()) return view.status();
  BACKSLICE_RETURN_IF_ERROR(check_input(*view, "lengths"));
  if (overlap(*view, out)) return invalid_argument("lengths shares memory with out").at("lengths");
  if (shares_memory(*view, elements)) {
    return invalid_argument("lengths shares memory with an element of the array").at("lengths");
  }
  return Status();
}

Status read_into_view(State& array, const Reading& reading, const View& out, const Context& context,
                      std::optional<std::span<std::int64_t>> lengths = {}) {
  return without_throwing([&] {
    const Call call(context, array.device());
    bool is_written = false;
    const auto fill = [&](std::span<const Element> elements, const Shape& shape) {
      BACKSLICE_RETURN_IF_ERROR(check_out(array, out, elements, shape));
      if (lengths) BACKSLICE_RETURN_IF_ERROR(check_lengths(*lengths, out, elements));
      BACKSLICE_RETURN_IF_ERROR(join_elements_into(elements, out, call));
      for (std::size_t i = 0; lengths && i < elements.size(); ++i) (*lengths)[i] = elements[i].shape[0];
      is_written = true;
      return Status();
    };
    Status done = read_elements(array, reading, Effect::Read, call, std::cref(fill));
    return done.ok() || !is_written ? done : std::move(done).with_output_written();
  });
}

Reading one(const std::int64_t& index) { return {Join::One, Ints(&index, 1)}; }
Reading many(Ints indices, const PartialShape& shape) { return {Join::Stack, indices, shape}; }
Reading all() { return {Join::Stack}; }
Reading all_rows(const PartialShape& except0) { return {Join::Concat, {}, except0}; }

}  // namespace

Result<Tensor> TensorArray::read(std::int64_t index, const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    std::vector<Tensor> released;
    if (auto taken = take_term(*state_, index, released)) return *std::move(taken);
    return read_new(*state_, one(index), context);
  });
}
Result<Shape> TensorArray::read_shape(std::int64_t index, const Context& context) const {
  return measure(*state_, one(index), context);
}
Status TensorArray::read_into(std::int64_t index, const View& out, const Context& context) {
  return read_into_view(*state_, one(index), out, context);
}

Result<Tensor> TensorArray::gather(Ints indices, const PartialShape& element_shape, const Context& context) {
  return without_throwing([&] { return read_new(*state_, many(indices, element_shape), context); });
}
Result<Shape> TensorArray::gather_shape(Ints indices, const PartialShape& element_shape, const Context& context) const {
  return measure(*state_, many(indices, element_shape), context);
}
Status TensorArray::gather_into(Ints indices, const View& out, const PartialShape& element_shape,
                                const Context& context) {
  return read_into_view(*state_, many(indices, element_shape), out, context);
}

Result<Tensor> TensorArray::stack(const Context& context) {
  return without_throwing([&] { return read_new(*state_, all(), context); });
}
Result<Shape> TensorArray::stack_shape(const Context& context) const { return measure(*state_, all(), context); }
Status TensorArray::stack_into(const View& out, const Context& context) {
  return read_into_view(*state_, all(), out, context);
}

Result<TensorArray::Concatenated> TensorArray::concat(const PartialShape& element_shape_except0,
                                                      const Context& context) {
  return without_throwing([&]() -> Result<Concatenated> {
    Lengths lengths;
    auto value = read_new(*state_, all_rows(element_shape_except0), context, &lengths);
    if (!value.ok()) return value.status();
    return Concatenated{*std::move(value), std::move(lengths)};
  });
}
Result<Shape> TensorArray::concat_shape(const PartialShape& element_shape_except0, const Context& context) const {
  return measure(*state_, all_rows(element_shape_except0), context);
}
Status TensorArray::concat_into(const View& out, std::span<std::int64_t> lengths,
                                const PartialShape& element_shape_except0, const Context& context) {
  return read_into_view(*state_, all_rows(element_shape_except0), out, context, lengths);
}

}  // namespace backslice
