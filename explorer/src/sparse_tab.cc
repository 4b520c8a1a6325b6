// The second tab: a window of a sparse tensor.
#include <algorithm>
#include <map>
#include <numeric>

#include "answer.h"
#include "backslice/sparse_slice.h"
#include "cells.h"
#include "core/errors.h"
#include "notation/lists.h"

namespace explorer {

using namespace backslice;

namespace {

constexpr std::size_t kMostEntries = 1000;

using List = std::vector<std::int64_t>;

struct Window {
  List shape, start, size;

  std::size_t rank() const { return shape.size(); }
};

// Reads one number per axis of the shape.
Status read_list(const Request& request, std::string_view field, List& values, std::size_t rank) {
  auto read = request.integers(field);
  if (!read.ok()) return read.status();
  values = std::move(read->values);
  if (values.size() == rank) return Status();
  return invalid_argument(field, " has ", counted(values.size(), "number"), ", expected ", rank,
                          ", one per axis of the shape")
      .at(field);
}

Result<Window> read_window(const Request& request) {
  const auto shape = request.shape();
  if (!shape.ok()) return shape.status();
  Window window{shape->values, {}, {}};
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "start", window.start, window.rank()));
  BACKSLICE_RETURN_IF_ERROR(read_list(request, "size", window.size, window.rank()));
  for (std::size_t axis = 0; axis < window.rank(); ++axis) {
    if (window.size[axis] >= 0) continue;
    const auto position = static_cast<std::int64_t>(axis);
    return located(
        invalid_argument("size[", axis, "] is ", window.size[axis], ", expected at least 0").at("size", position),
        "size", request.integers("size").value().spans);
  }
  return window;
}

// A sparse tensor: the concatenated indices of its entries, and their values.
struct Entries {
  List indices, values;

  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  Ints index(std::size_t entry, std::size_t rank) const { return {indices.data() + entry * rank, rank}; }
};

// Reads one entry per line: an index and a value. Without a value, it is the number of the line.
Result<Entries> read_entries(const Request& request, std::size_t rank) {
  const auto lines = lines_of(request.text("entries"), "entries", kMostEntries, false);
  if (!lines.ok()) return lines.status();
  Entries entries;
  for (const Line& line : *lines) {
    const auto read = parse_integers(line.text, "entries");
    if (!read.ok()) return in_line(read.status(), line, "entries");
    const List& values = read->values;
    if (values.size() != rank && values.size() != rank + 1) {
      return in_line(invalid_argument("an entry is its index, ", counted(rank, "number"),
                                      " here, and a value: this line has ", counted(values.size(), "number")),
                     line, "entries");
    }
    entries.indices.insert(entries.indices.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank));
    entries.values.push_back(values.size() > rank ? values.back() : entries.size() + 1);
  }
  return entries;
}

// A sparse tensor to draw. Each entry has a note, and a key, which is -1 outside the window.
struct Drawn {
  std::string name, heading;
  List shape;
  Entries entries;
  List keys;
  std::vector<std::string> notes;
};

// Returns the entries of each cell, by the position of its block.
std::map<List, std::vector<std::size_t>> entries_by_cell(const Drawn& tensor, const Selection& all,
                                                         const PictureLimits& limits) {
  const auto axes = picture_blocks(all, limits);
  std::map<List, std::vector<std::size_t>> found;
  for (std::size_t entry = 0; entry < tensor.entries.values.size(); ++entry) {
    List begin;
    const Ints index = tensor.entries.index(entry, axes.size());
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if (index[axis] < 0 || index[axis] >= tensor.shape[axis]) break;
      const std::int64_t block = axes[axis][0].hi;
      begin.push_back(index[axis] / block * block);
    }
    if (begin.size() == axes.size()) found[begin].push_back(entry);
  }
  return found;
}

// Returns the note of a cell with these entries.
std::string note_of(const Drawn& tensor, const std::vector<std::size_t>& entries, const std::string& place) {
  constexpr std::size_t kMostSaid = 3;
  if (entries.empty()) return "no entry at " + place;
  std::string text = entries.size() == 1 ? "" : join(entries.size(), " entries at ", place, ": ");
  for (std::size_t i = 0; i < std::min(entries.size(), kMostSaid); ++i) {
    text += join(i > 0 ? "; " : "", tensor.notes[entries[i]]);
  }
  return entries.size() > kMostSaid ? join(text, "; and ", entries.size() - kMostSaid, " more") : text;
}

Result<NotedPicture> drawn(const Drawn& tensor, const PictureLimits& limits) {
  const auto shape = Shape::make(tensor.shape);
  if (!shape.ok()) return shape.status();
  const Selection all = Selection::all(*shape);
  std::vector<PictureEntry> entries;
  for (std::size_t i = 0; i < tensor.entries.values.size(); ++i) {
    const Ints index = tensor.entries.index(i, tensor.shape.size());
    entries.push_back(
        {List(index.begin(), index.end()), tensor.keys[i] >= 0, std::to_string(tensor.entries.values[i])});
  }
  NotedPicture noted{tensor.name, tensor.heading, picture_of_entries(*shape, entries, limits), {}};
  rename_panels(noted.picture, tensor.name);
  const auto by_cell = entries_by_cell(tensor, all, limits);
  std::size_t inside = 0;
  for_each_cell(all, limits, [&](const Blocks& block) {
    List begin;
    for (const AxisBlock& range : block) begin.push_back(range.lo);
    const auto found = by_cell.find(begin);
    const auto here = found == by_cell.end() ? std::vector<std::size_t>() : found->second;
    inside += here.size();
    noted.cells.push_back({note_of(tensor, here, block_text(tensor.name, box_of(block))),
                           noted.picture.are_elements && !here.empty() ? tensor.keys[here[0]] : -1});
  });
  if (const std::size_t outside = entries.size() - inside; outside > 0) {
    noted.picture.notes.push_back(
        join(counted(outside, "entry", "entries"), " outside the shape ", outside == 1 ? "is" : "are", " not drawn."));
  }
  return noted;
}

List copied(const Tensor& tensor) {
  const auto elements = tensor.elements<std::int64_t>();
  return elements.ok() ? List(elements->begin(), elements->end()) : List();
}

List counting_from_one(std::int64_t count) {
  List values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

// The slice and its gradient, computed by the library.
struct Computed {
  SparseTensor slice;
  List gradient;  // of the values, for dy = 1, 2, 3, ...
};

Result<Computed> compute(const Entries& entries, const Window& window) {
  Context context;
  context.executor = &serial_executor();
  const auto matrix = ConstView::of(entries.indices, {entries.size(), static_cast<std::int64_t>(window.rank())});
  const auto values = ConstView::of(entries.values, {entries.size()});
  if (!matrix.ok() || !values.ok()) return matrix.ok() ? values.status() : matrix.status();
  const auto indices = CooIndices::from_matrix(*matrix);
  if (!indices.ok()) return indices.status();
  const auto slice = sparse_slice(*indices, *values, window.shape, window.start, window.size, context);
  if (!slice.ok()) return slice.status();
  const List dy = counting_from_one(slice->values.shape()[0]);
  const auto grad = ConstView::of(dy, {static_cast<std::int64_t>(dy.size())});
  if (!grad.ok()) return grad.status();
  const auto gradient = sparse_slice_grad_by_size(*grad, *indices, window.start, window.size, context);
  if (!gradient.ok()) return gradient.status();
  return Computed{*slice, copied(*gradient)};
}

Result<std::vector<NotedPicture>> pictures(const Entries& entries, const Window& window, const Computed& computed,
                                           const PictureLimits& limits) {
  const Shape& slice_shape = computed.slice.shape;
  Drawn x{"x", "x, with the window", window.shape, entries, {}, {}};
  Drawn y{"y",
          "y, the window",
          List(slice_shape.begin(), slice_shape.end()),
          {copied(computed.slice.indices), copied(computed.slice.values)},
          {},
          {}};
  Drawn dx{"dx", "The gradient of x's values", window.shape, {entries.indices, computed.gradient}, {}, {}};
  y.notes.resize(y.entries.values.size());
  for (std::size_t i = 0; i < entries.values.size(); ++i) {
    const std::int64_t key = computed.gradient[i] - 1;  // dy counts from 1: zeros are outside
    x.keys.push_back(key);
    dx.keys.push_back(key);
    const std::string place = element("x", entries.index(i, window.rank())),
                      own = join(place, " = ", entries.values[i]);
    if (key < 0) {
      x.notes.push_back(own + " lies outside the window");
      dx.notes.push_back(join("d", place, " = 0: outside the window"));
      continue;
    }
    const auto row = static_cast<std::size_t>(key);
    const std::string to = element("y", y.entries.index(row, window.rank()));
    x.notes.push_back(join(own, " goes to ", to));
    dx.notes.push_back(join("d", place, " = ", computed.gradient[i], ", from d", to));
    y.notes[row] = join(to, " = ", entries.values[i], " comes from ", place);
  }
  for (std::size_t i = 0; i < y.entries.values.size(); ++i) y.keys.push_back(static_cast<std::int64_t>(i));
  std::vector<NotedPicture> all;
  for (const Drawn* tensor : {&x, &y, &dx}) {
    auto noted = drawn(*tensor, limits);
    if (!noted.ok()) return noted.status();
    all.push_back(*std::move(noted));
  }
  auto& notes = all.back().picture.notes;
  notes.insert(notes.begin(), "An example: dy is 1, 2, 3, ... Entries outside the window get zero.");
  return all;
}

std::vector<Code> code_of(const Window& window) {
  const std::string start = python_list(window.start), size = python_list(window.size),
                    shape = python_list(window.shape);
  return {
      {"NumPy",
       join("import backslice as bs\ny_indices, y_values, y_shape = bs.sparse_slice(indices, values, ",
            python_tuple(window.shape), ", ", start, ", ", size, ")"),
       join("dvalues = bs.sparse_slice_grad_by_size(dy, indices, ", start, ", ", size, ")")},
      {"TensorFlow",
       join(kTensorFlowImports, "y = tf.raw_ops.SparseSlice(indices=indices, values=values, shape=tf.constant(", shape,
            ", tf.int64), start=tf.constant(", start, ", tf.int64), size=tf.constant(", size, ", tf.int64))"),
       join(
           "dvalues = tf.raw_ops.SparseSliceGrad(backprop_val_grad=dy, input_indices=indices, input_start=tf.constant(",
           start, ", tf.int64), output_indices=y.output_indices)")}};
}

}  // namespace

std::string answer_sparse(const Request& request) {
  const auto window = read_window(request);
  if (!window.ok()) return error_answer(window.status(), request);
  const auto entries = read_entries(request, window->rank());
  if (!entries.ok()) return error_answer(entries.status(), request);
  const auto computed = compute(*entries, *window);
  if (!computed.ok()) return error_answer(computed.status(), request);
  const auto made = pictures(*entries, *window, *computed, request.limits());
  if (!made.ok()) return error_answer(made.status(), request);
  Json json;
  begin_answer(json);
  json.member("summary",
              join("The window of shape [", listed(computed->slice.shape), "] has ", computed->slice.values.shape()[0],
                   " of ", counted(entries->values.size(), "entry", "entries")));
  add_pictures(json, *made, request);
  add_code(json, code_of(*window));
  return end_answer(json);
}

}  // namespace explorer
