#include "fuzz/tensor_array_model.h"

#include <limits>
#include <set>

namespace backslice::fuzz {
namespace {

constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();

bool compatible(const Partial& a, const Partial& b) {
  if (!a || !b) return true;
  return std::ranges::equal(*a, *b, [](std::int64_t x, std::int64_t y) { return x == -1 || y == -1 || x == y; });
}

Partial merged(const Partial& a, const Partial& b) {
  if (!a || !b) return a ? a : b;
  Numbers both = *a;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = both[i] == -1 ? (*b)[i] : both[i];
  return both;
}

bool is_full(const Partial& shape) { return shape && std::ranges::count(*shape, -1) == 0; }

std::size_t elements(const Numbers& shape) {
  std::int64_t product = 1;
  for (std::int64_t extent : shape) product *= extent;
  return static_cast<std::size_t>(product);
}

// Returns rows [lo, hi) along the first axis.
Values rows(const Dense& value, std::int64_t lo, std::int64_t hi) {
  const std::size_t width = value.shape[0] == 0 ? 0 : value.values.size() / static_cast<std::size_t>(value.shape[0]);
  const auto at = [&](std::int64_t row) {
    return value.values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * width);
  };
  return Values(at(lo), at(hi));
}

void append(Values& all, const Values& more) { all.insert(all.end(), more.begin(), more.end()); }

Numbers joined(const Numbers& a, const Numbers& b) {
  Numbers both = a;
  both.insert(both.end(), b.begin(), b.end());
  return both;
}

Numbers without_first(const Numbers& shape) { return Numbers(shape.begin() + 1, shape.end()); }

}  // namespace

bool TensorArrayModel::write(std::int64_t index, const Dense& value) {
  if (closed_ || index < 0 || index >= kMaxSize || (index >= size_ && !kind_.dynamic_size)) return false;
  if (!compatible(element_shape_, value.shape)) return false;
  const Slot before = slots_.contains(index) ? slots_[index] : Slot{};
  if (before.read || (before.written && !kind_.is_gradient)) return false;
  if (before.written && before.shape != value.shape) return false;
  if (before.value && !can_add(kind_.dtype)) return false;
  Slot after{value.shape, value.values, true};
  for (std::size_t i = 0; before.value && i < value.values.size(); ++i) {
    (*after.value)[i] = sum(kind_.dtype, (*before.value)[i], value.values[i]);
  }
  slots_[index] = after;
  if (kind_.identical_element_shapes) element_shape_ = merged(element_shape_, value.shape);
  size_ = std::max(size_, index + 1);
  return true;
}

bool TensorArrayModel::write_all(const std::vector<std::pair<std::int64_t, Dense>>& writes) {
  if (closed_) return false;
  TensorArrayModel after = *this;
  for (const auto& [index, value] : writes) {
    if (!after.write(index, value)) return false;
  }
  *this = after;
  return true;
}

bool TensorArrayModel::scatter(const Numbers& indices, const Dense& value) {
  if (value.shape.empty() || value.shape[0] != static_cast<std::int64_t>(indices.size())) return false;
  std::vector<std::pair<std::int64_t, Dense>> writes;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    writes.push_back({indices[i], {without_first(value.shape), rows(value, row, row + 1)}});
  }
  return write_all(writes);
}

bool TensorArrayModel::split(const Dense& value, const Numbers& lengths) {
  if (value.shape.empty()) return false;
  std::vector<std::pair<std::int64_t, Dense>> writes;
  std::int64_t row = 0;
  for (std::int64_t length : lengths) {
    if (length < 0 || length > value.shape[0] - row) return false;
    Numbers shape = value.shape;
    shape[0] = length;
    writes.push_back({static_cast<std::int64_t>(writes.size()), {shape, rows(value, row, row + length)}});
    row += length;
  }
  const auto count = static_cast<std::int64_t>(lengths.size());
  if (row != value.shape[0] || (kind_.dynamic_size ? count < size_ : count != size_)) return false;
  return write_all(writes);
}

// Returns the elements without counting them as read.
std::optional<std::vector<Dense>> TensorArrayModel::read_all(const Numbers& indices, const Partial& given) {
  if (closed_ || !compatible(element_shape_, given)) return std::nullopt;
  const Partial shape = merged(element_shape_, given);
  std::vector<Dense> all;
  for (std::int64_t index : indices) {
    if (index < 0 || index >= (kind_.is_gradient ? kMaxSize : size_)) return std::nullopt;
    const Slot slot = slots_.contains(index) ? slots_[index] : Slot{};
    if (slot.cleared || (!slot.written && !is_full(shape))) return std::nullopt;
    const Numbers own = slot.written ? slot.shape : *shape;
    if (!compatible(shape, own)) return std::nullopt;
    const Values zeros(elements(own), zero(kind_.dtype, kind_.item_size));
    if (!slot.value && !zeros.empty() && !has_zero(kind_.dtype)) return std::nullopt;
    all.push_back({own, slot.value.value_or(zeros)});
  }
  const bool twice = std::set<std::int64_t>(indices.begin(), indices.end()).size() < indices.size();
  if (twice && kind_.clear_after_read) return std::nullopt;
  return all;
}

void TensorArrayModel::count_as_read(const Numbers& indices, const Partial& given) {
  element_shape_ = merged(element_shape_, given);
  for (std::int64_t index : indices) {
    Slot& slot = slots_[index];
    slot.read = true;
    slot.cleared |= kind_.clear_after_read;
    size_ = std::max(size_, index + 1);
  }
}

std::optional<Dense> TensorArrayModel::read(std::int64_t index) {
  const auto found = read_all({index}, {});
  if (!found) return std::nullopt;
  count_as_read({index}, {});
  return (*found)[0];
}

std::optional<Dense> TensorArrayModel::gather(const Numbers& indices, const Partial& element_shape) {
  const auto found = read_all(indices, element_shape);
  if (!found) return std::nullopt;
  const Partial shape = found->empty() ? merged(element_shape_, element_shape) : Partial((*found)[0].shape);
  if (!is_full(shape)) return std::nullopt;
  Dense all{joined({static_cast<std::int64_t>(indices.size())}, *shape), {}};
  for (const Dense& element : *found) {
    if (element.shape != *shape) return std::nullopt;
    append(all.values, element.values);
  }
  count_as_read(indices, element_shape);
  return all;
}

std::optional<TensorArrayModel::Concatenated> TensorArrayModel::concat(const Partial& element_shape_except0) {
  Numbers indices;
  for (std::int64_t i = 0; i < size_; ++i) indices.push_back(i);
  const auto found = read_all(indices, {});
  if (!found || found->empty()) return std::nullopt;
  Concatenated all{{(*found)[0].shape, {}}, {}};
  for (const Dense& element : *found) {
    if (element.shape.empty() || (*found)[0].shape.empty()) return std::nullopt;
    const Numbers inner = without_first(element.shape);
    if (inner != without_first((*found)[0].shape) || !compatible(element_shape_except0, inner)) return std::nullopt;
    append(all.value.values, element.values);
    all.lengths.push_back(element.shape[0]);
  }
  all.value.shape[0] = 0;
  for (std::int64_t length : all.lengths) all.value.shape[0] += length;
  count_as_read(indices, {});
  return all;
}

void TensorArrayModel::close() {
  closed_ = true;
  slots_.clear();
  gradients_.clear();
}

std::shared_ptr<TensorArrayModel> TensorArrayModel::grad(const std::string& source, const Numbers& shape_to_prepend) {
  if (closed_ || kind_.is_gradient) return nullptr;
  if (std::ranges::any_of(shape_to_prepend, [](std::int64_t extent) { return extent < 0; })) return nullptr;
  if (const auto made = gradients_.find(source); made != gradients_.end()) return made->second;
  Kind kind = kind_;
  kind.dynamic_size = false;
  kind.clear_after_read = kind.is_gradient = true;
  Partial shape;
  if (element_shape_) shape = joined(shape_to_prepend, *element_shape_);
  auto gradient = std::make_shared<TensorArrayModel>(size_, kind, shape);
  for (const auto& [index, slot] : slots_) {
    if (slot.written) gradient->slots_[index] = {joined(shape_to_prepend, slot.shape), std::nullopt, true};
  }
  kind_.dynamic_size = false;
  return gradients_[source] = gradient;
}

}  // namespace backslice::fuzz
