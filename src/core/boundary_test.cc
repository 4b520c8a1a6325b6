#include "core/boundary.h"

#include <new>
#include <stdexcept>
#include <system_error>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

template <class Exception>
Status status_of(Exception thrown) {
  return without_throwing([&]() -> Status { throw thrown; });
}

TEST(Boundary, TurnsEveryExceptionIntoAStatus) {
  EXPECT_TRUE(is_error(status_of(std::bad_alloc()), StatusCode::ResourceExhausted, "out of memory"));
  EXPECT_TRUE(is_error(status_of(std::length_error("vector")), StatusCode::ResourceExhausted, "out of memory"));
  const std::system_error no_thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_TRUE(is_error(status_of(no_thread), StatusCode::ResourceExhausted, "unavailable"));
  EXPECT_TRUE(is_error(status_of(std::runtime_error("boom")), StatusCode::Internal, "boom"));
  EXPECT_TRUE(is_error(status_of(42), StatusCode::Internal, "unknown type"));
  const Status own(StatusCode::OutOfRange, "index 5");
  EXPECT_TRUE(is_error(status_of(StatusException(own)), StatusCode::OutOfRange, "index 5"));
}

template <class Exception>
Status status_in_callback(Exception thrown) {
  return without_throwing([&] { return calling("the allocator", [&]() -> Status { throw thrown; }); });
}

TEST(Boundary, NamesTheCallbackThatThrew) {
  EXPECT_TRUE(is_error(status_in_callback(std::bad_alloc()), StatusCode::ResourceExhausted,
                       "the allocator threw an exception: std::bad_alloc"));
  EXPECT_TRUE(is_error(status_in_callback(std::runtime_error("boom")), StatusCode::Internal,
                       "the allocator threw an exception: boom"));
  EXPECT_TRUE(
      is_error(status_in_callback(42), StatusCode::Internal, "the allocator threw an exception of an unknown type"));
  const Status own(StatusCode::OutOfRange, "index 5");
  EXPECT_EQ(status_in_callback(StatusException(own)).message(), "index 5");
}

TEST(Boundary, LeavesResultsAlone) {
  EXPECT_EQ(*without_throwing([]() -> Result<int> { return 3; }), 3);
  EXPECT_TRUE(without_throwing([]() -> Status { return Status(); }).ok());
}

}  // namespace
}  // namespace backslice
