// The part of ONNX Runtime's C interface for custom operators that this adapter uses, in declarations of our own: no
// header of ONNX Runtime is needed to build, and one binary serves every version from 1.17 on.
//
// The interface is a table of functions. A released function keeps its place.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct OrtApi;
struct OrtStatus;
struct OrtValue;
struct OrtTypeInfo;
struct OrtTensorTypeAndShapeInfo;
struct OrtKernelInfo;
struct OrtKernelContext;
struct OrtShapeInferContext;
struct OrtCustomOpDomain;
struct OrtSessionOptions;

struct OrtApiBase {
  const OrtApi* (*get_api)(std::uint32_t version);
  const char* (*get_version_string)();
};

// An operator: its schema and its kernel. ONNX Runtime reads the functions that exist in the lower of its own version
// and `version`.
struct OrtCustomOp {
  std::uint32_t version;
  void* (*create_kernel)(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*);  // create_kernel_v2 replaces it
  const char* (*get_name)(const OrtCustomOp*);
  const char* (*get_execution_provider_type)(const OrtCustomOp*);
  int (*get_input_type)(const OrtCustomOp*, std::size_t index);
  std::size_t (*get_input_type_count)(const OrtCustomOp*);
  int (*get_output_type)(const OrtCustomOp*, std::size_t index);
  std::size_t (*get_output_type_count)(const OrtCustomOp*);
  void (*kernel_compute)(void* kernel, OrtKernelContext*);  // kernel_compute_v2 replaces it
  void (*kernel_destroy)(void* kernel);
  int (*get_input_characteristic)(const OrtCustomOp*, std::size_t index);
  int (*get_output_characteristic)(const OrtCustomOp*, std::size_t index);
  int (*get_input_memory_type)(const OrtCustomOp*, std::size_t index);
  int (*get_variadic_input_min_arity)(const OrtCustomOp*);
  int (*get_variadic_input_homogeneity)(const OrtCustomOp*);
  int (*get_variadic_output_min_arity)(const OrtCustomOp*);
  int (*get_variadic_output_homogeneity)(const OrtCustomOp*);
  OrtStatus* (*create_kernel_v2)(const OrtCustomOp*, const OrtApi*, const OrtKernelInfo*, void** kernel);
  OrtStatus* (*kernel_compute_v2)(void* kernel, OrtKernelContext*);
  OrtStatus* (*infer_output_shape)(const OrtCustomOp*, OrtShapeInferContext*);
  int (*get_start_version)(const OrtCustomOp*);
  int (*get_end_version)(const OrtCustomOp*);
};
}

namespace backslice::onnxruntime {

/// The version of the interface that we need: ONNX Runtime 1.17's. Later versions include it.
inline constexpr std::uint32_t kApi = 17;

/// The latest version with an addition that we use.
inline constexpr std::uint32_t kLatestApi = 24;

/// A function of ONNX Runtime: its place in the table, its type, and the version that added it.
template <class Function>
struct Slot {
  std::size_t place;
  std::uint32_t since = kApi;
};

namespace slots {

// Most return null, or an error.
inline constexpr Slot<OrtStatus*(int code, const char* message)> kCreateStatus{0};
inline constexpr Slot<const char*(const OrtStatus*)> kGetErrorMessage{2};
inline constexpr Slot<OrtStatus*(const char* name, OrtCustomOpDomain**)> kCreateCustomOpDomain{26};
inline constexpr Slot<OrtStatus*(OrtCustomOpDomain*, const OrtCustomOp*)> kCustomOpDomainAdd{27};
inline constexpr Slot<OrtStatus*(OrtSessionOptions*, OrtCustomOpDomain*)> kAddCustomOpDomain{28};
inline constexpr Slot<OrtStatus*(const OrtValue*, int*)> kIsTensor{50};
inline constexpr Slot<OrtStatus*(const OrtValue*, void**)> kGetTensorMutableData{51};
inline constexpr Slot<OrtStatus*(const OrtValue*, std::size_t*)> kGetStringTensorDataLength{53};
inline constexpr Slot<OrtStatus*(const OrtValue*, void* text, std::size_t, std::size_t* offsets, std::size_t)>
    kGetStringTensorContent{54};
inline constexpr Slot<OrtStatus*(const OrtTypeInfo*, const OrtTensorTypeAndShapeInfo**)> kCastTypeInfo{55};
inline constexpr Slot<OrtStatus*(const OrtTensorTypeAndShapeInfo*, int*)> kGetTensorElementType{60};
inline constexpr Slot<OrtStatus*(const OrtTensorTypeAndShapeInfo*, std::size_t*)> kGetDimensionsCount{61};
inline constexpr Slot<OrtStatus*(const OrtTensorTypeAndShapeInfo*, std::int64_t*, std::size_t)> kGetDimensions{62};
inline constexpr Slot<OrtStatus*(const OrtTensorTypeAndShapeInfo*, std::size_t*)> kGetElementCount{64};
inline constexpr Slot<OrtStatus*(const OrtValue*, OrtTensorTypeAndShapeInfo**)> kGetTensorTypeAndShape{65};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, const char*, float*)> kGetFloatAttribute{85};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, const char*, std::int64_t*)> kGetIntegerAttribute{86};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, const char*, char*, std::size_t*)> kGetStringAttribute{87};
inline constexpr Slot<OrtStatus*(const OrtKernelContext*, std::size_t*)> kGetInputCount{88};
inline constexpr Slot<OrtStatus*(const OrtKernelContext*, std::size_t, const OrtValue**)> kGetInput{90};
inline constexpr Slot<OrtStatus*(OrtKernelContext*, std::size_t, const std::int64_t*, std::size_t, OrtValue**)>
    kGetOutput{91};
inline constexpr Slot<void(OrtStatus*)> kReleaseStatus{93};
inline constexpr Slot<void(OrtTypeInfo*)> kReleaseTypeInfo{98};
inline constexpr Slot<void(OrtTensorTypeAndShapeInfo*)> kReleaseTensorTypeAndShapeInfo{99};
inline constexpr Slot<OrtStatus*(OrtSessionOptions*, const char* key, const char* value)> kAddSessionConfigEntry{130};
inline constexpr Slot<OrtStatus*(OrtValue*, const std::int64_t* place, std::size_t rank, void**)> kTensorAt{143};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, const char*, float*, std::size_t*)> kGetFloatsAttribute{162};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, const char*, std::int64_t*, std::size_t*)> kGetIntegersAttribute{
    163};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, std::size_t*)> kGetNodeInputCount{230};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, std::size_t, OrtTypeInfo**)> kGetNodeInputType{234};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, std::size_t, OrtTypeInfo**)> kGetNodeOutputType{235};
inline constexpr Slot<OrtStatus*(const OrtSessionOptions*, const char* key, int* exists)> kHasSessionConfigEntry{237};
inline constexpr Slot<OrtStatus*(const OrtSessionOptions*, const char* key, char* value, std::size_t* size)>
    kGetSessionConfigEntry{238};
inline constexpr Slot<OrtStatus*(const OrtKernelInfo*, std::size_t, int* is_constant, const OrtValue**)>
    kGetConstantInput{249};
inline constexpr Slot<OrtStatus*(OrtValue*, std::size_t index, std::size_t size, char**)> kResizeStringElement{252};
inline constexpr Slot<OrtStatus*(const OrtKernelContext*, void (*)(void*, std::size_t), std::size_t count,
                                 std::size_t batches, void* argument)>
    kParallelFor{274};
inline constexpr Slot<OrtStatus*(const OrtValue*, int* type, const std::int64_t** dims, std::size_t* rank)>
    kGetTypeAndShape{414, 24};

}  // namespace slots

// ONNX Runtime's numbers.
enum ErrorCode { kFail = 1, kInvalidArgument = 2, kNotImplemented = 9 };
enum Characteristic { kRequired = 0, kOptional = 1, kVariadic = 2 };

}  // namespace backslice::onnxruntime
