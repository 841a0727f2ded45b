/* The functions of LLVM's C interface that Weft uses, declared here so that no header of LLVM is
 * needed. */
#ifndef WEFT_CODEGEN_LLVM_LIBRARY_H
#define WEFT_CODEGEN_LLVM_LIBRARY_H

#include "codegen/llvm.h"

typedef struct weft__llvm_value *weft__ref;
typedef struct weft__llvm_type *weft__type;
typedef struct weft__llvm_block *weft__block;
typedef struct weft__llvm_context *weft__llvm_context;
typedef struct weft__llvm_module *weft__llvm_module;
typedef struct weft__llvm_builder *weft__llvm_builder;
typedef struct weft__llvm_machine *weft__llvm_machine;
typedef struct weft__llvm_buffer *weft__llvm_buffer;
typedef struct weft__llvm_attribute *weft__llvm_attribute;
typedef struct weft__llvm_metadata *weft__llvm_metadata;
typedef struct weft__llvm_layout *weft__llvm_layout;
typedef struct weft__llvm_target *weft__llvm_target;
typedef struct weft__llvm_diagnostic *weft__llvm_diagnostic;
typedef void weft__llvm_listener(weft__llvm_diagnostic, void *);
typedef void weft__llvm_fatal(const char *reason);

/* How they are numbered in LLVM's headers. */
enum {
    WEFT__ICMP_EQ = 32,
    WEFT__ICMP_NE = 33,
    WEFT__ICMP_UGT = 34,
    WEFT__ICMP_ULT = 36,
    WEFT__ICMP_ULE = 37,
    WEFT__ICMP_SGT = 38,
    WEFT__ICMP_SLT = 40,
    WEFT__ICMP_SLE = 41,
    WEFT__FCMP_OEQ = 1,
    WEFT__FCMP_OGT = 2,
    WEFT__FCMP_OGE = 3,
    WEFT__FCMP_OLT = 4,
    WEFT__FCMP_OLE = 5,
    WEFT__FCMP_ORD = 7,
    WEFT__FCMP_UNO = 8,
    WEFT__FCMP_UGT = 10,
    WEFT__FCMP_ULT = 12,
    WEFT__FCMP_UNE = 14,
    WEFT__TYPE_INTEGER = 8,
    WEFT__TYPE_VECTOR = 13,
    WEFT__FILE_ASSEMBLY = 0,
    WEFT__FILE_OBJECT = 1,
    WEFT__RELOCATION_PIC = 2,
    WEFT__CODE_MODEL_SMALL = 3,
    WEFT__ATTRIBUTE_FUNCTION = -1,
    WEFT__SEVERITY_ERROR = 0
};

typedef weft__ref weft__llvm_binary(weft__llvm_builder, weft__ref, weft__ref, const char *);
typedef weft__ref weft__llvm_unary(weft__llvm_builder, weft__ref, const char *);
typedef weft__ref weft__llvm_cast(weft__llvm_builder, weft__ref, weft__type, const char *);

/* name without "LLVM", type of the function */
#define WEFT__LLVM_SHORT_LIST(X)                                                                   \
    X(BuildAdd, weft__llvm_binary)                                                                 \
    X(BuildSub, weft__llvm_binary)                                                                 \
    X(BuildMul, weft__llvm_binary)                                                                 \
    X(BuildUDiv, weft__llvm_binary)                                                                \
    X(BuildSDiv, weft__llvm_binary)                                                                \
    X(BuildURem, weft__llvm_binary)                                                                \
    X(BuildSRem, weft__llvm_binary)                                                                \
    X(BuildAnd, weft__llvm_binary)                                                                 \
    X(BuildOr, weft__llvm_binary)                                                                  \
    X(BuildXor, weft__llvm_binary)                                                                 \
    X(BuildShl, weft__llvm_binary)                                                                 \
    X(BuildLShr, weft__llvm_binary)                                                                \
    X(BuildAShr, weft__llvm_binary)                                                                \
    X(BuildFAdd, weft__llvm_binary)                                                                \
    X(BuildFSub, weft__llvm_binary)                                                                \
    X(BuildFMul, weft__llvm_binary)                                                                \
    X(BuildFDiv, weft__llvm_binary)                                                                \
    X(BuildExtractElement, weft__llvm_binary)                                                      \
    X(BuildFNeg, weft__llvm_unary)                                                                 \
    X(BuildFreeze, weft__llvm_unary)                                                               \
    X(BuildTrunc, weft__llvm_cast)                                                                 \
    X(BuildSExt, weft__llvm_cast)                                                                  \
    X(BuildZExt, weft__llvm_cast)                                                                  \
    X(BuildFPToSI, weft__llvm_cast)                                                                \
    X(BuildFPToUI, weft__llvm_cast)                                                                \
    X(BuildSIToFP, weft__llvm_cast)                                                                \
    X(BuildUIToFP, weft__llvm_cast)                                                                \
    X(BuildFPTrunc, weft__llvm_cast)                                                               \
    X(BuildFPExt, weft__llvm_cast)                                                                 \
    X(BuildBitCast, weft__llvm_cast)                                                               \
    X(BuildPtrToInt, weft__llvm_cast)

/* result, name without "LLVM", arguments */
#define WEFT__LLVM_LONG_LIST(X)                                                                    \
    X(weft__llvm_context, ContextCreate, (void))                                                   \
    X(void, ContextDispose, (weft__llvm_context))                                                  \
    X(void, ContextSetDiagnosticHandler, (weft__llvm_context, weft__llvm_listener *, void *))      \
    X(int, GetDiagInfoSeverity, (weft__llvm_diagnostic))                                           \
    X(void, InstallFatalErrorHandler, (weft__llvm_fatal *))                                        \
    X(void, ResetFatalErrorHandler, (void))                                                        \
    X(char *, GetDiagInfoDescription, (weft__llvm_diagnostic))                                     \
    X(weft__llvm_module, ModuleCreateWithNameInContext, (const char *, weft__llvm_context))        \
    X(void, DisposeModule, (weft__llvm_module))                                                    \
    X(void, SetTarget, (weft__llvm_module, const char *))                                          \
    X(void, SetModuleDataLayout, (weft__llvm_module, weft__llvm_layout))                           \
    X(weft__llvm_layout, CreateTargetDataLayout, (weft__llvm_machine))                             \
    X(void, DisposeTargetData, (weft__llvm_layout))                                                \
    X(weft__llvm_builder, CreateBuilderInContext, (weft__llvm_context))                            \
    X(void, DisposeBuilder, (weft__llvm_builder))                                                  \
    X(weft__type, IntTypeInContext, (weft__llvm_context, unsigned))                                \
    X(weft__type, HalfTypeInContext, (weft__llvm_context))                                         \
    X(weft__type, FloatTypeInContext, (weft__llvm_context))                                        \
    X(weft__type, DoubleTypeInContext, (weft__llvm_context))                                       \
    X(weft__type, VoidTypeInContext, (weft__llvm_context))                                         \
    X(weft__type, PointerTypeInContext, (weft__llvm_context, unsigned))                            \
    X(weft__type, VectorType, (weft__type, unsigned))                                              \
    X(weft__type, FunctionType, (weft__type, weft__type *, unsigned, int))                         \
    X(weft__type, StructTypeInContext, (weft__llvm_context, weft__type *, unsigned, int))          \
    X(weft__ref, BuildExtractValue, (weft__llvm_builder, weft__ref, unsigned, const char *))       \
    X(weft__type, TypeOf, (weft__ref))                                                             \
    X(int, GetTypeKind, (weft__type))                                                              \
    X(weft__type, GetElementType, (weft__type))                                                    \
    X(unsigned, CountParamTypes, (weft__type))                                                     \
    X(weft__ref, AddFunction, (weft__llvm_module, const char *, weft__type))                       \
    X(weft__ref, GetNamedFunction, (weft__llvm_module, const char *))                              \
    X(weft__ref, GetParam, (weft__ref, unsigned))                                                  \
    X(weft__ref, AddGlobal, (weft__llvm_module, weft__type, const char *))                         \
    X(void, SetInitializer, (weft__ref, weft__ref))                                                \
    X(void, SetGlobalConstant, (weft__ref, int))                                                   \
    X(void, SetLinkage, (weft__ref, int))                                                          \
    X(weft__block, AppendBasicBlockInContext, (weft__llvm_context, weft__ref, const char *))       \
    X(weft__block, GetInsertBlock, (weft__llvm_builder))                                           \
    X(void, PositionBuilderAtEnd, (weft__llvm_builder, weft__block))                               \
    X(weft__ref, BuildGEP2,                                                                        \
      (weft__llvm_builder, weft__type, weft__ref, weft__ref *, unsigned, const char *))            \
    X(weft__ref, BuildLoad2, (weft__llvm_builder, weft__type, weft__ref, const char *))            \
    X(weft__ref, BuildStore, (weft__llvm_builder, weft__ref, weft__ref))                           \
    X(weft__ref, BuildAlloca, (weft__llvm_builder, weft__type, const char *))                      \
    X(void, SetAlignment, (weft__ref, unsigned))                                                   \
    X(weft__ref, BuildICmp, (weft__llvm_builder, int, weft__ref, weft__ref, const char *))         \
    X(weft__ref, BuildFCmp, (weft__llvm_builder, int, weft__ref, weft__ref, const char *))         \
    X(weft__ref, BuildSelect, (weft__llvm_builder, weft__ref, weft__ref, weft__ref, const char *)) \
    X(weft__ref, BuildInsertElement,                                                               \
      (weft__llvm_builder, weft__ref, weft__ref, weft__ref, const char *))                         \
    X(weft__ref, BuildShuffleVector,                                                               \
      (weft__llvm_builder, weft__ref, weft__ref, weft__ref, const char *))                         \
    X(weft__ref, BuildPhi, (weft__llvm_builder, weft__type, const char *))                         \
    X(void, AddIncoming, (weft__ref, weft__ref *, weft__block *, unsigned))                        \
    X(weft__ref, BuildBr, (weft__llvm_builder, weft__block))                                       \
    X(weft__ref, BuildCondBr, (weft__llvm_builder, weft__ref, weft__block, weft__block))           \
    X(weft__ref, BuildRet, (weft__llvm_builder, weft__ref))                                        \
    X(weft__ref, BuildRetVoid, (weft__llvm_builder))                                               \
    X(weft__ref, BuildAggregateRet, (weft__llvm_builder, weft__ref *, unsigned))                   \
    X(weft__ref, BuildCall2,                                                                       \
      (weft__llvm_builder, weft__type, weft__ref, weft__ref *, unsigned, const char *))            \
    X(weft__ref, GetInlineAsm,                                                                     \
      (weft__type, const char *, size_t, const char *, size_t, int, int, int, int))                \
    X(weft__ref, ConstInt, (weft__type, unsigned long long, int))                                  \
    X(weft__ref, ConstNull, (weft__type))                                                          \
    X(weft__ref, ConstAllOnes, (weft__type))                                                       \
    X(int, IsConstant, (weft__ref))                                                                \
    X(int, IsNull, (weft__ref))                                                                    \
    X(weft__ref, IsAICmpInst, (weft__ref))                                                         \
    X(weft__ref, GetOperand, (weft__ref, unsigned))                                                \
    X(weft__ref, ConstVector, (weft__ref *, unsigned))                                             \
    X(weft__ref, GetUndef, (weft__type))                                                           \
    X(unsigned, LookupIntrinsicID, (const char *, size_t))                                         \
    X(weft__ref, GetIntrinsicDeclaration, (weft__llvm_module, unsigned, weft__type *, size_t))     \
    X(weft__type, IntrinsicGetType, (weft__llvm_context, unsigned, weft__type *, size_t))          \
    X(unsigned, GetEnumAttributeKindForName, (const char *, size_t))                               \
    X(weft__llvm_attribute, CreateEnumAttribute, (weft__llvm_context, unsigned, uint64_t))         \
    X(weft__llvm_attribute, CreateStringAttribute,                                                 \
      (weft__llvm_context, const char *, unsigned, const char *, unsigned))                        \
    X(void, AddAttributeAtIndex, (weft__ref, unsigned, weft__llvm_attribute))                      \
    X(void, AddCallSiteAttribute, (weft__ref, unsigned, weft__llvm_attribute))                     \
    X(unsigned, GetMDKindIDInContext, (weft__llvm_context, const char *, unsigned))                \
    X(weft__llvm_metadata, MDStringInContext2, (weft__llvm_context, const char *, size_t))         \
    X(weft__llvm_metadata, MDNodeInContext2, (weft__llvm_context, weft__llvm_metadata *, size_t))  \
    X(weft__llvm_metadata, ValueAsMetadata, (weft__ref))                                           \
    X(weft__ref, MetadataAsValue, (weft__llvm_context, weft__llvm_metadata))                       \
    X(void, SetMetadata, (weft__ref, unsigned, weft__ref))                                         \
    X(int, GetTargetFromTriple, (const char *, weft__llvm_target *, char **))                      \
    X(weft__llvm_machine, CreateTargetMachine,                                                     \
      (weft__llvm_target, const char *, const char *, const char *, int, int, int))                \
    X(void, DisposeTargetMachine, (weft__llvm_machine))                                            \
    X(int, TargetMachineEmitToMemoryBuffer,                                                        \
      (weft__llvm_machine, weft__llvm_module, int, char **, weft__llvm_buffer *))                  \
    X(const char *, GetBufferStart, (weft__llvm_buffer))                                           \
    X(size_t, GetBufferSize, (weft__llvm_buffer))                                                  \
    X(void, DisposeMemoryBuffer, (weft__llvm_buffer))                                              \
    X(void, DisposeMessage, (char *))                                                              \
    X(int, VerifyModule, (weft__llvm_module, int, char **))

/* One pointer for each; all are set when weft__llvm_open has succeeded. */
typedef struct weft__llvm_functions {
#define WEFT__LLVM_SHORT(name, type) type *name;
#define WEFT__LLVM_LONG(result, name, arguments) result(*name) arguments;
    WEFT__LLVM_SHORT_LIST(WEFT__LLVM_SHORT)
    WEFT__LLVM_LONG_LIST(WEFT__LLVM_LONG)
#undef WEFT__LLVM_SHORT
#undef WEFT__LLVM_LONG
} weft__llvm_functions;

extern weft__llvm_functions weft__llvm;

#endif
