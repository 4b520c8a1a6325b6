// Sparse slices and their gradients on a CUDA device, compared with the CPU: the same bytes, the same errors.
#include <cuda_runtime_api.h>

#include "on_device.h"
#include "sparse_rules.h"

namespace backslice {
namespace {

using namespace testing;

// A list of indices on both devices, at an unaligned offset.
template <class Index>
class DeviceList {
 public:
  DeviceList(const Rows& rows, int rank, bool by_columns, std::int64_t offset)
      : cpu_(rows, rank), by_columns_(by_columns && rank > 0), offset_(offset) {
    const auto& source = by_columns_ ? cpu_.by_column : cpu_.matrix;
    std::vector<std::byte> bytes(static_cast<std::size_t>(offset) + source.size() * sizeof(Index));
    if (!source.empty()) std::memcpy(bytes.data() + offset, source.data(), source.size() * sizeof(Index));
    memory_ = uploaded(bytes.data(), static_cast<std::int64_t>(bytes.size()));
  }

  CooIndices cpu() const { return by_columns_ ? cpu_.columns() : cpu_.indices(); }
  CooIndices device() const {
    const std::byte* first = memory_->data() + offset_;
    if (!by_columns_) return CooIndices::from_matrix(view(first, {cpu_.count, cpu_.rank})).value();
    std::vector<ConstView> views;
    for (int axis = 0; axis < cpu_.rank; ++axis) {
      views.push_back(view(first + axis * cpu_.count * static_cast<std::int64_t>(sizeof(Index)), {cpu_.count}));
    }
    return CooIndices::from_columns(views).value();
  }

 private:
  ConstView view(const std::byte* data, Ints shape) const {
    return ConstView::contiguous(data, dtype_of<Index>, shape, 0, Device::cuda(0)).value();
  }

  List<Index> cpu_;
  bool by_columns_;
  std::int64_t offset_;
  std::optional<Tensor> memory_;
};

RandomTensor values_of(std::mt19937& random, DType dtype, std::int64_t rows, Ints row_shape) {
  std::vector<std::int64_t> shape = {rows};
  shape.insert(shape.end(), row_shape.begin(), row_shape.end());
  RandomTensor made = (random() % 2 == 0 ? contiguous_tensor : random_tensor)(random, dtype, shape);
  remove_nans(made.memory);
  return made;
}

constexpr DType kTypes[] = {DType::Float32, DType::Int8,   DType::BFloat16,     DType::Float64,   DType::Complex128,
                            DType::Float16, DType::UInt32, DType::Float8E4M3FN, DType::Complex64, DType::Int4};
const std::vector<std::vector<std::int64_t>> kRowShapes = {{}, {}, {3}, {2, 5}, {16}, {0}};

// Writes into the caller's memory on both devices.
template <class Call>
void expect_same(const RandomTensor& out, const RandomTensor& grad, const Call& call) {
  RandomTensor expected = out;
  expected.view.data = expected.memory.data() + (out.view.data - out.memory.data());
  const Status on_cpu = call(grad.view, expected.view, false);
  const DeviceTwin device_out(out), device_grad(grad);
  const Status status = call(device_grad.view(), device_out.view(), true);
  ASSERT_EQ(status.code(), on_cpu.code()) << status.to_string() << " / " << on_cpu.to_string();
  ASSERT_EQ(status.message(), on_cpu.message());
  ASSERT_EQ(device_out.memory(), expected.memory);
}

using Case = SparseCase;

// Lists that are slices of a window, parts of one, or nearly unrelated.
Case random_case(std::mt19937& random, std::int64_t rows, int extent) {
  Case c = random_input(random, rows, static_cast<int>(random() % 5), extent);
  for (auto& s : c.size) s = static_cast<int>(random() % static_cast<unsigned>(extent + 1));
  c.output = window(c.input, c.start, c.size);
  if (random() % 2 == 0) {
    std::erase_if(c.output, [&](const Row&) { return random() % 3 == 0; });
  }
  if (random() % 8 == 0) std::shuffle(c.output.begin(), c.output.end(), random);
  if (random() % 8 == 0 && !c.output.empty() && c.rank > 0) c.output[random() % c.output.size()][0] += 1;
  return c;
}

template <class Index>
void expect_gradients(std::mt19937& random, const Case& c) {
  const DType dtype = kTypes[random() % std::size(kTypes)];
  const auto& row_shape = kRowShapes[random() % kRowShapes.size()];
  const std::int64_t offset = random() % 3 == 0 ? 3 : 0;
  const DeviceList<Index> input(c.input, c.rank, random() % 2 == 0, offset);
  const DeviceList<Index> output(c.output, c.rank, random() % 2 == 0, offset);
  const auto rows = static_cast<std::int64_t>(c.input.size()), taken = static_cast<std::int64_t>(c.output.size());
  const RandomTensor out = values_of(random, dtype, rows, row_shape);
  const RandomTensor grad = values_of(random, dtype, taken, row_shape);
  for (Write write : {Write::Overwrite, Write::IntoZeros, Write::Accumulate}) {
    for (MatchOrder order : {MatchOrder::InOrder, MatchOrder::Any}) {
      expect_same(out, grad, [&](const ConstView& dy, const View& dx, bool device) {
        return sparse_slice_grad_into(dy, device ? input.device() : input.cpu(), c.start,
                                      device ? output.device() : output.cpu(), dx, order, write);
      });
    }
    expect_same(out, grad, [&](const ConstView& dy, const View& dx, bool device) {
      return sparse_slice_grad_by_size_into(dy, device ? input.device() : input.cpu(), c.start, c.size, dx, write);
    });
  }
}

TEST(SparseCuda, GradientsAreThoseOfTheCpu) {
  std::mt19937 random(71);
  for (int i = 0; i < 300; ++i) {
    const Case c = random_case(random, random() % 60, 4);
    random() % 2 == 0 ? expect_gradients<std::int64_t>(random, c) : expect_gradients<std::int32_t>(random, c);
    if (HasFatalFailure()) return;
  }
}

TEST(SparseCuda, GradientsOfManyRowsAreThoseOfTheCpu) {
  std::mt19937 random(72);
  for (std::int64_t rows : {1023, 1024, 1025, 2047, 2048, 2049, 4096, 4097, 40'000, 300'000}) {
    for (int i = 0; i < 6; ++i) {
      const Case c = random_case(random, rows, rows < 5000 ? 12 : 40);
      random() % 2 == 0 ? expect_gradients<std::int64_t>(random, c) : expect_gradients<std::int32_t>(random, c);
      if (HasFatalFailure()) return;
    }
  }
}

// Enough rows for thousands of tiles: as a slice of a window, and with rows removed so that the list is walked.
TEST(SparseCudaLarge, TwentyMillionRowsOfOneColumnAreThoseOfTheCpu) {
  constexpr std::int64_t kRows = 20'000'000, kStart = 3;
  std::mt19937 random(77);
  std::vector<std::int32_t> input(kRows);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::int32_t>(i);
  const auto matrix = [](const std::vector<std::int32_t>& list) { return tensor_of(list, {std::ssize(list), 1}); };
  const auto list_of = [](const Tensor& rows) { return CooIndices::from_matrix(rows.view()).value(); };
  const Tensor in = matrix(input), device_in = to_device(in);
  for (bool is_window : {true, false}) {
    std::vector<std::int32_t> output;
    for (std::int32_t index : input) {
      if (is_window ? index >= kRows / 4 && index < kRows / 2 : random() % 2 == 0) {
        output.push_back(index - static_cast<std::int32_t>(kStart));
      }
    }
    const std::int64_t taken = std::ssize(output);
    const Tensor out = matrix(output), grad = tensor_of(counting<float>(taken), {taken});
    const Tensor device_out = to_device(out), device_grad = to_device(grad);
    const Tensor expected = sparse_slice_grad(grad.view(), list_of(in), {kStart}, list_of(out)).value();
    const auto made = sparse_slice_grad(device_grad.view(), list_of(device_in), {kStart}, list_of(device_out));
    ASSERT_TRUE(made.ok()) << made.status();
    ASSERT_TRUE(elements<float>(to_cpu(*made)) == elements<float>(expected)) << (is_window ? "in order" : "walked");
  }
}

// Neither sorted nor a window: guesses are wrong, and pieces are walked again.
TEST(SparseCuda, ListsWithoutOrderAreWalked) {
  std::mt19937 random(73);
  for (int extent : {3, 1000, 1'000'000}) {
    Case c;
    c.rank = 2;
    c.start = {0, 0};
    c.size = {extent, extent};
    c.input = random_rows(random, 50'000, 2, extent, false);
    for (const Row& row : c.input) {
      if (random() % 2 == 0) c.output.push_back(row);
    }
    expect_gradients<std::int64_t>(random, c);
    if (HasFatalFailure()) return;
  }
}

TEST(SparseCuda, ExtremeIndicesMatchOnlyWhatTheyAre) {
  std::mt19937 random(74);
  const std::int64_t extremes[] = {kMin, kMin + 1, -1, 0, 1, kMax - 1, kMax};
  const auto pick = [&] { return extremes[random() % std::size(extremes)]; };
  for (int i = 0; i < 200; ++i) {
    Case c;
    c.rank = 1 + static_cast<int>(random() % 3);
    const auto row = [&] {
      Row made(static_cast<std::size_t>(c.rank));
      for (auto& index : made) index = pick();
      return made;
    };
    for (std::size_t n = random() % 30; n > 0; --n) c.input.push_back(row());
    c.start = row();
    c.size = Row(static_cast<std::size_t>(c.rank), random() % 2 == 0 ? kMax : 3);
    for (const Row& in : c.input) {  // rows that have a row of the slice
      Row out;
      for (std::size_t axis = 0; axis < in.size(); ++axis) {
        std::int64_t index;
        if (!__builtin_sub_overflow(in[axis], c.start[axis], &index)) out.push_back(index);
      }
      if (out.size() == in.size() && random() % 2 == 0) c.output.push_back(out);
    }
    if (random() % 2 == 0) std::shuffle(c.output.begin(), c.output.end(), random);
    expect_gradients<std::int64_t>(random, c);
    if (HasFatalFailure()) return;
  }
}

TEST(SparseCuda, SlicesAreThoseOfTheCpu) {
  std::mt19937 random(75);
  for (int i = 0; i < 120; ++i) {
    const Case c = random_case(random, i % 20 == 0 ? 30'000 : random() % 70, 5);
    const Row shape(static_cast<std::size_t>(c.rank), 6);
    const DType dtype = kTypes[random() % std::size(kTypes)];
    const auto rows = static_cast<std::int64_t>(c.input.size());
    const RandomTensor values = values_of(random, dtype, rows, kRowShapes[random() % kRowShapes.size()]);
    const DeviceTwin device_values(values);
    const DeviceList<std::int32_t> list(c.input, c.rank, random() % 2 == 0, 0);
    const SparseTensor expected = sparse_slice(list.cpu(), values.view, shape, c.start, c.size).value();
    const auto got = sparse_slice(list.device(), device_values.view(), shape, c.start, c.size);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    EXPECT_EQ(got->shape, expected.shape);
    ASSERT_EQ(got->indices.view().layout, expected.indices.view().layout);
    const Tensor indices = to_device(slice(Selection::all(expected.indices.shape()), expected.indices.view()).value());
    const Tensor got_indices = slice(Selection::all(indices.shape()), got->indices.view()).value();
    const Tensor wanted = to_device(expected.values);
    EXPECT_EQ(downloaded(got_indices.view()), downloaded(indices.view()));
    EXPECT_EQ(downloaded(got->values.view()), downloaded(wanted.view()));
    const std::int64_t count = sparse_slice_count(list.device(), c.start, c.size).value();
    ASSERT_EQ(count, expected.values.shape()[0]);
    // Writes into the caller's memory. One row too many is refused, and nothing is written.
    for (std::int64_t more : {0, 1}) {
      if (count + more > rows) continue;
      std::vector<std::int64_t> out_shape(expected.values.shape().begin(), expected.values.shape().end());
      out_shape[0] = count + more;
      RandomTensor out = random_tensor(random, dtype, out_shape);
      RandomTensor out_indices = random_tensor(random, DType::Int32, {count + more, c.rank});
      const DeviceTwin device_out(out), device_indices(out_indices);
      const auto filled = sparse_slice_into(list.device(), device_values.view(), shape, c.start, c.size,
                                            device_indices.view(), device_out.view());
      ASSERT_EQ(filled.ok(), more == 0) << filled.status().to_string();
      if (more == 0) {
        ASSERT_TRUE(
            sparse_slice_into(list.cpu(), values.view, shape, c.start, c.size, out_indices.view, out.view).ok());
      }
      ASSERT_EQ(device_out.memory(), out.memory);
      ASSERT_EQ(device_indices.memory(), out_indices.memory);
    }
  }
}

TEST(SparseCuda, AStatusOfTheCallersIsFilledWithoutWaiting) {
  const Rows input = {{0}, {1}, {2}, {3}};
  for (bool fits : {true, false}) {
    const DeviceList<std::int64_t> in(input, 1, false, 0), out(Rows{{1}, {fits ? 3 : 9}}, 1, false, 0);
    const Tensor grad = to_device(tensor_of<float>({5, 6}, {2})), dx = to_device(tensor_of<float>({1, 1, 1, 1}, {4}));
    const Tensor status = Tensor::make(DType::Int64, {3}, 0, Contents::Uninitialised, device_memory()).value();
    Context context = on_device();
    context.device_status = reinterpret_cast<DeviceStatus*>(const_cast<std::byte*>(status.data()));
    Tensor to = dx;
    ASSERT_TRUE(sparse_slice_grad_into(grad.view(), in.device(), {0}, out.device(), to.view(), MatchOrder::InOrder,
                                       Write::Overwrite, context)
                    .ok());
    EXPECT_THAT(elements<std::int64_t>(to_cpu(status)), ElementsAre(fits ? 0 : 1, fits ? 2 : 1, 2));
    EXPECT_THAT(elements<float>(to_cpu(dx)), fits ? ElementsAre(0, 5, 0, 6) : ElementsAre(1, 1, 1, 1));
    DeviceStatus copied;
    std::memcpy(&copied, downloaded(status.view()).data(), sizeof(copied));
    EXPECT_EQ(to_status(copied).ok(), fits);
  }
}

struct Stream {
  Stream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess); }
  ~Stream() { cudaStreamDestroy(stream); }
  cudaStream_t stream = nullptr;
};

// Any values may result, but the memory around the output is not written, and no kernel accesses memory out of bounds.
TEST(SparseCuda, ChangingIndicesTouchNothingElse) {
  std::mt19937 random(76);
  constexpr std::int64_t kRows = 60'000;
  const Rows input = random_rows(random, kRows, 2, 60, true), other = random_rows(random, kRows, 2, 1'000'000, false);
  const Rows output = window(input, {0, 0}, {30, 60});
  const auto taken = static_cast<std::int64_t>(output.size());
  const DeviceList<std::int64_t> in(input, 2, false, 0), out(output, 2, false, 0), changed(other, 2, false, 0);
  const Stream other_stream;
  const auto change = [&](const CooIndices& list) {
    cudaMemcpyAsync(const_cast<std::byte*>(list.column(0).data), changed.device().column(0).data,
                    static_cast<std::size_t>(list.rows()) * 16, cudaMemcpyDeviceToDevice, other_stream.stream);
  };
  const RandomTensor grad = contiguous_tensor(random, DType::Float32, {taken});
  const DeviceTwin device_grad(grad);
  for (int i = 0; i < 40; ++i) {
    RandomTensor dx = contiguous_tensor(random, DType::Float32, {kRows});
    const DeviceTwin device_dx(dx);
    change(i % 4 < 2 ? in.device() : out.device());
    const auto order = i % 2 == 0 ? MatchOrder::InOrder : MatchOrder::Any;
    (void)sparse_slice_grad_into(device_grad.view(), in.device(), {0, 0}, out.device(), device_dx.view(), order);
    const auto after = device_dx.memory();
    const auto first = dx.view.data - dx.memory.data(), last = first + kRows * 4;
    ASSERT_TRUE(std::equal(after.begin(), after.begin() + first, dx.memory.begin()));
    ASSERT_TRUE(std::equal(after.begin() + last, after.end(), dx.memory.begin() + last));
    ASSERT_TRUE(cuda_synchronize(0, other_stream.stream).ok());
  }
}

TEST(SparseCuda, CapturedCallsRunAgain) {
  const Stream stream;
  const DeviceList<std::int64_t> in(Rows{{0}, {1}, {2}}, 1, false, 0), out(Rows{{0}, {2}}, 1, false, 0);
  Tensor grad = to_device(tensor_of<float>({1, 2}, {2})), dx = to_device(tensor_of<float>({9, 9, 9}, {3}));
  const Tensor status = Tensor::make(DType::Int64, {3}, 0, Contents::Zero, device_memory()).value();
  ASSERT_TRUE(cuda_synchronize(0).ok());
  Context context{.stream = stream.stream};
  context.device_status = reinterpret_cast<DeviceStatus*>(const_cast<std::byte*>(status.data()));
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  ASSERT_EQ(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  const Status queued = sparse_slice_grad_into(grad.view(), in.device(), {0}, out.device(), dx.view(),
                                               MatchOrder::InOrder, Write::Overwrite, context);
  ASSERT_EQ(cudaStreamEndCapture(stream.stream, &graph), cudaSuccess);
  ASSERT_TRUE(queued.ok()) << queued.to_string();
  ASSERT_EQ(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess);
  for (float first : {5.0f, 7.0f}) {
    ASSERT_TRUE(cuda_copy(grad.view(), tensor_of<float>({first, 2}, {2})).ok());
    ASSERT_TRUE(cuda_synchronize(0).ok());
    ASSERT_EQ(cudaGraphLaunch(ready, stream.stream), cudaSuccess);
    ASSERT_TRUE(cuda_synchronize(0, stream.stream).ok());
    EXPECT_THAT(elements<float>(to_cpu(dx)), ElementsAre(first, 0, 2));
  }
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

TEST(SparseCuda, CapturesGoOnWhenACallThatWaitsIsRefused) {
  const Stream stream;
  const DeviceList<std::int64_t> in(Rows{{0}, {1}, {2}}, 1, false, 0), out(Rows{{0}, {2}}, 1, false, 0);
  const Tensor grad = to_device(tensor_of<float>({1, 2}, {2}));
  Tensor dx = to_device(tensor_of<float>({9, 9, 9}, {3}));
  const Selection s = Selection::from_index({3}, "::2").value();
  ASSERT_TRUE(cuda_synchronize(0).ok());
  const Context context{.stream = stream.stream};
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamBeginCapture(stream.stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  const Status refused[] = {
      sparse_slice_grad(grad.view(), in.device(), {0}, out.device(), MatchOrder::InOrder, context).status(),
      sparse_slice_grad(grad.view(), in.device(), {0}, out.device(), MatchOrder::Any, context).status(),
      sparse_slice_count(in.device(), {0}, {2}, context).status(), cuda_synchronize(0, stream.stream)};
  const Status queued = slice_grad_into(s, grad.view(), dx.view(), Write::Overwrite, context);
  ASSERT_EQ(cudaStreamEndCapture(stream.stream, &graph), cudaSuccess);
  for (const Status& status : refused) {
    EXPECT_TRUE(is_error(status, StatusCode::FailedPrecondition, "the stream is being captured"));
  }
  ASSERT_TRUE(queued.ok()) << queued;
  std::size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
  cudaGraphDestroy(graph);
}

TEST(SparseCuda, ErrorsThatOthersLeftBehindAreNotTheirs) {
  const DeviceList<std::int64_t> in(Rows{{0}, {1}, {2}}, 1, false, 0), out(Rows{{0}, {2}}, 1, false, 0);
  const Tensor grad = to_device(tensor_of<float>({1, 2}, {2}));
  EXPECT_NE(cudaSetDevice(99), cudaSuccess);  // the thread remembers this error
  const auto dx = sparse_slice_grad(grad.view(), in.device(), {0}, out.device());
  EXPECT_TRUE(dx.ok()) << dx.status().to_string();
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(SparseCuda, ADeviceStatusThatIsNotAlignedIsRefused) {
  const DeviceList<std::int64_t> in(Rows{{0}, {1}}, 1, false, 0);
  const Tensor grad = to_device(tensor_of<float>({1, 2}, {2}));
  Tensor dx = to_device(tensor_of<float>({9, 9}, {2})),
         status = to_device(tensor_of<float>({0, 0, 0, 0, 0, 0, 0}, {7}));
  Context context;
  context.device_status = reinterpret_cast<DeviceStatus*>(status.view().data + 4);
  EXPECT_TRUE(is_error(sparse_slice_grad_into(grad.view(), in.device(), {0}, in.device(), dx.view(),
                                              MatchOrder::InOrder, Write::Overwrite, context),
                       StatusCode::InvalidArgument, "device_status is not aligned"));
}

TEST(SparseCuda, ArgumentsOnDifferentDevicesAreRefused) {
  const DeviceList<std::int64_t> in(Rows{{0}, {1}}, 1, false, 0);
  const std::vector<float> grad = {1, 2};
  const auto mixed = sparse_slice_grad(view_of(grad, {2}), in.device(), {0}, in.device());
  EXPECT_TRUE(is_error(mixed, StatusCode::InvalidArgument, "input_indices is on cuda:0", "the CPU"));
  const Tensor values = to_device(tensor_of(grad, {2}));
  EXPECT_TRUE(is_error(sparse_slice(in.cpu(), values.view(), {2}, {0}, {1}), StatusCode::InvalidArgument, "indices"));
  const View wrong = View::contiguous(const_cast<float*>(grad.data()), DType::Float32, {2}, 0, Device::cuda(0)).value();
  EXPECT_TRUE(is_error(sparse_slice_grad(wrong, in.device(), {0}, in.device()), StatusCode::InvalidArgument,
                       "backprop_val_grad"));
}

}  // namespace
}  // namespace backslice
