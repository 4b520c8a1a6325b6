// Stands in for libtensorflow_framework.so.2 while the adapter is linked, so that the loader looks there for the
// functions of c_api.h. It is never installed and never run.
extern "C" {
void TF_NewStatus() {}
void TF_DeleteStatus() {}
void TF_SetStatus() {}
void TF_GetCode() {}
void TF_Message() {}
void TF_NewTensor() {}
void TF_DeleteTensor() {}
void TF_TensorType() {}
void TF_NumDims() {}
void TF_Dim() {}
void TF_TensorData() {}
void TF_NewKernelBuilder() {}
void TF_RegisterKernelBuilderWithKernelDef() {}
void TF_OpKernelConstruction_Failure() {}
void TF_OpKernelConstruction_GetAttrInt32() {}
void TF_OpKernelConstruction_GetAttrSize() {}
void TF_OpKernelConstruction_GetAttrInt32List() {}
void TF_OpKernelContext_Failure() {}
void TF_NumInputs() {}
void TF_GetInput() {}
void TF_AllocateOutput() {}
void TF_SetOutput() {}
void TF_NewOpDefinitionBuilder() {}
void TF_OpDefinitionBuilderAddAttr() {}
void TF_OpDefinitionBuilderAddInput() {}
void TF_OpDefinitionBuilderAddOutput() {}
void TF_OpDefinitionBuilderSetShapeInferenceFunction() {}
void TF_ShapeInferenceContextSetUnknownShape() {}
void TF_RegisterOpDefinition() {}
}
