#include "backslice/status.h"

#include <sstream>

#include "core/errors.h"
#include "testing.h"

namespace backslice {
namespace {

TEST(Status, DefaultIsSuccess) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().to_string(), "Ok");
}

TEST(Status, CarriesCodeAndMessage) {
  const Status s = out_of_range("index ", 7, " of ", Ints{4, 5});
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(s.code(), StatusCode::OutOfRange);
  EXPECT_EQ(s.to_string(), "OutOfRange: index 7 of [4,5]");
}

TEST(Status, DTypeErrorsAreInvalidArgumentsThatSaySo) {
  EXPECT_TRUE(dtype_error("x").is_about_dtype());
  EXPECT_EQ(dtype_error("x").code(), StatusCode::InvalidArgument);
  EXPECT_FALSE(invalid_argument("x").is_about_dtype());
}

TEST(Status, PrintsAsItsText) {
  std::ostringstream out;
  out << invalid_argument("step 0") << "; " << Status() << "; " << StatusCode::OutOfRange;
  EXPECT_EQ(out.str(), "InvalidArgument: step 0; Ok; OutOfRange");
}

TEST(WithoutThrowing, TurnsBadAllocIntoResourceExhausted) {
  const Status s = without_throwing([]() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(s.code(), StatusCode::ResourceExhausted);
}

}  // namespace
}  // namespace backslice
