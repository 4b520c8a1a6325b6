#include "ragged/row_splits.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>

#include "core/cut_at.h"
#include "core/errors.h"
#include "ops/checks.h"
#include "ragged/on_cpu.h"
#include "ragged/splits_writer.h"

namespace backslice {
namespace {

constexpr std::int64_t kBlock = 1024;

// A list of lists, in messages: "row_splits[1]".
struct ListName {
  const char* argument;
  std::size_t level;

  template <class... Parts>
  Status invalid(const Parts&... parts) const {
    return invalid_argument("Invalid ragged splits: ", argument, "[", level, "]", parts...)
        .at(argument, static_cast<std::int64_t>(level));
  }
};

Status check_list(const Tensor& list, const char* argument, std::size_t level, DType first) {
  const DType dtype = list.dtype();
  if (dtype != DType::Int32 && dtype != DType::Int64) {
    return dtype_error(argument, "[", level, "] has dtype ", name(dtype), ", expected int64 or int32")
        .at(argument, static_cast<std::int64_t>(level));
  }
  if (dtype != first) {
    return dtype_error(argument, "[", level, "] has dtype ", name(dtype), ", but ", argument, "[0] has ", name(first))
        .at(argument, static_cast<std::int64_t>(level));
  }
  if (list.shape().rank() != 1) {
    return invalid_argument(argument, "[", level, "] must be a vector, got shape ", Ints(list.shape()))
        .at(argument, static_cast<std::int64_t>(level));
  }
  return list.device().is_cpu() ? Status() : check_input(list.view(), argument, RunsOn::AnyDevice);
}

// Copies `count` items of a vector of any stride, beginning at item `first`.
template <class T>
void copy_items(const ConstView& from, std::int64_t first, std::int64_t count, T* to) {
  const std::int64_t stride = from.layout.strides[0];
  const std::byte* at = from.data + first * stride;
  if (stride == static_cast<std::int64_t>(sizeof(T))) {
    std::memcpy(to, at, static_cast<std::size_t>(count) * sizeof(T));
  } else {
    for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i, at + i * stride, sizeof(T));
  }
}

template <class T>
bool is_ascending(std::span<const T> items, T before) {
  bool ascending = before <= items[0];  // keeps branches out of the loop
  for (std::size_t i = 1; i < items.size(); ++i) ascending &= items[i - 1] <= items[i];
  return ascending;
}

// Checks that items [first, first + items.size()) of a list ascend after `before`. No other thread changes them.
template <class T>
Status check_order(const ListName& list, std::span<const T> items, std::int64_t first, T before) {
  if (first == 0 && items[0] != 0) return list.invalid("[0] must be 0, but is ", items[0]);
  if (is_ascending(items, before)) return Status();
  std::size_t i = 0;
  for (T last = before; last <= items[i]; ++i) last = items[i];
  const std::int64_t at = first + static_cast<std::int64_t>(i);
  return list.invalid("[", at, "] is ", items[i], ", smaller than the item before it, which is ",
                      i == 0 ? before : items[i - 1], "; row splits never decrease");
}

// Returns a pointer to the items of a vector if they are contiguous and aligned, else null.
template <class T>
const T* in_place(const ConstView& view) {
  const bool is_array = view.layout.strides[0] == static_cast<std::int64_t>(sizeof(T)) &&
                        reinterpret_cast<std::uintptr_t>(view.data) % alignof(T) == 0;
  return is_array ? reinterpret_cast<const T*>(view.data) : nullptr;
}

// Returns whether a list begins with 0 and never decreases. Several threads read a long list.
template <class T>
bool looks_right(const T* items, std::int64_t count, const Call& call) {
  const std::int64_t pieces = call.kernel(count * static_cast<std::int64_t>(sizeof(T))).pieces;
  std::atomic<bool> is_right = items[0] == 0;
  call.tasks.run(pieces, [&](std::int64_t piece) {
    const std::int64_t lo = cut_at(count, pieces, piece), hi = cut_at(count, pieces, piece + 1);
    const std::span<const T> part(items + lo, static_cast<std::size_t>(hi - lo));
    if (!is_ascending(part, items[lo == 0 ? 0 : lo - 1])) is_right = false;
  });
  return is_right;
}

// Checks one list and returns its last item. It copies the list to `copy` unless that is null. Without a copy to keep,
// it copies only a list that looks wrong, block by block: other threads may change the list, and the error must name
// items that no longer change.
template <class T>
Result<std::int64_t> check_items(const Tensor& list, const ListName& named, T* copy, const Call& call) {
  const ConstView view = list.view();
  const std::int64_t count = view.elements();
  if (const T* items = copy == nullptr ? in_place<T>(view) : nullptr) {
    if (looks_right(items, count, call)) return items[count - 1];
  }
  T scratch[kBlock];
  T last = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    call.tasks.throw_if_cancelled_at(first / kBlock);
    const std::int64_t now = std::min(kBlock, count - first);
    T* block = copy != nullptr ? copy + first : scratch;
    copy_items(view, first, now, block);
    const std::span<const T> items(block, static_cast<std::size_t>(now));
    BACKSLICE_RETURN_IF_ERROR(check_order(named, items, first, last));
    last = items.back();
  }
  return last;
}

// Checks one list, and puts a copy into `kept` unless that is null.
Result<std::int64_t> check_one(const Tensor& list, const ListName& named, std::vector<Tensor>* kept, const Call& call) {
  if (list.shape()[0] == 0) return named.invalid(" is empty; it needs one item more than there are rows");
  std::byte* copy = nullptr;
  if (kept != nullptr) {
    auto made = allocate_splits(list.dtype(), list.shape()[0], call);
    if (!made.ok()) return made.status();
    copy = made->view().data;
    (*kept)[named.level] = *std::move(made);
  }
  if (list.dtype() == DType::Int32) return check_items(list, named, reinterpret_cast<std::int32_t*>(copy), call);
  return check_items(list, named, reinterpret_cast<std::int64_t*>(copy), call);
}

Status check_end(const ListName& list, std::int64_t last, std::int64_t expected, bool innermost) {
  if (last == expected) return Status();
  if (innermost) return list.invalid(" is for ", counted(last, "value", "values"), ", but there are ", expected);
  return list.invalid(" is for ", counted(last, "row", "rows"), " of the next list, which has ", expected);
}

}  // namespace

namespace {

bool are_on_cpu(const std::vector<Tensor>& lists) {
  return std::all_of(lists.begin(), lists.end(), [](const Tensor& list) { return list.device().is_cpu(); });
}

// Copies lists on a device to the CPU.
std::vector<Tensor> copied_from_device(const std::vector<Tensor>& lists, const Call& call) {
  std::vector<Tensor> copies;
  for (const Tensor& list : lists) copies.push_back(on_cpu(list, call.stream));
  return copies;
}

}  // namespace

Result<RowSplits> check_row_splits(const std::vector<Tensor>& given, const char* argument,
                                   std::optional<std::int64_t> values, Keep keep, const Call& call) {
  const DType dtype = given[0].dtype();
  for (std::size_t level = 0; level < given.size(); ++level) {
    BACKSLICE_RETURN_IF_ERROR(check_list(given[level], argument, level, dtype));
  }
  if (!are_on_cpu(given)) return check_row_splits(copied_from_device(given, call), argument, values, keep, call);
  RowSplits splits;
  if (keep == Keep::Yes) splits.lists = given;  // each is replaced by its copy
  std::optional<std::int64_t> expected = values;
  for (std::size_t level = given.size(); level-- > 0;) {  // innermost first, each one completely
    const bool innermost = level + 1 == given.size();
    const ListName named{argument, level};
    const auto last = check_one(given[level], named, keep == Keep::Yes ? &splits.lists : nullptr, call);
    if (!last.ok()) return last.status();
    if (expected) BACKSLICE_RETURN_IF_ERROR(check_end(named, *last, *expected, innermost));
    if (innermost) splits.values = *last;
    expected = splits.rows = given[level].shape()[0] - 1;
  }
  return splits;
}

namespace {

// Returns the splits of one list of lengths, reading each length once.
template <class T>
Result<Tensor> sums_of(const Tensor& lengths, const ListName& named, const Call& call) {
  const ConstView view = lengths.view();
  const auto length_of_list = splits_of_rows(view.elements());
  if (!length_of_list.ok()) return length_of_list.status();
  auto splits = allocate_splits(view.dtype, *length_of_list, call);
  if (!splits.ok()) return splits;
  SplitsWriter writer(splits->view());
  T sum = 0;
  for (std::int64_t i = 0; i < view.elements(); ++i) {
    call.tasks.throw_if_cancelled_at(i);
    T length;
    copy_items(view, i, 1, &length);
    if (length < 0) {
      return invalid_argument(named.argument, "[", named.level, "][", i, "] is ", length, ", must be >= 0")
          .at(named.argument, static_cast<std::int64_t>(named.level));
    }
    if (__builtin_add_overflow(sum, length, &sum)) {
      return invalid_argument(named.argument, "[", named.level, "] add up to more than ", name(view.dtype), " holds")
          .at(named.argument, static_cast<std::int64_t>(named.level));
    }
    writer.push(sum);
  }
  return splits;
}

}  // namespace

Result<RowSplits> add_up_row_lengths(const std::vector<Tensor>& given, const char* argument, std::int64_t values,
                                     const Call& call) {
  const DType dtype = given[0].dtype();
  std::vector<Tensor> lists;
  for (std::size_t level = 0; level < given.size(); ++level) {
    BACKSLICE_RETURN_IF_ERROR(check_list(given[level], argument, level, dtype));
    const Tensor lengths = on_cpu(given[level], call.stream);
    auto list = dtype == DType::Int32 ? sums_of<std::int32_t>(lengths, {argument, level}, call)
                                      : sums_of<std::int64_t>(lengths, {argument, level}, call);
    if (!list.ok()) return list.status();
    lists.push_back(*std::move(list));
  }
  auto splits = check_row_splits(lists, argument, values, Keep::No, call);
  if (splits.ok()) splits->lists = std::move(lists);
  return splits;
}

}  // namespace backslice
