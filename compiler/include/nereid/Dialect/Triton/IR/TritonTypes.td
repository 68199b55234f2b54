// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TRITON_TYPES_TD
#define NEREID_TRITON_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/CommonTypeConstraints.td"
include "nereid/Dialect/Triton/IR/TritonDialect.td"
include "nereid/Dialect/Triton/IR/TritonEnums.td"

class TT_TypeDef<string name, string mnemonic_, list<Trait> traits = []>
    : TypeDef<Triton_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def TT_PtrType : TT_TypeDef<"Pointer", "ptr", [VectorElementTypeInterface]> {
  let summary = "pointer to an element, or to a tile of a tensor in memory";
  let description = [{
    `!tt.ptr<f32>` points to elements in address space 1 (memory of this rank or,
    after `distributed.symm_at`, of another). `!tt.ptr<f32, 3>` names another
    address space. `!tt.ptr<tensor<128x32xf16>>` is a block pointer.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType, "int":$addressSpace);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType, CArg<"int", "1">:$addressSpace), [{
      return $_get(pointeeType.getContext(), pointeeType, addressSpace);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
}

def TT_TensorDescType : TT_TypeDef<"TensorDesc", "tensordesc"> {
  let summary = "descriptor of a tensor in memory that is read and written tile by tile";
  let description = [{
    Printed as `!tt.tensordesc<128x64xf16>`; the older `!tt.tensordesc<tensor<128x64xf16>>`
    is read too.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$blockType);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$blockType), [{
      return $_get(blockType.getContext(), blockType);
    }]>
  ];
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
}

def TT_CachePolicyAttr : AttrDef<Triton_Dialect, "CachePolicy"> {
  let mnemonic = "cache_policy";
  let summary = "both cache hints of an access, as newer versions of Triton write them";
  let description = [{
    Read on loads and stores in place of `cacheModifier` and `evictionPolicy`;
    written only for readers that want it.

    ```mlir
    #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>
    ```
  }];
  let parameters = (ins EnumParameter<TT_CacheModifier>:$cache_modifier,
                        EnumParameter<TT_EvictionPolicy>:$eviction_policy);
  let assemblyFormat = "`<` struct(params) `>`";
}

// Constraints. "Like" means the scalar or a tensor of it. Shapes are static.
class TT_TensorOf<list<Type> elements> : StaticShapeTensorOf<elements>;

def TT_Float : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, BF16, F32, F64], "floating point">;
def TT_Int : AnyTypeOf<[I1, I8, I16, I32, I64], "integer">;
def TT_FloatLike : AnyTypeOf<[TT_Float, TT_TensorOf<[TT_Float]>]>;
def TT_IntLike : AnyTypeOf<[TT_Int, TT_TensorOf<[TT_Int]>]>;
def TT_I1Like : AnyTypeOf<[I1, TT_TensorOf<[I1]>]>;
def TT_IntOrFloatTensor : TT_TensorOf<[TT_Float, TT_Int]>;

def TT_Ptr : DialectType<Triton_Dialect, CPred<"::llvm::isa<::nereid::tt::PointerType>($_self)">, "pointer">;
def TT_TilePtr : Type<And<[TT_Ptr.predicate,
    CPred<"::llvm::isa<::mlir::RankedTensorType>(::llvm::cast<::nereid::tt::PointerType>($_self).getPointeeType())">]>,
    "block pointer", "::nereid::tt::PointerType">;
def TT_ScalarPtr : Type<And<[TT_Ptr.predicate,
    CPred<"!::llvm::isa<::mlir::RankedTensorType>(::llvm::cast<::nereid::tt::PointerType>($_self).getPointeeType())">]>,
    "scalar pointer", "::nereid::tt::PointerType">;
def TT_PtrTensor : TT_TensorOf<[TT_Ptr]>;
def TT_PtrLike : AnyTypeOf<[TT_Ptr, TT_PtrTensor], "pointer or tensor of pointers">;
def TT_ScalarPtrLike : AnyTypeOf<[TT_ScalarPtr, TT_PtrTensor], "scalar pointer or tensor of pointers">;
def TT_Tensor : TT_TensorOf<[TT_Float, TT_Int, TT_Ptr]>;
def TT_Scalar : AnyTypeOf<[TT_Float, TT_Int, TT_Ptr], "scalar">;
def TT_Type : AnyTypeOf<[TT_Float, TT_Int, TT_Ptr, TT_Tensor], "scalar or tensor">;
def TT_TensorDesc : Type<CPred<"::llvm::isa<::nereid::tt::TensorDescType>($_self)">, "tensor descriptor",
                         "::nereid::tt::TensorDescType">;

#endif // NEREID_TRITON_TYPES_TD
