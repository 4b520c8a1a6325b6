// Functions for the whole library: versions, names of codes and element types, threads, the memory pool.
#include "backslice/buffer_pool.h"
#include "backslice/version.h"
#include "capi/arguments.h"

using namespace backslice;
using namespace backslice::capi;

namespace {

constexpr bool same(int number, DType dtype) { return number == static_cast<int>(dtype); }
constexpr bool same(int number, StatusCode code) { return number == static_cast<int>(code); }

static_assert(same(BACKSLICE_OK, StatusCode::Ok));
static_assert(same(BACKSLICE_CANCELLED, StatusCode::Cancelled));
static_assert(same(BACKSLICE_INVALID_ARGUMENT, StatusCode::InvalidArgument));
static_assert(same(BACKSLICE_RESOURCE_EXHAUSTED, StatusCode::ResourceExhausted));
static_assert(same(BACKSLICE_FAILED_PRECONDITION, StatusCode::FailedPrecondition));
static_assert(same(BACKSLICE_OUT_OF_RANGE, StatusCode::OutOfRange));
static_assert(same(BACKSLICE_UNIMPLEMENTED, StatusCode::Unimplemented));
static_assert(same(BACKSLICE_INTERNAL, StatusCode::Internal));

static_assert(same(BACKSLICE_BOOL, DType::Bool));
static_assert(same(BACKSLICE_INT1, DType::Int1));
static_assert(same(BACKSLICE_INT2, DType::Int2));
static_assert(same(BACKSLICE_INT4, DType::Int4));
static_assert(same(BACKSLICE_INT8, DType::Int8));
static_assert(same(BACKSLICE_INT16, DType::Int16));
static_assert(same(BACKSLICE_INT32, DType::Int32));
static_assert(same(BACKSLICE_INT64, DType::Int64));
static_assert(same(BACKSLICE_UINT1, DType::UInt1));
static_assert(same(BACKSLICE_UINT2, DType::UInt2));
static_assert(same(BACKSLICE_UINT4, DType::UInt4));
static_assert(same(BACKSLICE_UINT8, DType::UInt8));
static_assert(same(BACKSLICE_UINT16, DType::UInt16));
static_assert(same(BACKSLICE_UINT32, DType::UInt32));
static_assert(same(BACKSLICE_UINT64, DType::UInt64));
static_assert(same(BACKSLICE_FLOAT16, DType::Float16));
static_assert(same(BACKSLICE_BFLOAT16, DType::BFloat16));
static_assert(same(BACKSLICE_FLOAT32, DType::Float32));
static_assert(same(BACKSLICE_FLOAT64, DType::Float64));
static_assert(same(BACKSLICE_FLOAT8_E3M4, DType::Float8E3M4));
static_assert(same(BACKSLICE_FLOAT8_E4M3, DType::Float8E4M3));
static_assert(same(BACKSLICE_FLOAT8_E4M3B11FNUZ, DType::Float8E4M3B11FNUZ));
static_assert(same(BACKSLICE_FLOAT8_E4M3FN, DType::Float8E4M3FN));
static_assert(same(BACKSLICE_FLOAT8_E4M3FNUZ, DType::Float8E4M3FNUZ));
static_assert(same(BACKSLICE_FLOAT8_E5M2, DType::Float8E5M2));
static_assert(same(BACKSLICE_FLOAT8_E5M2FNUZ, DType::Float8E5M2FNUZ));
static_assert(same(BACKSLICE_FLOAT8_E8M0FNU, DType::Float8E8M0FNU));
static_assert(same(BACKSLICE_FLOAT6_E2M3FN, DType::Float6E2M3FN));
static_assert(same(BACKSLICE_FLOAT6_E3M2FN, DType::Float6E3M2FN));
static_assert(same(BACKSLICE_FLOAT4_E2M1FN, DType::Float4E2M1FN));
static_assert(same(BACKSLICE_COMPLEX64, DType::Complex64));
static_assert(same(BACKSLICE_COMPLEX128, DType::Complex128));
static_assert(same(BACKSLICE_QINT8, DType::QInt8));
static_assert(same(BACKSLICE_QUINT8, DType::QUInt8));
static_assert(same(BACKSLICE_QINT16, DType::QInt16));
static_assert(same(BACKSLICE_QUINT16, DType::QUInt16));
static_assert(same(BACKSLICE_QINT32, DType::QInt32));
static_assert(same(BACKSLICE_BYTES, DType::Bytes));
static_assert(same(BACKSLICE_STRING, DType::StringView));
static_assert(sizeof(backslice_string) == 16);
static_assert(BACKSLICE_MAX_RANK == kMaxRank);

// Returns the element type of that number, if C has it.
std::optional<DType> find_dtype(std::int32_t number) {
  if (number < 0 || number >= std::ssize(all_dtypes()) || same(number, DType::String)) return std::nullopt;
  return static_cast<DType>(number);
}

}  // namespace

const char* backslice_version(void) { return BACKSLICE_VERSION; }

int32_t backslice_abi_version(void) { return BACKSLICE_ABI_VERSION; }

// The names are literals, so a zero byte follows them.
const char* backslice_code_name(int32_t code) {
  return to_string(static_cast<StatusCode>(code < 0 || code > 255 ? 255 : code)).data();
}

const char* backslice_dtype_name(int32_t dtype) {
  const auto found = find_dtype(dtype);
  return found ? name(*found).data() : nullptr;
}

int32_t backslice_dtype_from_name(const char* name) {
  const auto found = name == nullptr ? std::nullopt : dtype_from_name(name);
  return found && *found != DType::String ? static_cast<int32_t>(*found) : -1;
}

int64_t backslice_dtype_item_size(int32_t dtype) {
  const auto found = find_dtype(dtype);
  return found ? item_size(*found) : -1;
}

int32_t backslice_set_num_threads(int32_t threads) {
  return guarded([&] { return set_num_threads(threads); });
}

int32_t backslice_num_threads(void) { return num_threads(); }

int32_t backslice_set_pool_limit(int64_t bytes) {
  return guarded([&] { return set_pool_limit(bytes); });
}

int32_t backslice_trim_pool(void) {
  return guarded([] {
    trim_pool();
    return Status();
  });
}
