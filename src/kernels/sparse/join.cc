
#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "backslice/tensor.h"
#include "core/per_axis.h"
#include "core/tuning.h"
#include "kernels/cpu/kernel_context.h"
#include "kernels/sparse/index_rows.h"
#include "kernels/sparse/matcher.h"
#include "plan/cut.h"

namespace backslice {
namespace {

using Key = std::uint64_t;

// Mixes all bits well (the finaliser of splitmix64).
Key mix(Key key) {
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
  key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
  return key ^ (key >> 31);
}

// A key and its row in one word: distributed entries are written and read again, and memory is the limit.
class EntryFormat {
 public:
  using Entry = std::uint64_t;

  explicit EntryFormat(std::int64_t most_rows)
      : row_bits_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_rows)))) {}

  int key_bits() const { return 64 - row_bits_; }
  Entry make(Key key, std::int64_t row) const { return key << row_bits_ | static_cast<Entry>(row); }
  Key key(Entry entry) const { return entry >> row_bits_; }
  std::int64_t row(Entry entry) const { return static_cast<std::int64_t>(entry & ((Entry{1} << row_bits_) - 1)); }

 private:
  int row_bits_;  // at least 1: lists without rows are not joined
};
using Entry = EntryFormat::Entry;

std::int64_t pieces_for_rows(std::int64_t rows, const KernelContext& context) {
  return pieces_for(work_of(rows, kTuning.row_work), context.tasks);
}

// The rows of a list, cut for the threads.
class Parts {
 public:
  Parts(std::int64_t rows, const KernelContext& context) : rows_(rows), count_(pieces_for_rows(rows, context)) {}
  std::int64_t count() const { return count_; }
  Range operator[](std::int64_t part) const { return {cut_at(rows_, count_, part), cut_at(rows_, count_, part + 1)}; }

 private:
  std::int64_t rows_, count_;
};

// The leading bits of the key choose the partition, the next bits the place in its table.
Key scattered(Key key) { return key * 0x9e3779b97f4a7c15u; }

std::size_t leading(Key bits, int count) { return count == 0 ? 0 : static_cast<std::size_t>(bits >> (64 - count)); }

std::size_t partition_of(Key key, int bits) { return leading(scattered(key), bits); }

enum class List { Input, Output };

// The keys of the rows of both lists. Only this depends on the types of their indices.
class Keys {
 public:
  virtual ~Keys() = default;

  // Writes an entry for each row of the range that may match a row of the other list, and counts the entries of each of
  // 2^bits partitions. Returns the end of the entries.
  virtual Entry* write_entries(List list, Range rows, EntryFormat format, int bits, Entry* next,
                               std::int64_t* counts) const = 0;

  // Returns whether rows with the same key always have the same index. The two functions below compare the others.
  virtual bool are_exact() const = 0;
  virtual bool same_index(std::int64_t input_row, std::int64_t output_row) const = 0;
  virtual bool same_output_index(std::int64_t a, std::int64_t b) const = 0;
};

// Both lists in the coordinates of the box that contains the slice's rows in the input, cut to the range of int64. A
// coordinate is unsigned, and past the box for all rows outside.
template <class Rows>
class KeysOf final : public Keys {
 public:
  KeysOf(const CooIndices& input, Ints start, const CooIndices& output, int bits, const KernelContext& context)
      : input_(input), output_(output), bits_(bits) {
    const Box box = box_of(output.rows(), context);
    Key positions = 1;
    for (int axis = input_.rank() - 1; axis >= 0; --axis) {
      const std::int64_t shift = start[static_cast<std::size_t>(axis)];
      const std::int64_t low = saturating_add(box.low[axis], shift), high = saturating_add(box.high[axis], shift);
      from_input_[axis] = Key{0} - static_cast<Key>(low);
      from_output_[axis] = static_cast<Key>(shift) - static_cast<Key>(low);
      reach_[axis] = static_cast<Key>(high) - static_cast<Key>(low);
      weight_[axis] = positions;
      exact_ &= reach_[axis] + 1 != 0 && !__builtin_mul_overflow(positions, reach_[axis] + 1, &positions);
    }
    exact_ &= static_cast<int>(std::bit_width(positions - 1)) <= bits_;
  }

  // Skipped rows are as good as random, so no branch depends on them.
  Entry* write_entries(List list, Range rows, EntryFormat format, int bits, Entry* next,
                       std::int64_t* counts) const override {
    const KeysOf self = *this;  // a copy that the stores below cannot change
    const bool is_input = list == List::Input;
    const Rows& indices = is_input ? self.input_ : self.output_;
    const Coordinates& from = is_input ? self.from_input_ : self.from_output_;
    for (std::int64_t row = rows.lo; row < rows.hi; ++row) {
      Key key;
      const bool keep = self.key_of(indices, from, row, key);
      *next = format.make(key, row);
      next += keep;
      counts[partition_of(key, bits)] += keep;
    }
    return next;
  }

  bool are_exact() const override { return exact_; }
  bool same_index(std::int64_t input_row, std::int64_t output_row) const override {
    return same(input_, from_input_, input_row, output_row);
  }
  bool same_output_index(std::int64_t a, std::int64_t b) const override { return same(output_, from_output_, a, b); }

 private:
  using Coordinates = PerAxis<Key>;
  struct Box {
    PerAxis<std::int64_t> low, high;
  };

  static std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }

  // Returns false if no row of the other list can match; then the key is meaningless.
  bool key_of(const Rows& list, const Coordinates& from, std::int64_t row, Key& key) const {
    bool inside = true;
    Key position = 0, hash = 0;
    for (int axis = 0; axis < input_.rank(); ++axis) {
      const Key coordinate = static_cast<Key>(list.at(row, axis)) + from[axis];
      inside &= coordinate <= reach_[axis];
      position += coordinate * weight_[axis];
      if (!exact_) hash = mix(hash + coordinate);
    }
    key = exact_ ? position : hash >> (64 - bits_);
    return inside;
  }

  bool same(const Rows& list, const Coordinates& from, std::int64_t row, std::int64_t output_row) const {
    for (int axis = 0; axis < input_.rank(); ++axis) {
      const Key coordinate = static_cast<Key>(list.at(row, axis)) + from[axis];
      if (coordinate != static_cast<Key>(output_.at(output_row, axis)) + from_output_[axis]) return false;
    }
    return true;
  }

  Box box_of(std::int64_t rows, const KernelContext& context) const {
    Box none;
    none.low.fill(std::numeric_limits<std::int64_t>::max());
    none.high.fill(std::numeric_limits<std::int64_t>::min());
    const Parts parts(rows, context);
    std::vector<Box> boxes(static_cast<std::size_t>(parts.count()), none);
    context.tasks.run(parts.count(), [&](std::int64_t part) {
      Box box = none;
      for (std::int64_t row = parts[part].lo; row < parts[part].hi; ++row) {
        for (int axis = 0; axis < output_.rank(); ++axis) {
          box.low[axis] = std::min(box.low[axis], output_.at(row, axis));
          box.high[axis] = std::max(box.high[axis], output_.at(row, axis));
        }
      }
      boxes[static_cast<std::size_t>(part)] = box;
    });
    Box all = none;
    for (const Box& box : boxes) {
      for (int axis = 0; axis < output_.rank(); ++axis) {
        all.low[axis] = std::min(all.low[axis], box.low[axis]);
        all.high[axis] = std::max(all.high[axis], box.high[axis]);
      }
    }
    return all;
  }

  Rows input_, output_;
  Coordinates from_input_, from_output_, reach_, weight_;
  int bits_;  // of a key
  bool exact_ = true;
};

// The beginning of each partition's entries, one more than there are partitions.
using Offsets = std::vector<std::int64_t>;

// Entries by partition, in the order of their rows within each.
struct Dealt {
  Buffer memory;
  Offsets begin;
  Entry* entries() const { return reinterpret_cast<Entry*>(memory.data()); }
  std::int64_t count() const { return begin.back(); }
  std::span<const Entry> operator[](std::int64_t partition) const {
    const std::int64_t* at = begin.data() + partition;
    return {entries() + at[0], static_cast<std::size_t>(at[1] - at[0])};
  }
};

// Turns the counts of each piece into the beginnings of its entries in each partition, and returns the beginnings of
// the partitions. All threads wait for this one, and other threads' caches hold the counts, so they are read in the
// order of memory.
Offsets counts_to_places(std::vector<Offsets>& counts_of_parts, std::size_t partitions) {
  Offsets begin(partitions + 1, 0);
  for (const Offsets& counts : counts_of_parts) {
    for (std::size_t p = 0; p < partitions; ++p) begin[p + 1] += counts[p];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  Offsets next = begin;
  for (Offsets& counts : counts_of_parts) {
    for (std::size_t p = 0; p < partitions; ++p) next[p] += std::exchange(counts[p], next[p]);
  }
  return begin;
}

// Distributes the entries of a list to the partitions. Keys are made from the indices once: those may change meanwhile,
// and the distributed entries must be the counted ones.
Dealt deal(const Keys& keys, List list, std::int64_t rows, int bits, EntryFormat format, const KernelContext& context) {
  const Parts parts(rows, context);
  const std::size_t partitions = std::size_t{1} << bits;
  const Buffer kept_memory =
      allocate_scratch<Entry>(rows, context.allocator);  // the entries of each piece, from the beginning of its rows
  auto* const kept_entries = reinterpret_cast<Entry*>(kept_memory.data());
  std::vector<std::int64_t> kept(static_cast<std::size_t>(parts.count()), 0);
  std::vector<Offsets> at(static_cast<std::size_t>(parts.count()));
  context.tasks.run(parts.count(), [&](std::int64_t part) {
    at[static_cast<std::size_t>(part)].assign(partitions, 0);
    Entry* const first = kept_entries + parts[part].lo;
    Entry* const end =
        keys.write_entries(list, parts[part], format, bits, first, at[static_cast<std::size_t>(part)].data());
    kept[static_cast<std::size_t>(part)] = end - first;
  });
  Dealt dealt;
  dealt.begin = counts_to_places(at, partitions);
  dealt.memory = allocate_scratch<Entry>(dealt.count(), context.allocator);
  context.tasks.run(parts.count(), [&](std::int64_t part) {
    Entry* const entries = dealt.entries();
    std::int64_t* const place = at[static_cast<std::size_t>(part)].data();
    const Entry* const mine = kept_entries + parts[part].lo;
    for (std::int64_t i = 0; i < kept[static_cast<std::size_t>(part)]; ++i) {
      entries[place[partition_of(format.key(mine[i]), bits)]++] = mine[i];
    }
  });
  return dealt;
}

// The slice's rows of one partition: for each index a queue of rows, first row first.
class Table {
 public:
  Table(const Keys& keys, EntryFormat format, int partition_bits)
      : keys_(keys), format_(format), partition_bits_(partition_bits) {}

  void fill(std::span<const Entry> entries) {
    entries_ = entries;
    slot_bits_ = static_cast<int>(std::bit_width(2 * entries.size()));
    slots_.assign(std::size_t{1} << slot_bits_, Slot{});
    next_.resize(entries.size());
    for (std::size_t e = entries.size(); e-- > 0;) {  // from the last, so that the first ends up in front
      const Key key = format_.key(entries[e]);
      const std::int64_t row = format_.row(entries[e]);
      Slot& slot = find(key, [&](std::int64_t other) { return keys_.same_output_index(row, other); });
      if (slot.any == kNone) slot = {key, static_cast<std::int32_t>(e), kNone};
      next_[e] = slot.first;
      slot.first = static_cast<std::int32_t>(e);
    }
  }

  // Removes the first row of the queue for this input row; kNoRow if it is empty.
  std::int64_t take(Entry input) {
    Slot& slot =
        find(format_.key(input), [&](std::int64_t other) { return keys_.same_index(format_.row(input), other); });
    if (slot.first == kNone) return kNoRow;
    const auto taken = static_cast<std::size_t>(slot.first);
    slot.first = next_[taken];
    return format_.row(entries_[taken]);
  }

 private:
  static constexpr std::int32_t kNone = -1;
  struct Slot {
    Key key = 0;
    std::int32_t any = kNone;    // an entry with this index, or kNone where the slot is free
    std::int32_t first = kNone;  // the first remaining entry
  };

  // Same: bool(row of the slice), called if keys are equal and that does not suffice.
  template <class Same>
  Slot& find(Key key, const Same& same) {
    const auto is_it = [&](const Slot& slot) {
      return slot.key == key && (keys_.are_exact() || same(format_.row(entries_[static_cast<std::size_t>(slot.any)])));
    };
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = leading(scattered(key) << partition_bits_, slot_bits_);
    while (slots_[at].any != kNone && !is_it(slots_[at])) at = (at + 1) & mask;
    return slots_[at];
  }

  const Keys& keys_;
  EntryFormat format_;
  int partition_bits_, slot_bits_ = 0;
  std::span<const Entry> entries_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> next_;
};

// Writes kNoRow for each row.
Buffer filled(std::int64_t rows, const KernelContext& context) {
  Buffer buffer = allocate_scratch<std::int32_t>(rows, context.allocator);
  auto* const slice_rows = reinterpret_cast<std::int32_t*>(buffer.data());
  const Parts parts(rows, context);
  context.tasks.run(parts.count(), [&](std::int64_t part) {
    std::fill(slice_rows + parts[part].lo, slice_rows + parts[part].hi, static_cast<std::int32_t>(kNoRow));
  });
  return buffer;
}

std::unique_ptr<Keys> make_keys(const CooIndices& input, Ints start, const CooIndices& output, int bits,
                                const KernelContext& context) {
  return visit_rows(input, output, [&]<class Rows>() -> std::unique_ptr<Keys> {
    return std::make_unique<KeysOf<Rows>>(input, start, output, bits, context);
  });
}

}  // namespace

Joined join_in_any_order(const CooIndices& input, Ints start, const CooIndices& output, const KernelContext& context) {
  Joined joined{filled(input.rows(), context)};
  if (output.rows() == 0) return joined;
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(output.rows() / kTuning.table_rows)));
  const EntryFormat format(std::max(input.rows(), output.rows()));
  const auto keys = make_keys(input, start, output, format.key_bits(), context);
  const Dealt outputs = deal(*keys, List::Output, output.rows(), bits, format, context);
  const Dealt inputs = deal(*keys, List::Input, input.rows(), bits, format, context);

  const std::int64_t partitions = std::int64_t{1} << bits;
  const std::int64_t tasks = std::min(partitions, pieces_for_rows(outputs.count() + inputs.count(), context));
  std::int32_t* const slice_rows = joined.rows();
  std::atomic<std::int64_t> found = 0;
  context.tasks.run(tasks, [&](std::int64_t task) {
    Table table(*keys, format, bits);
    std::int64_t found_here = 0;
    for (std::int64_t p = task; p < partitions; p += tasks) {
      table.fill(outputs[p]);
      for (Entry entry : inputs[p]) {
        const std::int64_t row = table.take(entry);
        if (row == kNoRow) continue;
        slice_rows[format.row(entry)] = static_cast<std::int32_t>(row);
        ++found_here;
      }
    }
    found += found_here;
  });
  joined.found = found;
  return joined;
}

}  // namespace backslice
