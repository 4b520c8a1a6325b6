// Another library that replaces a kernel of TensorFlow: StridedSliceGrad of 32-bit integers, with a priority of the
// caller's choice. Its results are full of sevens.
#include <stddef.h>
#include <stdint.h>

typedef struct TF_KernelBuilder TF_KernelBuilder;
typedef struct TF_OpKernelConstruction TF_OpKernelConstruction;
typedef struct TF_OpKernelContext TF_OpKernelContext;
typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;

TF_KernelBuilder* TF_NewKernelBuilder(const char* op, const char* device, void* (*create)(TF_OpKernelConstruction*),
                                      void (*compute)(void*, TF_OpKernelContext*), void (*destroy)(void*));
void TF_KernelBuilder_Priority(TF_KernelBuilder*, int32_t);
void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder*, const char* attribute, int type, TF_Status*);
void TF_RegisterKernelBuilder(const char* name, TF_KernelBuilder*, TF_Status*);
TF_Status* TF_NewStatus(void);
void TF_DeleteStatus(TF_Status*);
void TF_GetInput(TF_OpKernelContext*, int, TF_Tensor**, TF_Status*);
void TF_DeleteTensor(TF_Tensor*);
int64_t TF_Dim(const TF_Tensor*, int);
void* TF_TensorData(const TF_Tensor*);
TF_Tensor* TF_AllocateOutput(TF_OpKernelContext*, int, int, const int64_t*, int, size_t, TF_Status*);

enum { kInt32 = 3 };

static void fill_with_sevens(void* kernel, TF_OpKernelContext* context) {
  (void)kernel;
  TF_Status* status = TF_NewStatus();
  TF_Tensor* shape = NULL;
  TF_GetInput(context, 0, &shape, status);
  int64_t dims[8] = {0}, elements = 1;
  const int rank = (int)TF_Dim(shape, 0);
  for (int i = 0; i < rank; ++i) {
    dims[i] = ((const int32_t*)TF_TensorData(shape))[i];
    elements *= dims[i];
  }
  const size_t bytes = (size_t)elements * sizeof(int32_t);
  TF_Tensor* dx = TF_AllocateOutput(context, 0, kInt32, dims, rank, bytes, status);
  for (int64_t i = 0; i < elements; ++i) ((int32_t*)TF_TensorData(dx))[i] = 7;
  TF_DeleteTensor(dx);
  TF_DeleteTensor(shape);
  TF_DeleteStatus(status);
}

void register_kernel(int32_t priority) {
  TF_Status* status = TF_NewStatus();
  TF_KernelBuilder* builder = TF_NewKernelBuilder("StridedSliceGrad", "CPU", NULL, fill_with_sevens, NULL);
  TF_KernelBuilder_Priority(builder, priority);
  TF_KernelBuilder_TypeConstraint(builder, "T", kInt32, status);
  TF_RegisterKernelBuilder("Foreign", builder, status);
  TF_DeleteStatus(status);
}
