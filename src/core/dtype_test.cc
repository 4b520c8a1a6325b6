#include "backslice/dtype.h"

#include "core/visit_dtype.h"
#include "testing.h"

namespace backslice {
namespace {

TEST(DType, NamesGoBothWays) {
  for (DType dtype : all_dtypes()) EXPECT_EQ(dtype_from_name(name(dtype)), dtype) << name(dtype);
  EXPECT_EQ(dtype_from_name("float128"), std::nullopt);
}

TEST(DType, VisitedTypesHaveTheSizeOfAnElement) {
  for (DType dtype : all_dtypes()) {
    if (!can_add(dtype)) continue;
    visit_addable(dtype, [&]<class T>() { EXPECT_EQ(sizeof(T), item_size(dtype)) << name(dtype); });
  }
}

TEST(DType, WhatCannotBeAdded) {
  for (DType dtype : {DType::Bool, DType::QInt8, DType::QUInt8, DType::QInt16, DType::QUInt16, DType::QInt32,
                      DType::String, DType::Bytes, DType::StringView}) {
    EXPECT_FALSE(can_add(dtype)) << name(dtype);
  }
}

TEST(DType, OnlyE8M0HasNoZero) {
  for (DType dtype : all_dtypes()) EXPECT_EQ(has_zero(dtype), dtype != DType::Float8E8M0FNU) << name(dtype);
}

TEST(Wrapping, WrapsModuloItsBits) {
  using Int4 = Wrapping<std::uint8_t, 4>;
  EXPECT_EQ((Int4{15} + Int4{2}).value, 1);
  EXPECT_EQ((Int4{0xff} + Int4{0}).value, 15);  // the unused bits have no say
  using Int64 = Wrapping<std::uint64_t>;
  EXPECT_EQ((Int64{~0ull} + Int64{2}).value, 1u);
}

}  // namespace
}  // namespace backslice
