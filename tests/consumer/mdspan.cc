// A std::mdspan is taken as it is, where the standard library has it.
#include <backslice/backslice.h>

#include <array>
#include <iostream>
#include <version>

using namespace backslice;

#ifdef __cpp_lib_mdspan
#include <mdspan>

// A std::mdspan has all that a view needs: memory, shape and strides.
Status spans() {
  std::array<double, 12> memory = {};
  std::mdspan x(memory.data(), 3, 4);
  std::array<double, 2> values = {5, 7};
  std::mdspan<const double, std::extents<int, 1, 2>> dy(values.data());
  const Result<View> to = View::of(x);
  const Result<ConstView> from = ConstView::of(dy);
  if (!to) return to.status();
  if (!from) return from.status();
  // x[1:2, ::3] = dy
  return Selection::from_index(to->shape(), "1:2, ::3")
      .and_then(
          [&](const Selection& s) { return slice_grad_into(s, *from, *to); });
}

// Columns in memory order, a part of a larger matrix, no axes, no elements.
bool layouts() {
  std::array<float, 24> memory = {};
  const std::mdspan<float, std::dextents<std::size_t, 2>, std::layout_left>
      left(memory.data(), 4, 6);
  const std::layout_stride::mapping part(std::dextents<int, 2>(2, 3),
                                         std::array<int, 2>{12, 2});
  const std::mdspan strided(memory.data() + 1, part);
  const std::mdspan scalar(memory.data(), std::extents<int>());
  const std::mdspan none(memory.data(), 0, 6);
  const auto strides = [](const Result<View>& view) {
    return view ? to_string(view->layout.strides) : view.status().message();
  };
  return strides(View::of(left)) == "[4,16]" &&
         strides(View::of(strided)) == "[48,8]" &&
         strides(View::of(scalar)) == "[]" && View::of(none).ok() &&
         View::of(strided).value().data ==
             View::of(memory, {24}).value().data + 4;
}

int main() {
  const Status status = spans();
  if (!status.ok()) std::cerr << status << '\n';
  return status.ok() && layouts() ? 0 : 1;
}

#else

int main() { std::cout << "this standard library has no std::mdspan\n"; }

#endif
