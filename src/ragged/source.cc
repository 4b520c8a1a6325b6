#include "ragged/source.h"

#include <algorithm>
#include <string>

#include "core/device.h"
#include "core/overlap.h"
#include "ops/checks.h"
#include "ragged/ragged_parts.h"

namespace backslice {
namespace {

Result<Tensor> make_splits(const RaggedSource& source, int level, const Call& call) {
  if (auto existing = source.existing_splits(level)) return *std::move(existing);
  const RaggedSize& size = source.size();
  const auto at = static_cast<std::size_t>(level);
  BACKSLICE_RETURN_IF_ERROR(check_splits_fit(end_of_splits(size, at), size.splits_dtype));
  auto list = allocate_splits(size.splits_dtype, size.splits[at], call);
  if (!list.ok()) return list;
  SplitsWriter writer(list->view());
  source.write_splits(level, writer);
  return list;
}

Status check_splits_list(const RaggedSize& size, const View& list, std::size_t level, const std::string& argument) {
  const DType dtype = list.dtype;
  if (dtype != DType::Int32 && dtype != DType::Int64) {
    return dtype_error(argument, " has dtype ", name(dtype), ", expected int64 or int32").at(argument);
  }
  BACKSLICE_RETURN_IF_ERROR(
      check_output(list, argument.c_str(), *Shape::make({size.splits[level]}), dtype, item_size(dtype), "row splits"));
  return check_splits_fit(end_of_splits(size, level), dtype);
}

std::string list_name(const RaggedViewNames& names, std::size_t level) { return join(names.splits, "[", level, "]"); }

// Checks that a list of out is disjoint from out's values and the lists before it.
Status check_apart(const RaggedView& out, std::size_t level, const RaggedViewNames& names) {
  const std::string argument = list_name(names, level);
  if (overlap(out.splits[level], out.values)) {
    return invalid_argument(argument, " shares memory with ", names.values).at(argument);
  }
  for (std::size_t before = 0; before < level; ++before) {
    if (!overlap(out.splits[level], out.splits[before])) continue;
    return invalid_argument(argument, " shares memory with ", list_name(names, before)).at(argument);
  }
  return Status();
}

}  // namespace

Joiner joiner_of(const RaggedSource& source) {
  Joiner joiner(source.size().dtype, source.size().item_size, source.segments());
  source.push_values(joiner);
  return joiner;
}

Result<std::vector<Tensor>> make_splits(const RaggedSource& source, const Call& call) {
  std::vector<Tensor> lists;
  lists.reserve(source.size().splits.size());
  for (int level = 0; level < source.levels(); ++level) {
    auto list = make_splits(source, level, call);
    if (!list.ok()) return list.status();
    lists.push_back(*std::move(list));
  }
  return lists;
}

void fill_splits(const RaggedSource& source, const RaggedView& out) {
  for (int level = 0; level < source.levels(); ++level) {
    SplitsWriter writer(out.splits[static_cast<std::size_t>(level)]);
    source.write_splits(level, writer);
  }
}

Result<RaggedTensor> make_ragged(const RaggedSource& source, const Call& call) {
  if (const RaggedTensor* whole = source.whole()) return *whole;
  auto lists = make_splits(source, call);
  if (!lists.ok()) return lists.status();
  auto values = joiner_of(source).join(source.size().values, call);
  if (!values.ok()) return values.status();
  return RaggedParts::join(*std::move(values), *std::move(lists));
}

bool splits_share_memory(const RaggedTensor& rt, const ConstView& view) {
  const std::vector<Tensor>& lists = rt.nested_row_splits();
  return std::any_of(lists.begin(), lists.end(), [&](const Tensor& list) { return overlap(view, list.view()); });
}

Status check_ragged_output(const RaggedSource& source, const RaggedView& out, const RaggedViewNames& names,
                           const std::function<bool(const ConstView&)>& shares_values) {
  const RaggedSize& size = source.size();
  if (out.splits.size() != size.splits.size()) {
    const std::string given = names.count == nullptr
                                  ? join(names.splits, " has ", counted(out.splits.size(), "list", "lists"))
                                  : join(names.count, " is ", out.splits.size());
    return invalid_argument(given, ", but the result has ragged rank ", size.splits.size())
        .at(names.count == nullptr ? names.splits : names.count);
  }
  const auto check_not_read = [&](const View& view, const std::string& argument) {
    if (shares_values(view)) {
      return invalid_argument(argument, " shares memory with the values that are read").at(argument);
    }
    if (!source.shares_splits(view)) return Status();
    return invalid_argument(argument, " shares memory with the splits that are read").at(argument);
  };
  BACKSLICE_RETURN_IF_ERROR(check_same_device(out.values.device, names.values, size.device, "the values"));
  BACKSLICE_RETURN_IF_ERROR(
      check_output(out.values, names.values, size.values, size.dtype, size.item_size, "the values", RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_not_read(out.values, names.values));
  for (std::size_t level = 0; level < out.splits.size(); ++level) {
    const std::string argument = list_name(names, level);
    BACKSLICE_RETURN_IF_ERROR(check_splits_list(size, out.splits[level], level, argument));
    BACKSLICE_RETURN_IF_ERROR(check_not_read(out.splits[level], argument));
    BACKSLICE_RETURN_IF_ERROR(check_apart(out, level, names));
  }
  return Status();
}

Status fill_ragged(const RaggedSource& source, const RaggedView& out, const RaggedViewNames& names, const Call& call) {
  const Joiner values = joiner_of(source);
  const auto shares_values = [&](const ConstView& view) { return values.shares_memory_with(view); };
  BACKSLICE_RETURN_IF_ERROR(check_ragged_output(source, out, names, std::cref(shares_values)));
  // Makes the values first: only they allocate and can fail.
  BACKSLICE_RETURN_IF_ERROR(values.join_into(out.values, Write::Overwrite, call));
  fill_splits(source, out);
  return Status();
}

namespace {

RaggedSize source_size(const RaggedTensor& rt) {
  RaggedSize size{{},         rt.values().shape(), rt.dtype(), rt.values().view().layout.item_size, rt.splits_dtype(),
                  rt.device()};
  for (const Tensor& list : rt.nested_row_splits()) size.splits.push_back(list.shape()[0]);
  return size;
}

}  // namespace

WholeSource::WholeSource(const RaggedTensor& rt) : RaggedSource(source_size(rt)), rt_(rt) {}

void WholeSource::write_splits(int level, SplitsWriter& to) const {
  const std::int64_t length = size_.splits[static_cast<std::size_t>(level)];
  for (std::int64_t i = 1; i < length; ++i) to.push(rt_.split(level, i));
}

void WholeSource::push_values(Joiner& to) const {
  const Tensor& values = rt_.values();
  to.push(values.data(), values.shape().elements(), [&]() -> const Buffer& { return values.buffer(); });
}

}  // namespace backslice
