// Every dtype in every operation.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

class EveryDType : public ::testing::TestWithParam<DType> {};

std::int64_t size_of(DType dtype) { return dtype == DType::Bytes ? 5 : item_size(dtype); }

TEST_P(EveryDType, MovesForwardAndBack) {
  if (GetParam() == DType::String) return;  // has its own test below
  const std::int64_t size = size_of(GetParam());
  std::vector<unsigned char> x(static_cast<std::size_t>(6 * size));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned char>(i + 1);
  const ConstView view = ConstView::contiguous(x.data(), GetParam(), {6}, size).value();
  const Selection odd = at({6}, "1::2");

  Tensor y = slice(odd, view).value();
  ASSERT_EQ(y.dtype(), GetParam());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(y.view().data + i * size, x.data() + (2 * i + 1) * size, static_cast<std::size_t>(size)), 0);
  }

  const Result<Tensor> dx = slice_grad(odd, y.view());
  if (!has_zero(GetParam())) {
    EXPECT_TRUE(is_error(dx, kInvalid, "float8_e8m0fnu has no zero", "3 elements"));
    EXPECT_TRUE(dx.status().is_about_dtype());
    EXPECT_TRUE(slice_grad(at({6}, "::-1"), view).ok());  // nothing left to be zero
    return;
  }
  const std::vector<std::byte> zeros(static_cast<std::size_t>(size));
  for (int i = 0; i < 6; ++i) {
    const void* expected = i % 2 == 1 ? static_cast<const void*>(x.data() + i * size) : zeros.data();
    EXPECT_EQ(std::memcmp(dx->view().data + i * size, expected, static_cast<std::size_t>(size)), 0) << i;
  }
}

TEST_P(EveryDType, AddsOrSaysThatItCannot) {
  const std::int64_t size = size_of(GetParam());
  auto out = Tensor::make(GetParam(), Shape::make({4}).value(), size).value();
  auto dy = Tensor::make(GetParam(), Shape::make({2}).value(), size).value();
  if (GetParam() != DType::String) {
    std::memset(out.view().data, 0, static_cast<std::size_t>(4 * size));
    std::memset(dy.view().data, 1, static_cast<std::size_t>(2 * size));
  }
  const Status status = slice_grad_into(at({4}, "1:3"), dy.view(), out.view(), Write::Accumulate);
  EXPECT_EQ(status.ok(), can_add(GetParam())) << status.to_string();
  if (!status.ok()) {
    EXPECT_TRUE(is_error(status, kInvalid, "accumulate", std::string(name(GetParam())), "cannot be added"));
    EXPECT_TRUE(status.is_about_dtype());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryDType, ::testing::ValuesIn(all_dtypes().begin(), all_dtypes().end()),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Strings, MoveAndTheirZeroIsEmpty) {
  const std::vector<std::string> dy = {"a string that is too long to be stored in place", "b"};
  Tensor dx = slice_grad(at({4}, "2:0:-1"), view_of(dy, {2})).value();
  EXPECT_THAT(elements<std::string>(dx), ElementsAre("", "b", dy[0], ""));
  std::vector<std::string> out(4, "old");
  EXPECT_TRUE(slice_grad_into(at({4}, "2:0:-1"), view_of(dy, {2}), view_of(out, {4})).ok());
  EXPECT_THAT(out, ElementsAre("", "b", dy[0], ""));
  Tensor y = slice(at({4}, "1:3"), view_of(out, {4})).value();
  EXPECT_THAT(elements<std::string>(y), ElementsAre("b", dy[0]));
}

TEST(Strings, MisalignedAreRefused) {
  alignas(std::string) std::byte memory[3 * sizeof(std::string)] = {};
  const ConstView x = ConstView::contiguous(memory + 1, DType::String, {2}).value();
  EXPECT_TRUE(is_error(slice(at({2}, ":"), x), kInvalid, "aligned"));
}

}  // namespace
}  // namespace backslice
