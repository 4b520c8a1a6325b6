// The second tab: a window of a sparse matrix.
#include <algorithm>

#include "answer.h"
#include "backslice/sparse_slice.h"
#include "core/errors.h"
#include "notation/lists.h"

namespace explorer {

using namespace backslice;

namespace {

constexpr std::size_t kMostEntries = 1000;

// A sparse matrix: the row and column of each entry, one after the other, and their values.
struct Entries {
  std::vector<std::int64_t> indices, values;

  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
};

// One entry per line: row, column, and a value, which is the number of the line where it is left out.
Result<Entries> read_entries(const Request& request) {
  const auto lines = lines_of(request.text("entries"), "entries", kMostEntries, false);
  if (!lines.ok()) return lines.status();
  Entries entries;
  for (const Line& line : *lines) {
    const auto read = parse_integers(line.text, "entries");
    if (!read.ok()) return in_line(read.status(), line, "entries");
    const auto& values = read->values;
    if (values.size() != 2 && values.size() != 3) {
      return in_line(
          invalid_argument("an entry is its row, its column and a value: this line has ", values.size(), " numbers"),
          line, "entries");
    }
    entries.indices.insert(entries.indices.end(), values.begin(), values.begin() + 2);
    entries.values.push_back(values.size() == 3 ? values[2] : entries.size() + 1);
  }
  return entries;
}

// Two numbers, one per axis.
Result<std::vector<std::int64_t>> read_pair(const Request& request, std::string_view field) {
  auto read = request.integers(field);
  if (!read.ok()) return read.status();
  if (read->values.size() == 2) return std::move(read->values);
  return invalid_argument("a matrix has two axes, but ", field, " has ", read->values.size(), " entries").at(field);
}

struct Window {
  std::vector<std::int64_t> shape, start, size;
};

Result<Window> read_window(const Request& request) {
  Window window;
  if (const auto shape = request.shape(); !shape.ok()) return shape.status();
  const std::pair<std::string_view, std::vector<std::int64_t>*> fields[] = {
      {"shape", &window.shape}, {"start", &window.start}, {"size", &window.size}};
  for (const auto& [field, values] : fields) {
    auto read = read_pair(request, field);
    if (!read.ok()) return read.status();
    *values = *std::move(read);
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (window.size[axis] >= 0) continue;
    return invalid_argument("size[", axis, "] is ", window.size[axis], ", expected at least 0").at("size");
  }
  return window;
}

struct Drawn {
  std::string name, heading, note;
  std::vector<std::int64_t> shape, indices, values, keys;  // a key for each entry, -1 for those outside the window
  std::vector<std::string> notes;
};

NotedPicture drawn(const Drawn& matrix, const PictureLimits& limits) {
  std::vector<PictureEntry> entries;
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    entries.push_back(
        {matrix.indices[2 * i], matrix.indices[2 * i + 1], matrix.keys[i] >= 0, std::to_string(matrix.values[i])});
  }
  Panel panel = panel_of_entries(matrix.shape[0], matrix.shape[1], entries, limits);
  NotedPicture noted{matrix.name, matrix.heading, {}, {}};
  for (std::size_t row = 0; row < panel.rows.size(); ++row) {
    for (std::size_t column = 0; column < panel.rows[row].size(); ++column) {
      const std::int64_t entry = panel.rows[row][column].position;
      if (entry < 0) {
        noted.cells.push_back({join("no entry at ", panel.row_labels[row], ", ", panel.column_labels[column])});
      } else {
        noted.cells.push_back(
            {matrix.notes[static_cast<std::size_t>(entry)], matrix.keys[static_cast<std::size_t>(entry)]});
      }
    }
  }
  noted.picture.panels.push_back(std::move(panel));
  noted.picture.are_elements = matrix.shape[0] <= limits.rows && matrix.shape[1] <= limits.columns;
  if (!matrix.note.empty()) noted.picture.notes.push_back(matrix.note);
  if (!noted.picture.are_elements)
    noted.picture.notes.push_back("Each cell is a block; it is coloured where an entry is.");
  return noted;
}

template <class T>
std::vector<T> copied(const Tensor& tensor) {
  const auto elements = tensor.elements<T>();
  return elements.ok() ? std::vector<T>(elements->begin(), elements->end()) : std::vector<T>();
}

std::string place(std::string_view array, const std::vector<std::int64_t>& indices, std::size_t entry) {
  return element(array, {indices[2 * entry], indices[2 * entry + 1]});
}

Result<std::vector<NotedPicture>> pictures(const Entries& entries, const Window& window, const PictureLimits& limits) {
  Context context;
  context.executor = &serial_executor();
  const auto matrix = ConstView::of(entries.indices, {entries.size(), 2});
  const auto values = ConstView::of(entries.values, {entries.size()});
  if (!matrix.ok() || !values.ok()) return matrix.ok() ? values.status() : matrix.status();
  const auto indices = CooIndices::from_matrix(*matrix);
  if (!indices.ok()) return indices.status();
  const auto slice = sparse_slice(*indices, *values, window.shape, window.start, window.size, context);
  if (!slice.ok()) return slice.status();
  std::vector<std::int64_t> dy(static_cast<std::size_t>(slice->values.shape()[0]));
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<std::int64_t>(i) + 1;
  const auto grad = ConstView::of(dy, {static_cast<std::int64_t>(dy.size())});
  if (!grad.ok()) return grad.status();
  const auto dvalues = sparse_slice_grad_by_size(*grad, *indices, window.start, window.size, context);
  if (!dvalues.ok()) return dvalues.status();

  Drawn x{"x", "x, with the window", "", window.shape, entries.indices, entries.values, {}, {}};
  Drawn y{"y",
          "y, the window alone",
          "",
          {slice->shape[0], slice->shape[1]},
          copied<std::int64_t>(slice->indices),
          copied<std::int64_t>(slice->values),
          {},
          {}};
  Drawn dx{"dx",
           "The gradient of x's values",
           "An example: dy is 1, 2, 3, ... Entries outside the window get zero.",
           window.shape,
           entries.indices,
           copied<std::int64_t>(*dvalues),
           {},
           {}};
  for (std::size_t i = 0; i < entries.values.size(); ++i) {
    const std::int64_t key = dx.values[i] - 1;  // dy counts from 1: what is left zero lies outside
    x.keys.push_back(key);
    dx.keys.push_back(key);
    const std::string own = place("x", entries.indices, i);
    const std::string to = key < 0 ? "" : place("y", y.indices, static_cast<std::size_t>(key));
    x.notes.push_back(join(own, " = ", entries.values[i], key < 0 ? " lies outside the window" : " goes to ", to));
    dx.notes.push_back(key < 0 ? join("d", own, " = 0: outside the window")
                               : join("d", own, " = ", dx.values[i], ", from d", to));
    if (key >= 0) y.notes.resize(std::max(y.notes.size(), static_cast<std::size_t>(key) + 1));
    if (key >= 0) y.notes[static_cast<std::size_t>(key)] = join(to, " comes from ", own);
  }
  for (std::size_t i = 0; i < y.values.size(); ++i) y.keys.push_back(static_cast<std::int64_t>(i));
  y.notes.resize(y.values.size());
  return std::vector{drawn(x, limits), drawn(y, limits), drawn(dx, limits)};
}

std::vector<Code> code_of(const Window& window) {
  const std::string start = python_list(window.start), size = python_list(window.size),
                    shape = python_list(window.shape);
  return {
      {"NumPy",
       join("y_indices, y_values, y_shape = bs.sparse_slice(indices, values, ", python_tuple(window.shape), ", ", start,
            ", ", size, ")"),
       join("dvalues = bs.sparse_slice_grad_by_size(dy, indices, ", start, ", ", size, ")")},
      {"TensorFlow",
       join("y = tf.raw_ops.SparseSlice(indices=indices, values=values, shape=tf.constant(", shape,
            ", tf.int64), start=tf.constant(", start, ", tf.int64), size=tf.constant(", size, ", tf.int64))"),
       join(
           "dvalues = tf.raw_ops.SparseSliceGrad(backprop_val_grad=dy, input_indices=indices, input_start=tf.constant(",
           start, ", tf.int64), output_indices=y.output_indices)")}};
}

}  // namespace

std::string answer_sparse(const Request& request) {
  const auto window = read_window(request);
  if (!window.ok()) return error_answer(window.status(), request);
  const auto entries = read_entries(request);
  if (!entries.ok()) return error_answer(entries.status(), request);
  const auto made = pictures(*entries, *window, request.limits());
  if (!made.ok()) return error_answer(made.status(), request);
  Json json;
  begin_answer(json);
  add_pictures(json, *made, 1);
  add_code(json, code_of(*window));
  return end_answer(json);
}

}  // namespace explorer
