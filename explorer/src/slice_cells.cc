#include "slice_cells.h"

#include <algorithm>

#include "backslice/multi_slice.h"
#include "cells.h"
#include "core/errors.h"

namespace explorer {

using namespace backslice;

namespace {

// The destination of a block of x: the elements of y that restrict() finds, and their number.
struct Destination {
  std::string text;
  std::int64_t taken = 0, position = -1;
};

std::int64_t first_position(const Selection& part, const Shape& shape) {
  std::int64_t position = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) position = position * shape[axis] + part.axis(axis).start;
  return position;
}

Destination destination(const Selection& selection, const Blocks& block, std::string_view array) {
  const auto part = selection.restrict(box_of(block));
  if (!part.ok() || !*part) return {};
  const Selection& dy = (*part)->dy;
  Ranges ranges;
  for (int axis = 0; axis < dy.shape().rank(); ++axis) {
    ranges.push_back({dy.axis(axis).start, dy.axis(axis).start + dy.axis(axis).count});
  }
  return {block_text(array, ranges), dy.result_shape().elements(), first_position(dy, dy.shape())};
}

// Returns the origin of an element of y.
std::string source(const Selection& selection, const Blocks& block, std::string_view array) {
  std::string text;
  std::vector<std::string> items(static_cast<std::size_t>(selection.shape().rank()));
  for (int axis = 0; axis < selection.shape().rank(); ++axis) {
    items[static_cast<std::size_t>(axis)] = std::to_string(selection.axis(axis).start);
  }
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::int64_t axis = selection.result_axes()[i];
    if (axis == Selection::kNewAxis) continue;
    const Selection::Axis& taken = selection.axis(static_cast<int>(axis));
    const std::int64_t first = taken.start + block[i].lo * taken.step,
                       last = taken.start + (block[i].hi - 1) * taken.step;
    items[static_cast<std::size_t>(axis)] = first == last ? std::to_string(first) : join(first, "..", last);
  }
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return items.empty() ? std::string(array) : join(array, "[", text, "]");
}

NotedPicture picture_of_x(const Selection& selection, const PictureLimits& limits) {
  NotedPicture noted{"x", "x, the input", picture_of(selection, limits), {}};
  for_each_cell(selection, limits, [&](const Blocks& block) {
    const Ranges box = box_of(block);
    const std::string own = block_text("x", box);
    const Destination to = destination(selection, block, "y");
    if (to.taken == 0) {
      noted.cells.push_back({own + " is not taken"});
    } else if (elements_of(box) == 1) {
      noted.cells.push_back({join(own, " goes to ", to.text), to.position});
    } else {
      noted.cells.push_back({join(own, ": ", to.taken, " of ", elements_of(box), " elements go to ", to.text)});
    }
  });
  return noted;
}

NotedPicture picture_of_y(const Selection& selection, const PictureLimits& limits) {
  const Selection all = Selection::all(selection.result_shape());
  NotedPicture noted{"y", "y, the result", picture_of(all, limits), {}};
  rename_panels(noted.picture, "y");
  std::int64_t position = 0;
  for_each_cell(all, limits, [&](const Blocks& block) {
    const Ranges box = box_of(block);
    const bool is_element = elements_of(box) == 1;
    noted.cells.push_back(
        {join(block_text("y", box), is_element ? " comes from " : " come from ", source(selection, block, "x")),
         noted.picture.are_elements ? position++ : -1});
  });
  return noted;
}

// Makes a gradient of 1, 2, 3, ..., so that all elements differ.
Result<Tensor> numbered(const Shape& shape) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < shape.elements(); ++i) values.push_back(i + 1);
  return Tensor::copy_of(values, shape);
}

void set_texts(Picture& picture, std::span<const std::int64_t> values) {
  std::size_t i = 0;
  for (Panel& panel : picture.panels) {
    for (auto& row : panel.rows) {
      for (Cell& cell : row) cell.text = std::to_string(values[i++]);
    }
  }
}

const Context& serial() {
  static const Context context = [] {
    Context made;
    made.executor = &serial_executor();
    return made;
  }();
  return context;
}

// Draws dy, numbered from 1, and the gradient that the kernels compute from it.
Result<std::vector<NotedPicture>> gradient_pictures(const NotedPicture& x, const NotedPicture& y,
                                                    const Selection& selection, const PictureLimits& limits) {
  const auto dy = numbered(selection.result_shape());
  if (!dy.ok()) return dy.status();
  const auto dx = slice_grad(selection, dy->view(), serial());
  if (!dx.ok()) return dx.status();
  NotedPicture from{"dy", "dy, the gradient of y", y.picture, {}}, to{"dx", "dx, the gradient of x", x.picture, {}};
  const auto values = dx->elements<std::int64_t>();
  const auto given = dy->elements<std::int64_t>();
  if (!values.ok() || !given.ok()) return values.ok() ? given.status() : values.status();
  set_texts(from.picture, *given);
  set_texts(to.picture, *values);
  rename_panels(from.picture, "dy");
  rename_panels(to.picture, "dx");
  from.picture.notes = {"An example: dy is 1, 2, 3, ..."};
  to.picture.notes = {"dy where x was taken, zero elsewhere."};
  for_each_cell(Selection::all(selection.result_shape()), limits, [&](const Blocks& block) {
    const std::size_t i = from.cells.size();
    from.cells.push_back(
        {join(block_text("dy", box_of(block)), " = ", (*given)[i], " goes to ", source(selection, block, "dx")),
         y.cells[i].key});
  });
  for_each_cell(selection, limits, [&](const Blocks& block) {
    const std::size_t i = to.cells.size();
    const Destination came = destination(selection, block, "dy");
    const std::string own = join(block_text("dx", box_of(block)), " = ", (*values)[i]);
    to.cells.push_back(
        {came.taken == 0 ? own + ": x is not taken here" : join(own, ", from ", came.text), x.cells[i].key});
  });
  from.begins_row = true;
  return std::vector{from, to};
}

// Returns the slices that select something of each cell, counted from 1.
std::vector<std::vector<std::size_t>> takers_by_cell(const std::vector<Selection>& selections,
                                                     const PictureLimits& limits) {
  std::vector<std::vector<std::size_t>> takers;
  for (std::size_t i = 0; i < selections.size(); ++i) {
    std::size_t cell = 0;
    for_each_cell(selections[i], limits, [&](const Blocks& block) {
      if (cell == takers.size()) takers.emplace_back();
      if (std::all_of(block.begin(), block.end(), [](const AxisBlock& axis) { return axis.taken > 0; })) {
        takers[cell].push_back(i + 1);
      }
      ++cell;
    });
  }
  return takers;
}

std::string takers_text(const std::vector<std::size_t>& takers) {
  if (takers.empty()) return " is taken by no slice";
  std::string text;
  for (std::size_t slice : takers) text += join(text.empty() ? "" : ", ", slice);
  return join(takers.size() == 1 ? " is taken by slice " : " is taken by slices ", text);
}

// Draws how often each element is selected. With a cell per element, the numbers are the sum of gradients of ones.
Result<NotedPicture> picture_of_all(const std::vector<Selection>& selections, const PictureLimits& limits) {
  const Shape& shape = selections[0].shape();
  NotedPicture noted{"slices", "All slices, laid over each other", picture_of_many(shape, selections, limits), {}};
  const auto takers = takers_by_cell(selections, limits);
  for_each_cell(Selection::all(shape), limits, [&](const Blocks& block) {
    noted.cells.push_back({block_text("x", box_of(block)) + takers_text(takers[noted.cells.size()])});
  });
  if (!noted.picture.are_elements || shape.elements() == 0) return noted;
  std::vector<Tensor> ones;
  std::vector<SliceGradient> slices;
  for (const Selection& selection : selections) {
    const std::vector<std::int64_t> values(static_cast<std::size_t>(selection.result_shape().elements()), 1);
    auto dy = Tensor::copy_of(values, selection.result_shape());
    if (!dy.ok()) return dy.status();
    ones.push_back(*std::move(dy));
  }
  for (std::size_t i = 0; i < selections.size(); ++i) {
    slices.push_back({selections[i], static_cast<const Tensor&>(ones[i]).view()});
  }
  const auto sum = multi_slice_grad(shape, slices, serial());
  if (!sum.ok()) return sum.status();
  const auto counts = sum->elements<std::int64_t>();
  if (!counts.ok()) return counts.status();
  set_texts(noted.picture, *counts);
  noted.picture.notes = {"The numbers say how many of the slices take each element: dx, where every dy is 1."};
  return noted;
}

}  // namespace

std::vector<NotedPicture> slice_pictures(const std::vector<Selection>& selections, const PictureLimits& limits) {
  const Selection& first = selections[0];
  NotedPicture x = picture_of_x(first, limits), y = picture_of_y(first, limits);
  std::vector<NotedPicture> pictures;
  if (x.picture.are_elements && y.picture.are_elements) {
    if (auto gradients = gradient_pictures(x, y, first, limits); gradients.ok()) pictures = *gradients;
  }
  pictures.insert(pictures.begin(), {x, y});
  if (selections.size() > 1) {
    if (auto all = picture_of_all(selections, limits); all.ok()) pictures.insert(pictures.begin(), *all);
  }
  for (NotedPicture& noted : pictures) noted.picture.title.clear();
  return pictures;
}

}  // namespace explorer
