// The third tab: ragged rows and their gradients, some of which are missing.
#include <algorithm>
#include <numeric>

#include "answer.h"
#include "backslice/ragged_variant.h"
#include "cells.h"
#include "core/errors.h"
#include "notation/lists.h"

namespace explorer {

using namespace backslice;

namespace {

constexpr std::size_t kMostRows = 1000;

struct Rows {
  std::vector<std::int64_t> values, splits = {0};

  std::int64_t count() const { return static_cast<std::int64_t>(splits.size()) - 1; }
};

// Reads one row per line; an empty line is an empty row.
Result<Rows> read_rows(const Request& request) {
  const auto lines = lines_of(request.text("rows_text"), "rows_text", kMostRows, true);
  if (!lines.ok()) return lines.status();
  Rows rows;
  for (const Line& line : *lines) {
    const auto read = parse_integers(line.text, "rows_text");
    if (!read.ok()) return in_line(read.status(), line, "rows_text");
    rows.values.insert(rows.values.end(), read->values.begin(), read->values.end());
    rows.splits.push_back(static_cast<std::int64_t>(rows.values.size()));
  }
  return rows;
}

// Reads which rows have no gradient.
Result<std::vector<bool>> read_missing(const Request& request, std::int64_t rows) {
  const auto read = request.integers("missing");
  if (!read.ok()) return read.status();
  std::vector<bool> missing(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < read->values.size(); ++i) {
    const std::int64_t row = read->values[i];
    if (row < 0 || row >= rows) {
      return out_of_range("row ", row, " is missing, but the rows are 0 to ", rows - 1)
          .at("missing", static_cast<std::int64_t>(i), read->spans[i]);
    }
    missing[static_cast<std::size_t>(row)] = true;
  }
  return missing;
}

// Makes dy: 1, 2, 3, ... row by row.
Result<VariantArray> pieces_of(const Rows& rows, const std::vector<bool>& missing) {
  std::vector<std::optional<RaggedTensor>> pieces;
  for (std::size_t row = 0; row < missing.size(); ++row) {
    if (missing[row]) {
      pieces.emplace_back(std::nullopt);
      continue;
    }
    std::vector<std::int64_t> values;
    for (std::int64_t i = rows.splits[row]; i < rows.splits[row + 1]; ++i) values.push_back(i + 1);
    const auto tensor = Tensor::copy_of(values, {static_cast<std::int64_t>(values.size())});
    if (!tensor.ok()) return tensor.status();
    const auto piece = RaggedTensor::make(*tensor, {});
    if (!piece.ok()) return piece.status();
    pieces.emplace_back(*piece);
  }
  return VariantArray::make(std::move(pieces), {rows.count()});
}

Result<std::vector<std::int64_t>> gradient_of(const Rows& rows, const std::vector<bool>& missing) {
  Context context;
  context.executor = &serial_executor();
  const auto encoded = pieces_of(rows, missing);
  const auto splits = Tensor::copy_of(rows.splits, {static_cast<std::int64_t>(rows.splits.size())});
  if (!encoded.ok() || !splits.ok()) return encoded.ok() ? splits.status() : encoded.status();
  const auto gradient = ragged_tensor_to_variant_gradient(
      *encoded, {*splits}, {static_cast<std::int64_t>(rows.values.size())}, ValuesType(DType::Int64), context);
  if (!gradient.ok()) return gradient.status();
  const auto elements = gradient->elements<std::int64_t>();
  if (!elements.ok()) return elements.status();
  return std::vector<std::int64_t>(elements->begin(), elements->end());
}

// A cell of ragged rows: one value, or a block of them.
struct Place {
  std::int64_t row, first, last;  // columns of the row: first <= column < last

  bool is_value() const { return last == first + 1; }
  std::string in(std::string_view array) const { return block_text(array, {{row, row + 1}, {first, last}}); }
};

Place place_of(const Rows& rows, const std::vector<std::vector<Cell>>& drawn, std::size_t row, std::size_t column) {
  const std::int64_t begin = rows.splits[row];
  const bool is_last = column + 1 == drawn[row].size();
  const std::int64_t end = is_last ? rows.splits[row + 1] : drawn[row][column + 1].position;
  return {static_cast<std::int64_t>(row), drawn[row][column].position - begin, end - begin};
}

// Draws ragged rows with these values; say(place, cell) returns the note of each cell.
template <class Say>
NotedPicture drawn(const char* name, const char* heading, const Rows& rows, const std::vector<std::int64_t>& values,
                   const PictureLimits& limits, const Say& say) {
  NotedPicture noted{name, heading, picture_of_rows(std::span(&rows.splits, 1), limits), {}};
  auto& drawn_rows = noted.picture.panels[0].rows;
  for (std::size_t row = 0; row < drawn_rows.size(); ++row) {
    for (std::size_t column = 0; column < drawn_rows[row].size(); ++column) {
      Cell& cell = drawn_rows[row][column];
      if (noted.picture.are_elements) cell.text = std::to_string(values[static_cast<std::size_t>(cell.position)]);
      noted.cells.push_back(
          {say(place_of(rows, drawn_rows, row, column), cell), noted.picture.are_elements ? cell.position : -1});
    }
  }
  return noted;
}

std::vector<NotedPicture> pictures(const Rows& rows, const std::vector<bool>& missing,
                                   const std::vector<std::int64_t>& dvalues, const PictureLimits& limits) {
  std::vector<std::int64_t> dy(rows.values.size());
  std::iota(dy.begin(), dy.end(), 1);
  const auto lacks = [&](const Place& place) { return missing[static_cast<std::size_t>(place.row)]; };
  NotedPicture x = drawn("rows", "The rows", rows, rows.values, limits, [](const Place& place, const Cell& cell) {
    return place.is_value() ? join(place.in("x"), " = ", cell.text, ", value ", cell.position, " of all")
                            : place.in("x");
  });
  NotedPicture pieces =
      drawn("pieces", "Gradients, one piece per row", rows, dy, limits, [&](const Place& place, Cell& cell) {
        if (!lacks(place)) {
          const std::string own = join("piece ", place.row, " has ", place.in("dx"));
          return place.is_value() ? join(own, " = ", cell.text) : own;
        }
        cell.kind = CellKind::Empty;
        cell.text = "";
        return join("piece ", place.row, " is missing");
      });
  NotedPicture dx =
      drawn("dvalues", "Gradient of all values", rows, dvalues, limits, [&](const Place& place, Cell& cell) {
        if (lacks(place)) cell.kind = CellKind::Left;
        const std::string own = place.is_value() ? join(place.in("dx"), " = ", cell.text) : place.in("dx");
        return lacks(place) ? own + ": the piece is missing" : own;
      });
  pieces.picture.notes.push_back("An example: 1, 2, 3, ... A missing piece is hollow.");
  dx.picture.notes.push_back("A missing piece is zeros, as many as the row has values.");
  return {x, pieces, dx};
}

std::vector<Code> code_of(const Rows& rows) {
  const std::string splits = python_list(rows.splits);
  return {
      {"NumPy",
       join("import backslice as bs\nencoded = bs.ragged_tensor_to_variant(bs.RaggedTensor(values, ", splits, "))"),
       join("dvalues = bs.ragged_tensor_to_variant_gradient(pieces, [", splits, "], [", rows.values.size(), "])")},
      {"TensorFlow",
       join(kTensorFlowImports, "encoded = tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=[tf.constant(", splits,
            ", tf.int64)], rt_dense_values=values, batched_input=True)"),
       join("dvalues = tf.raw_ops.RaggedTensorToVariantGradient(encoded_ragged_grad=pieces, row_splits=tf.constant(",
            splits, ", tf.int64), dense_values_shape=[", rows.values.size(), "], Tvalues=values.dtype)")}};
}

}  // namespace

std::string answer_ragged(const Request& request) {
  const auto rows = read_rows(request);
  if (!rows.ok()) return error_answer(rows.status(), request);
  const auto missing = read_missing(request, rows->count());
  if (!missing.ok()) return error_answer(missing.status(), request);
  const auto dvalues = gradient_of(*rows, *missing);
  if (!dvalues.ok()) return error_answer(dvalues.status(), request);
  Json json;
  begin_answer(json);
  const auto lacking = static_cast<std::size_t>(std::count(missing->begin(), missing->end(), true));
  json.member("summary", join(counted(static_cast<std::size_t>(rows->count()), "row"), " with ",
                              counted(rows->values.size(), "value"), "; ", counted(lacking, "gradient"),
                              lacking == 1 ? " is missing" : " are missing"));
  add_pictures(json, pictures(*rows, *missing, *dvalues, request.limits()), request);
  add_code(json, code_of(*rows));
  return end_answer(json);
}

}  // namespace explorer
