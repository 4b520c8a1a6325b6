// What this machine's caches and pages have room for, as its files say. The explorer, which has no files, replaces both.
#pragma once

#include <cstdint>

namespace backslice {

// In bytes: a result up to this size is written into the caches, where its reader finds it. That is half of the last
// level, since what the result is made from takes room too. And never more than 32 MiB, because virtual machines are
// told of a level that they share with many others: on one that was told of 300 MiB, writing past the caches took half
// the time from 64 MiB on.
std::int64_t cache_for_results();

// The size of the huge pages that memory may ask for; 0 where the system has none.
std::int64_t huge_page_bytes();

}  // namespace backslice
