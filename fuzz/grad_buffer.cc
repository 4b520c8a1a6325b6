// GradBuffer, compared with a plain array that is written, added to and cleared as a whole.
#include "backslice/grad_buffer.h"

#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/placed.h"

namespace backslice::fuzz {
namespace {

class Program {
 public:
  Program(Input& in, const Numbers& shape, DType dtype, std::int64_t item_size, GradBuffer buffer)
      : in_(in), shape_(shape), dtype_(dtype), item_size_(item_size), buffer_(std::move(buffer)) {
    clear();
  }

  void run() {
    for (int left = 40; in_.has_more() && left > 0; --left) {
      switch (in_.within(0, 9)) {
        case 0: zero_all(); break;
        case 1: write_by_other_means(); break;
        case 2: refused(); break;
        case 3:
        case 4: write(); break;
        default: add(); break;
      }
      check();
    }
  }

 private:
  Context context() { return {.executor = &in_.executor()}; }

  Placed dy_of(const Selection& s) {
    return Placed(in_, dtype_, item_size_, Numbers(s.result_shape().begin(), s.result_shape().end()), Strides::Any);
  }

  void clear() {
    const auto size = static_cast<std::size_t>(Shape::make(shape_).value().elements());
    array_.assign(size, fuzz::zero(dtype_, item_size_));
    written_.assign(size, false);
  }

  void zero_all() {
    must(buffer_.zero(context()).ok(), "the CPU can always clear");
    clear();
    must(buffer_.regions().empty(), "nothing is left after zero()");
  }

  void write_by_other_means() {
    const View view = buffer_.writable();
    written_.assign(written_.size(), true);
    if (dtype_ == DType::String || !in_.flag()) return;
    std::vector<std::byte> bytes(static_cast<std::size_t>(view.elements() * item_size_));
    in_.fill(bytes.data(), bytes.size());
    if (is_on_cpu()) {
      std::ranges::copy(bytes, view.data);
    } else {
      copy_there(view.data, bytes.data(), std::ssize(bytes));
    }
    array_ = values_of(view);
  }

  void write() {
    const Selection s = any_selection(in_, shape_);
    const Placed dy = dy_of(s);
    agree(buffer_.write(s, dy.view(), context()), true, "write");
    clear();
    put(s, dy.values());
  }

  void add() {
    const Selection s = any_selection(in_, shape_);
    const Placed dy = dy_of(s);
    const Status status = buffer_.add(s, dy.view(), context());
    bool meets = false;
    for (std::int64_t at : positions(s)) meets |= written_[static_cast<std::size_t>(at)];
    // Regions may be larger than the written elements. So an addition may be refused without overlap if the dtype
    // cannot be added.
    if (can_add(dtype_)) agree(status, true, "add");
    if (meets && !can_add(dtype_)) agree(status, false, "an addition to what was written");
    if (status.ok()) put(s, dy.values());
  }

  void refused() {
    Numbers other = shape_;
    other.push_back(2);
    const Selection s = Selection::all(*Shape::make(other));
    const Placed dy = dy_of(s);
    agree(in_.flag() ? buffer_.add(s, dy.view()) : buffer_.write(s, dy.view()), false, "a selection of another shape");
  }

  void put(const Selection& s, const Values& dy) {
    std::size_t next = 0;
    for (std::int64_t position : positions(s)) {
      const auto at = static_cast<std::size_t>(position);
      array_[at] = written_[at] ? sum(dtype_, array_[at], dy[next]) : dy[next];
      written_[at] = true;
      ++next;
    }
  }

  // Checks that the content is the same, and that every written element lies in a region.
  void check() {
    must(same(dtype_, values_of(buffer_.view()), array_), "the buffer is the plain array");
    std::vector<bool> covered(written_.size());
    for (const Selection& region : buffer_.regions()) {
      for (std::int64_t at : positions(region)) covered[static_cast<std::size_t>(at)] = true;
    }
    for (std::size_t i = 0; i < covered.size(); ++i) must(covered[i] || !written_[i], "regions hold what was written");
  }

  Input& in_;
  Numbers shape_;
  DType dtype_;
  std::int64_t item_size_;
  GradBuffer buffer_;
  Values array_;
  std::vector<bool> written_;
};

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice;
  using namespace backslice::fuzz;
  Input in(data, size);
  const bool huge = in.one_in(16);
  const Numbers shape = huge ? in.huge_shape(3) : in.small_shape(3, 6);
  const DType dtype = in.dtype();
  const std::int64_t item_size = any_item_size(in, dtype);
  auto buffer = GradBuffer::make(dtype, shape, item_size, {.allocator = &memory_there()});
  if (!huge) agree(buffer.status(), has_zero(dtype), "a buffer of this dtype");
  if (!buffer.ok() || (huge && buffer->view().elements() > 1000)) return 0;
  Program(in, shape, dtype, item_size, *std::move(buffer)).run();
  return 0;
}
