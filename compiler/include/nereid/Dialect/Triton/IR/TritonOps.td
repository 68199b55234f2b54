// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef NEREID_TRITON_OPS_TD
#define NEREID_TRITON_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "nereid/Dialect/Triton/IR/TritonDialect.td"
include "nereid/Dialect/Triton/IR/TritonEnums.td"
include "nereid/Dialect/Triton/IR/TritonTypes.td"

class TT_Op<string mnemonic, list<Trait> traits = []>
    : Op<Triton_Dialect, mnemonic, traits>;

// Predicates that tie a type to another, by helper functions of Triton.h.
class TT_PointeeMatches<string ptr, string value>
    : TypesMatchWith<"type of " # value # " is what " # ptr # " points to", ptr, value,
                     "::nereid::tt::getPointeeType($_self)">;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def TT_FuncOp : TT_Op<"func", [AffineScope, AutomaticAllocationScope, IsolatedFromAbove,
                               FunctionOpInterface]> {
  let summary = "kernel (public) or device function (private)";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                                 CArg<"::llvm::ArrayRef<::mlir::NamedAttribute>", "{}">:$attrs,
                                 CArg<"::llvm::ArrayRef<::mlir::DictionaryAttr>", "{}">:$argAttrs)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
  }];
  let hasCustomAssemblyFormat = 1;
}

def TT_CallOp : TT_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "call of a device function";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>);
  let builders = [OpBuilder<(ins "FuncOp":$callee, CArg<"::mlir::ValueRange", "{}">:$operands), [{
    $_state.addOperands(operands);
    $_state.addAttribute("callee", ::mlir::SymbolRefAttr::get(callee));
    $_state.addTypes(callee.getFunctionType().getResults());
  }]>];
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)";
  let extraClassDeclaration = [{
    operand_range getArgOperands() { return {operand_begin(), operand_end()}; }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getOperandsMutable(); }
    ::mlir::CallInterfaceCallable getCallableForCallee() { return (*this)->getAttrOfType<::mlir::SymbolRefAttr>("callee"); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      (*this)->setAttr("callee", ::llvm::cast<::mlir::SymbolRefAttr>(callee));
    }
  }];
}

def TT_ReturnOp : TT_Op<"return", [Pure, HasParent<"FuncOp">, ReturnLike, Terminator]> {
  let summary = "end of a function";
  let arguments = (ins Variadic<AnyType>:$srcs);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "attr-dict ($srcs^ `:` type($srcs))?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Program identity
//===----------------------------------------------------------------------===//

def TT_GetProgramIdOp : TT_Op<"get_program_id", [Pure]> {
  let summary = "index of this program along an axis of the grid";
  let arguments = (ins TT_ProgramDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def TT_GetNumProgramsOp : TT_Op<"get_num_programs", [Pure]> {
  let summary = "size of the grid along an axis";
  let arguments = (ins TT_ProgramDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

def TT_MakeRangeOp : TT_Op<"make_range", [Pure]> {
  let summary = "the integers start, start + 1, ..., end - 1";
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_TensorOf<[I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TT_SplatOp : TT_Op<"splat", [Pure]> {
  let summary = "tensor whose elements all equal the operand";
  let arguments = (ins TT_Scalar:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_UnsplatOp : TT_Op<"unsplat", [Pure, TypesMatchWith<"result is the element", "src", "result", "::mlir::getElementTypeOrSelf($_self)">]> {
  let summary = "the element of a one-element tensor";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Scalar:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$src), [{
    build($_builder, $_state, ::mlir::cast<::mlir::RankedTensorType>(src.getType()).getElementType(), src);
  }]>];
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{}];
}

def TT_ExpandDimsOp : TT_Op<"expand_dims", [Pure, SameOperandsAndResultElementType]> {
  let summary = "inserts a dimension of size 1 before `axis` of the result";
  let arguments = (ins TT_Tensor:$src, I32Attr:$axis);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_BroadcastOp : TT_Op<"broadcast", [Pure, SameOperandsAndResultElementType]> {
  let summary = "repeats dimensions of size 1";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_ReshapeOp : TT_Op<"reshape", [Pure, SameOperandsAndResultElementType]> {
  let summary = "same elements in row-major order, other shape";
  let description = [{
    With `allow_reorder` the elements may come in any order; we keep theirs.
  }];
  let arguments = (ins TT_Tensor:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_TransOp : TT_Op<"trans", [Pure, SameOperandsAndResultElementType]> {
  let summary = "permutes dimensions: dimension i of the result is dimension order[i] of the operand";
  let arguments = (ins TT_Tensor:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_JoinOp : TT_Op<"join", [Pure, SameTypeOperands]> {
  let summary = "interleaves two tensors along a new innermost dimension of size 2";
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def TT_SplitOp : TT_Op<"split", [Pure, TypesMatchWith<"halves are of one type", "outLHS", "outRHS", "$_self">]> {
  let summary = "inverse of join";
  let arguments = (ins TT_Tensor:$src);
  let results = (outs TT_Tensor:$outLHS, TT_Tensor:$outRHS);
  let builders = [OpBuilder<(ins "::mlir::Value":$src)>];
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{}];
}

def TT_CatOp : TT_Op<"cat", [Pure, SameTypeOperands, SameOperandsAndResultElementType]> {
  let summary = "concatenates along the first dimension";
  let arguments = (ins TT_Tensor:$lhs, TT_Tensor:$rhs);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pointers and casts
//===----------------------------------------------------------------------===//

def TT_AddPtrOp : TT_Op<"addptr", [Pure, TypesMatchWith<"result is of the pointer's type", "result", "ptr", "$_self">,
                                   SameOperandsAndResultShape]> {
  let summary = "pointer plus a signed number of elements";
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

class TT_CastOp<string mnemonic> : TT_Op<mnemonic, [Pure, SameOperandsAndResultShape]> {
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def TT_IntToPtrOp : TT_CastOp<"int_to_ptr"> {
  let summary = "64-bit integer to pointer";
  let arguments = (ins AnyTypeOf<[I64, TT_TensorOf<[I64]>]>:$src);
  let results = (outs TT_PtrLike:$result);
}
def TT_PtrToIntOp : TT_CastOp<"ptr_to_int"> {
  let summary = "pointer to 64-bit integer";
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs AnyTypeOf<[I64, TT_TensorOf<[I64]>]>:$result);
}
def TT_BitcastOp : TT_CastOp<"bitcast"> {
  let summary = "same bits, other type of the same width";
  let arguments = (ins TT_Type:$src);
  let results = (outs TT_Type:$result);
  let hasFolder = 1;
  let hasVerifier = 1;
}
def TT_FpToFpOp : TT_Op<"fp_to_fp", [Pure, SameOperandsAndResultShape]> {
  let summary = "floating-point cast that arith cannot express: fp8 types, rounding towards zero";
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingMode>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Arithmetic that the standard dialects lack
//===----------------------------------------------------------------------===//

def TT_ClampFOp : TT_Op<"clampf", [Pure, SameOperandsAndResultType]> {
  let summary = "min(max(x, min), max)";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max, TT_PropagateNan:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}
def TT_PreciseSqrtOp : TT_Op<"precise_sqrt", [Pure, SameOperandsAndResultType]> {
  let summary = "correctly rounded square root";
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def TT_PreciseDivFOp : TT_Op<"precise_divf", [Pure, SameOperandsAndResultType]> {
  let summary = "correctly rounded division";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}
def TT_MulhiUIOp : TT_Op<"mulhiui", [Pure, SameOperandsAndResultType]> {
  let summary = "high half of the unsigned product";
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}
def TT_ExternElementwiseOp : TT_Op<"extern_elementwise", [Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "element-wise call of a library function";
  let arguments = (ins Variadic<TT_Type>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs TT_Type:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
}
def TT_ElementwiseInlineAsmOp : TT_Op<"elementwise_inline_asm", [Elementwise, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "element-wise inline assembly of the target";
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure, I32Attr:$packed_element,
                       Variadic<AnyTypeOf<[TT_Type]>>:$args);
  let results = (outs Variadic<TT_Type>:$result);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def TT_LoadOp : TT_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TT_PointeeMatches<"ptr", "result">]> {
  let summary = "reads one element or a tile of elements";
  let description = [{
    Lanes whose mask is false are not read; their value is `other`, or 0 when
    there is none. A block pointer takes `boundaryCheck` (dimensions to test)
    and `padding` instead of mask and other. A volatile load is never hoisted,
    merged or removed.
  }];
  let arguments = (ins AnyTypeOf<[TT_PtrLike, TT_TilePtr]>:$ptr, Optional<TT_I1Like>:$mask, Optional<TT_Type>:$other,
                       DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
                       OptionalAttr<TT_PaddingOption>:$padding,
                       DefaultValuedAttr<TT_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict,
                       DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Type:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ptr, CArg<"::mlir::Value", "{}">:$mask, CArg<"::mlir::Value", "{}">:$other,
                   CArg<"bool", "false">:$isVolatile,
                   CArg<"::nereid::tt::CacheModifier", "::nereid::tt::CacheModifier::NONE">:$cache,
                   CArg<"::nereid::tt::EvictionPolicy", "::nereid::tt::EvictionPolicy::NORMAL">:$evict)>,
    OpBuilder<(ins "::mlir::Value":$ptr, "::llvm::ArrayRef<int32_t>":$boundaryCheck,
                   "std::optional<::nereid::tt::PaddingOption>":$padding, "bool":$isVolatile,
                   "::nereid::tt::CacheModifier":$cache, "::nereid::tt::EvictionPolicy":$evict)>
  ];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_StoreOp : TT_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TT_PointeeMatches<"ptr", "value">]> {
  let summary = "writes one element or a tile of elements";
  let description = [{ Lanes whose mask is false are not written. }];
  let arguments = (ins AnyTypeOf<[TT_PtrLike, TT_TilePtr]>:$ptr, TT_Type:$value, Optional<TT_I1Like>:$mask,
                       DefaultValuedAttr<DenseI32ArrayAttr, "::llvm::ArrayRef<int32_t>{}">:$boundaryCheck,
                       DefaultValuedAttr<TT_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict,
                       UnitAttr:$ignore_cta);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value, CArg<"::mlir::Value", "{}">:$mask,
                   CArg<"::nereid::tt::CacheModifier", "::nereid::tt::CacheModifier::NONE">:$cache,
                   CArg<"::nereid::tt::EvictionPolicy", "::nereid::tt::EvictionPolicy::NORMAL">:$evict)>,
    OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value, "::llvm::ArrayRef<int32_t>":$boundaryCheck,
                   "::nereid::tt::CacheModifier":$cache, "::nereid::tt::EvictionPolicy":$evict)>
  ];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_AtomicRMWOp : TT_Op<"atomic_rmw", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    TT_PointeeMatches<"ptr", "val">, TypesMatchWith<"result is of the value's type", "val", "result", "$_self">]> {
  let summary = "atomic read-modify-write of one element or of each element of a tile; yields the old value";
  let arguments = (ins TT_RMWOp:$atomic_rmw_op, TT_PtrLike:$ptr, TT_Type:$val, Optional<TT_I1Like>:$mask,
                       TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_Type:$result);
  let assemblyFormat = "$atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def TT_AtomicCASOp : TT_Op<"atomic_cas", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, SameOperandsAndResultShape,
    TT_PointeeMatches<"ptr", "val">, TypesMatchWith<"cmp is of the value's type", "val", "cmp", "$_self">,
    TypesMatchWith<"result is of the value's type", "val", "result", "$_self">]> {
  let summary = "atomic compare and swap; yields the old value";
  let arguments = (ins TT_PtrLike:$ptr, TT_Type:$cmp, TT_Type:$val, TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_Type:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def TT_AtomicPollOp : TT_Op<"atomic_poll", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "spins until a scalar equals `expected`; false when the time ran out";
  let arguments = (ins TT_Ptr:$ptr, TT_Int:$expected, Optional<I64>:$timeout, TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs I1:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $expected (`timeout` $timeout^)? attr-dict `:` type($ptr) `,` type($expected) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Block pointers and tensor descriptors
//===----------------------------------------------------------------------===//

def TT_MakeTensorPtrOp : TT_Op<"make_tensor_ptr", [Pure, SameVariadicOperandSize]> {
  let summary = "block pointer into a strided tensor";
  let arguments = (ins TT_Ptr:$base, Variadic<I64>:$shape, Variadic<I64>:$strides, Variadic<I32>:$offsets,
                       DenseI32ArrayAttr:$order);
  let results = (outs TT_TilePtr:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def TT_AdvanceOp : TT_Op<"advance", [Pure, TypesMatchWith<"result is of the pointer's type", "ptr", "result", "$_self">]> {
  let summary = "moves a block pointer by offsets in elements";
  let arguments = (ins TT_TilePtr:$ptr, Variadic<I32>:$offsets);
  let results = (outs TT_TilePtr:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TT_MakeTensorDescOp : TT_Op<"make_tensor_descriptor", [Pure, SameVariadicOperandSize]> {
  let summary = "descriptor of a strided tensor in memory";
  let arguments = (ins TT_Ptr:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
                       DefaultValuedAttr<TT_PaddingOption, "::nereid::tt::PaddingOption::PAD_ZERO">:$padding);
  let results = (outs TT_TensorDesc:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def TT_DescriptorLoadOp : TT_Op<"descriptor_load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads the tile at `indices`; elements outside the tensor read as the padding";
  let arguments = (ins TT_TensorDesc:$desc, Variadic<I32>:$indices,
                       DefaultValuedAttr<TT_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict);
  let results = (outs TT_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def TT_DescriptorStoreOp : TT_Op<"descriptor_store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes the tile at `indices`; elements outside the tensor are dropped";
  let arguments = (ins TT_TensorDesc:$desc, TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
  let hasVerifier = 1;
}
def TT_DescriptorReduceOp : TT_Op<"descriptor_reduce", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomically combines a tile into the tensor";
  let arguments = (ins TT_DescriptorReduceKind:$kind, TT_TensorDesc:$desc, TT_Tensor:$src, Variadic<I32>:$indices);
  let assemblyFormat = "$kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)";
  let hasVerifier = 1;
}
def TT_DescriptorGatherOp : TT_Op<"descriptor_gather", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads rows x_offsets[i], columns from y_offset on";
  let arguments = (ins TT_TensorDesc:$desc, TT_TensorOf<[I32]>:$x_offsets, I32:$y_offset);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def TT_DescriptorScatterOp : TT_Op<"descriptor_scatter", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes rows x_offsets[i], columns from y_offset on";
  let arguments = (ins TT_TensorDesc:$desc, TT_TensorOf<[I32]>:$x_offsets, I32:$y_offset, TT_Tensor:$src);
  let assemblyFormat = "$desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Linear algebra
//===----------------------------------------------------------------------===//

def TT_DotOp : TT_Op<"dot", [Pure, TypesMatchWith<"accumulator is of the result's type", "d", "c", "$_self">]> {
  let summary = "d = a * b + c on 2-D tiles, or on each of a batch of 3-D tiles";
  let arguments = (ins TT_IntOrFloatTensor:$a, TT_IntOrFloatTensor:$b, TT_IntOrFloatTensor:$c,
                       DefaultValuedAttr<TT_InputPrecision, "::nereid::tt::InputPrecision::IEEE">:$inputPrecision,
                       DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_IntOrFloatTensor:$d);
  let assemblyFormat = "$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:` type($a) `*` type($b) `->` type($d)";
  let hasVerifier = 1;
}

def TT_DotScaledOp : TT_Op<"dot_scaled", [Pure, AttrSizedOperandSegments,
    TypesMatchWith<"accumulator is of the result's type", "d", "c", "$_self">]> {
  let summary = "dot of block-scaled operands";
  let arguments = (ins TT_IntOrFloatTensor:$a, TT_IntOrFloatTensor:$b, TT_IntOrFloatTensor:$c,
                       Optional<TT_IntOrFloatTensor>:$a_scale, Optional<TT_IntOrFloatTensor>:$b_scale,
                       TT_ScaleDotElemType:$a_elem_type, TT_ScaleDotElemType:$b_elem_type, BoolAttr:$fastMath,
                       DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack, DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs TT_IntOrFloatTensor:$d);
  let assemblyFormat = "$a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Reductions, scans, selections
//===----------------------------------------------------------------------===//

def TT_ReduceOp : TT_Op<"reduce", [Pure, SameOperandsShape, SingleBlock]> {
  let summary = "combines the elements along an axis";
  let description = [{
    The region combines two elements: with n operands it takes 2n scalars (the n
    left ones, then the n right ones) and returns n. The order in which elements
    combine is not defined. A 1-D operand gives a scalar.
  }];
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_Type>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def TT_ReduceReturnOp : TT_Op<"reduce.return", [HasParent<"ReduceOp">, Pure, Terminator, ReturnLike]> {
  let summary = "result of a reduction's combining region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}
def TT_ScanOp : TT_Op<"scan", [Pure, SameOperandsAndResultShape, SingleBlock]> {
  let summary = "inclusive prefix combination along an axis";
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis, "bool":$reverse)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}
def TT_ScanReturnOp : TT_Op<"scan.return", [HasParent<"ScanOp">, Pure, Terminator, ReturnLike]> {
  let summary = "result of a scan's combining region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}
def TT_MapElementwiseOp : TT_Op<"map_elementwise", [SameOperandsAndResultShape, RecursiveMemoryEffects]> {
  let summary = "applies a scalar region to each element";
  let arguments = (ins Variadic<TT_Tensor>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<TT_Tensor>:$result);
  let regions = (region AnyRegion:$scalarOp);
  let hasRegionVerifier = 1;
}
def TT_MapElementwiseReturnOp : TT_Op<"map_elementwise.return", [HasParent<"MapElementwiseOp">, Pure, Terminator, ReturnLike]> {
  let summary = "result of map_elementwise's region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "attr-dict ($result^ `:` type($result))?";
}
def TT_GatherOp : TT_Op<"gather", [Pure]> {
  let summary = "picks elements along an axis by index";
  let arguments = (ins TT_Tensor:$src, TT_TensorOf<[TT_Int]>:$indices, I32Attr:$axis, UnitAttr:$efficient_layout);
  let results = (outs TT_Tensor:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}
def TT_HistogramOp : TT_Op<"histogram", [Pure,
    TypesMatchWith<"mask has the source's shape", "src", "mask", "::nereid::tt::getI1Like($_self)",
                   "($_op.getNumOperands() <= 1) || std::equal_to<>()">]> {
  let summary = "counts of the integers 0, 1, ..., n - 1 in a 1-D tensor";
  let arguments = (ins TT_TensorOf<[TT_Int]>:$src, Optional<TT_TensorOf<[I1]>>:$mask);
  let results = (outs TT_TensorOf<[TT_Int]>:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

def TT_PrintOp : TT_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints operands from the device";
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_Type>:$args, DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}
def TT_AssertOp : TT_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the job when an element is false";
  let arguments = (ins TT_I1Like:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}
def TT_BarrierOp : TT_Op<"debug_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "barrier among the threads of one program: orders its memory accesses";
  let assemblyFormat = "attr-dict";
}

#endif // NEREID_TRITON_OPS_TD
