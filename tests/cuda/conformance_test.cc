// The conformance cases of dense slices on a CUDA device.
#include "conformance/cases.h"
#include "cuda/backend.h"

namespace backslice {
namespace {

using namespace conformance;

TEST(ConformanceOnCuda, DenseSlices) {
  const json cases = cases_of("dense_slices.json");
  ASSERT_GT(cases.size(), 30u);
  for (const json& test : cases) {
    SCOPED_TRACE(test["name"].get<std::string>());
    const Numbers shape = test["input"]["shape"], values = test["input"]["values"];
    Tensor input = Tensor::make(DType::Int64, shape, 0, Contents::Uninitialised, testing::gpu().allocator()).value();
    const auto count = static_cast<std::size_t>(input.shape().elements());
    ASSERT_EQ(cudaMemcpy(input.view().data, values.data(), 8 * count, cudaMemcpyDefault), cudaSuccess);
    const Result<Tensor> result = run(test, input);
    if (expects_error(test, result)) continue;
    ASSERT_EQ(result->device(), Device::cuda(0));
    const Numbers expected_shape = test["result"]["shape"], expected = test["result"]["values"];
    EXPECT_EQ(Numbers(result->shape().begin(), result->shape().end()), expected_shape);
    const auto bytes = testing::gpu().download(result->view());
    ASSERT_EQ(bytes.size(), 8 * expected.size());
    EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
  }
}

}  // namespace
}  // namespace backslice
