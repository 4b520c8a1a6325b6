// TensorFlow's C interface for kernels and ops, as far as this adapter uses it, in declarations of our own: TensorFlow
// is not needed to build, and one binary serves every version that has these functions.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct TF_Buffer;
struct TF_KernelBuilder;
struct TF_OpDefinitionBuilder;
struct TF_OpKernelConstruction;
struct TF_OpKernelContext;
struct TF_ShapeInferenceContext;
struct TF_Status;
struct TF_Tensor;

// Codes are gRPC's, as in backslice::StatusCode.
TF_Status* TF_NewStatus();
void TF_DeleteStatus(TF_Status*);
void TF_SetStatus(TF_Status*, int code, const char* message);
int TF_GetCode(const TF_Status*);
const char* TF_Message(const TF_Status*);

// Data types are numbers; data_types.h names them.
TF_Tensor* TF_NewTensor(int data_type, const std::int64_t* dims, int rank, void* data, std::size_t bytes,
                        void (*deallocate)(void* data, std::size_t bytes, void* user), void* user);
void TF_DeleteTensor(TF_Tensor*);
int TF_TensorType(const TF_Tensor*);
int TF_NumDims(const TF_Tensor*);
std::int64_t TF_Dim(const TF_Tensor*, int axis);
void* TF_TensorData(const TF_Tensor*);

TF_KernelBuilder* TF_NewKernelBuilder(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*),
                                      void (*compute)(void* kernel, TF_OpKernelContext*),
                                      void (*destroy)(void* kernel));
// Takes the builder. The KernelDef ends at its first zero byte.
void TF_RegisterKernelBuilderWithKernelDef(const char* serialized_kernel_def, const char* name, TF_KernelBuilder*,
                                           TF_Status*);

void TF_OpKernelConstruction_Failure(TF_OpKernelConstruction*, TF_Status*);
bool TF_OpKernelConstruction_HasAttr(TF_OpKernelConstruction*, const char* attr, TF_Status*);
void TF_OpKernelConstruction_GetAttrInt32(TF_OpKernelConstruction*, const char* attr, std::int32_t* value, TF_Status*);
void TF_OpKernelConstruction_GetAttrSize(TF_OpKernelConstruction*, const char* attr, std::int32_t* list_size,
                                         std::int32_t* total_size, TF_Status*);
void TF_OpKernelConstruction_GetAttrInt32List(TF_OpKernelConstruction*, const char* attr, std::int32_t* values,
                                              int max_values, TF_Status*);

void TF_OpKernelContext_Failure(TF_OpKernelContext*, TF_Status*);
int TF_NumInputs(TF_OpKernelContext*);
void TF_GetInput(TF_OpKernelContext*, int index, TF_Tensor**, TF_Status*);
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext*, int index, int data_type, const std::int64_t* dims, int rank,
                             std::size_t bytes, TF_Status*);
void TF_SetOutput(TF_OpKernelContext*, int index, const TF_Tensor*, TF_Status*);

TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* op);
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder*, const char* spec);
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder*, const char* spec);
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder*, const char* spec);
void TF_OpDefinitionBuilderSetShapeInferenceFunction(TF_OpDefinitionBuilder*,
                                                     void (*infer)(TF_ShapeInferenceContext*, TF_Status*));
void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext*, TF_Status*);
// Takes the builder.
void TF_RegisterOpDefinition(TF_OpDefinitionBuilder*, TF_Status*);
}
