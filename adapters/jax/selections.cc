#include "selections.h"

#include "core/errors.h"

namespace backslice::jax {
namespace {

// Takes numbers from the front of a list, or ends the operation if there are too few.
class Reader {
 public:
  explicit Reader(std::span<const std::int64_t> numbers) : left_(numbers) {}

  std::int64_t count() {
    const std::int64_t value = take(1)[0];
    if (value < 0) malformed();
    return value;
  }

  Ints take(std::int64_t count) {
    if (count > std::ssize(left_)) malformed();
    const auto taken = left_.first(static_cast<std::size_t>(count));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  void end() const {
    if (!left_.empty()) malformed();
  }

 private:
  [[noreturn]] static void malformed() {
    throwing::refuse(invalid_argument("the attribute `slices` is malformed: it was made by another version"));
  }

  std::span<const std::int64_t> left_;
};

Selection read_selection(Reader& reader, const Shape& shape) {
  Selection::Axes axes;
  for (int i = 0; i < shape.rank(); ++i) {
    const Ints axis = reader.take(3);
    axes.push_back({.start = axis[0], .step = axis[1], .count = axis[2]});
  }
  return throwing::unwrap(Selection::make(shape, axes, reader.take(reader.count())));
}

}  // namespace

Result<std::vector<Selection>> read_selections(std::span<const std::int64_t> numbers) {
  return without_throwing([&]() -> Result<std::vector<Selection>> {
    Reader reader(numbers);
    const std::int64_t slices = reader.count();
    const Result<Shape> shape = Shape::make(reader.take(reader.count()));
    if (!shape) return shape.status();
    std::vector<Selection> selections;
    for (std::int64_t i = 0; i < slices; ++i) selections.push_back(read_selection(reader, *shape));
    reader.end();
    return selections;
  });
}

}  // namespace backslice::jax
