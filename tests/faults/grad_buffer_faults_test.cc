#include "backslice/backslice.h"
#include "faults/fault_injection.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

std::vector<Operation> buffer_operations() {
  const auto selection = [](const char* text) { return selection_of({40, 8}, text); };
  const auto with = [=](const char* name, std::vector<const char*> before, const char* text) {
    return [=] {
      const auto buffer = std::make_shared<GradBuffer>(GradBuffer::make(DType::Float32, {40, 8}).value());
      const auto plain = std::make_shared<std::vector<float>>(40 * 8);
      const auto term = [=](const char* index) { return counting<float>(selection(index).result_shape().elements()); };
      for (const char* index : before) {
        const auto dy = term(index);
        EXPECT_TRUE(buffer->add(selection(index), view_of(dy, selection(index).result_shape())).ok());
        EXPECT_TRUE(slice_grad_into(selection(index), view_of(dy, selection(index).result_shape()),
                                    view_of(*plain, {40, 8}), Write::Accumulate)
                        .ok());
      }
      const auto dy = std::make_shared<std::vector<float>>(term(text));
      const ConstView view = view_of(*dy, selection(text).result_shape());
      const bool adds = std::string_view(name).starts_with("add");
      if (!adds) std::fill(plain->begin(), plain->end(), 0.f);
      EXPECT_TRUE(slice_grad_into(selection(text), view, view_of(*plain, {40, 8}), Write::Accumulate).ok());
      return Attempt{[=, s = selection(text)] { return adds ? buffer->add(s, view) : buffer->write(s, view); },
                     [=] {
                       (void)dy;
                       const auto* held = reinterpret_cast<const float*>(buffer->view().data);
                       EXPECT_EQ(std::vector<float>(held, held + plain->size()), *plain);
                     }};
    };
  };
  return {{"write", with("write", {"3:9", "20:30, ::2"}, "5:25")},
          {"add_apart", with("add", {"3:9"}, "20:30")},
          {"add_inside", with("add", {"3:30"}, "5:7")},
          {"add_across", with("add", {"3:9", "12:20, ::2"}, "5:25")}};
}

// After any failed addition, a gradient buffer holds the same as before.
TEST(FaultInjectionOfGradBuffer, AFailedAdditionChangesNothing) {
  const auto selection = [](const char* text) { return *Selection::from_index({40, 8}, text); };
  const auto fill = [&](GradBuffer& buffer, const char* text) {
    const auto dy = counting<float>(selection(text).result_shape().elements());
    return buffer.add(selection(text), view_of(dy, selection(text).result_shape()));
  };
  for (std::int64_t n = 0; n < 1000; ++n) {
    GradBuffer buffer = GradBuffer::make(DType::Float32, {40, 8}).value();
    ASSERT_TRUE(fill(buffer, "3:9").ok() && fill(buffer, "12:20, ::2").ok());
    const auto bytes = [&] {
      const ConstView view = buffer.view();
      return std::vector<std::byte>(view.data, view.data + view.elements() * 4);
    };
    const auto before = bytes();
    const auto dy = counting<float>(20 * 8);
    const Selection across = selection("5:25");
    faults::strike_at(n);
    const Status status = buffer.add(across, view_of(dy, {20, 8}));
    if (!faults::disarm()) return;
    if (!status.ok()) {
      EXPECT_TRUE(bytes() == before) << "request " << n;
    }
    ASSERT_TRUE(buffer.write(selection("0:0"), view_of(std::vector<float>(), {0, 8})).ok());  // clears its regions
    EXPECT_TRUE(bytes() == std::vector<std::byte>(before.size())) << "request " << n;
  }
  FAIL() << "the operation never came to its end";
}

INSTANTIATE_TEST_SUITE_P(GradBuffer, FaultInjection, ::testing::ValuesIn(buffer_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
