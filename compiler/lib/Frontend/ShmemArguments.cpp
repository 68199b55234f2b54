// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments of libshmem_device's functions.
//
// Five libraries have one set of functions here, but their constants have
// different numbers: 3 is LE in one and GE in another. So our constants are no
// plain numbers. Each holds library, kind and meaning (ShmemConstant), and one
// of a wrong kind, or of another library than the kernel has used before, is an
// error that names the right one (noteFamily).
//
// Plain numbers, which ported files contain, are read as the library of the
// kernel's earlier constants would read them, else as the profile says. Where
// that is a guess and the libraries disagree there is a warning. A number that
// is known at run time only is translated at run time (shmemCodeArg).
//
// Values that are wider than the word that they go to are checked at run time
// rather than cut.
#include "ShmemRules.h"
#include "nereid/Support/AttributeNames.h"

#include "nereid/abi.h"

using namespace nereid;
using namespace nereid::frontend;
using Kind = ShmemConstant::Kind;

std::string nereid::frontend::libraryNames(uint8_t libraries) {
  std::vector<std::string> names;
  for (ShmemLibrary library : {ShmemLibrary::NVSHMEM, ShmemLibrary::ROCSHMEM,
                               ShmemLibrary::ACLSHMEM, ShmemLibrary::MORI, ShmemLibrary::MXSHMEM})
    if (has(libraries, library))
      names.push_back(shmemLibraryName(library));
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

mlir::Operation *nereid::frontend::emitLibraryCall(Semantic &s, const SourceRange &range,
                                                   llvm::StringRef symbol,
                                                   llvm::ArrayRef<Tensor> operands,
                                                   std::optional<Type> result, bool pure,
                                                   llvm::StringRef written) {
  llvm::SmallVector<mlir::Value> handles;
  for (const Tensor &operand : operands)
    handles.push_back(operand.handle);
  llvm::SmallVector<mlir::Type> types;
  if (result)
    types.push_back(result->lower(s.builder.getContext()));
  // What has no effect is the same however it is written.
  mlir::Builder &b = s.builder;
  mlir::StringAttr spelling;
  if (!pure && !written.empty() && symbol != written)
    spelling = b.getStringAttr(written);
  return s.emit<distributed::ExternCallOp>(
      range, types, handles, b.getStringAttr(distributed::libraryName), b.getStringAttr(""),
      b.getStringAttr(symbol), b.getBoolAttr(pure), spelling);
}

mlir::Operation *nereid::frontend::emitShmemCall(Semantic &s, const BoundArgs &args,
                                                 llvm::StringRef symbol,
                                                 llvm::ArrayRef<Tensor> operands,
                                                 std::optional<Type> result, bool pure) {
  mlir::Operation *call =
      emitLibraryCall(s, args.range, symbol, operands, result, pure, args.info.name);
  if (llvm::StringRef together = shmemFunction(args).together; !together.empty())
    call->setAttr(attr::together, s.builder.getStringAttr(together));
  return call;
}

//===----------------------------------------------------------------------===//
// Pointers and values
//===----------------------------------------------------------------------===//

Tensor nereid::frontend::shmemPointerArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor pointer = tensorArg(s, args, i);
  if (!pointer.type.isPointer())
    fail(Diag::shmem_pointer, args.ranges[i], parameterName(args, i), args.info.name, "",
         args[i].describe());
  return pointer;
}

Tensor nereid::frontend::typedPointerArg(Semantic &s, const BoundArgs &args, unsigned i) {
  const ShmemFunction &function = shmemFunction(args);
  Tensor pointer = shmemPointerArg(s, args, i);
  Type pointee = pointer.type.pointee(), wanted(function.type->scalar);
  bool fits = wanted.isFloating()
                  ? pointee == wanted
                  : pointee.isInteger() && !pointee.isBool() && pointee.bits() == wanted.bits();
  if (fits)
    return pointer;
  std::string help;
  for (const CType &other : cTypes())
    if (std::string name = function.prefix + other.name + function.suffix;
        Type(other.scalar) == pointee && findShmemFunction(name)) {
      help = "the function for it is libshmem_device." + name;
      break;
    }
  fail(Diag::shmem_typed_pointer, args.ranges[i], args.info.name, wanted.str(),
       parameterName(args, i), args[i].describe(), help);
}

Tensor nereid::frontend::shmemSignalArg(Semantic &s, const BoundArgs &args, unsigned i) {
  Tensor pointer = shmemPointerArg(s, args, i);
  Type pointee = pointer.type.pointee();
  if (!pointee.isInteger() || pointee.isBool())
    fail(Diag::shmem_pointer, args.ranges[i], parameterName(args, i), args.info.name,
         " to integers", args[i].describe());
  const TargetProfile &profile = *s.options.profile;
  if (profile.signalBytes && int(pointee.bits()) != 8 * profile.signalBytes)
    fail(Diag::signal_width, args.ranges[i], functionName(args.info),
         std::to_string(8 * profile.signalBytes) + "-bit", profile.name, args[i].describe(),
         profile.signalBytes == 8 ? "uint64" : "int32");
  return pointer;
}

Tensor nereid::frontend::countArg(Semantic &s, const BoundArgs &args, unsigned i) {
  if (const Int *number = args[i].getIf<Int>(); number && *number < 0)
    fail(Diag::negative_count, args.ranges[i], parameterName(args, i), functionName(args.info),
         toString(*number));
  return intScalarArg(s, args, i, Scalar::Int64);
}

void nereid::frontend::checkWord(Semantic &s, const Tensor &value, const Type &type, int32_t flags,
                                 const SourceRange &range) {
  if (!value.type.isUnsigned())
    flags |= NRD_WORD_SIGNED;
  Tensor wide = s.cast(value, value.type.isUnsigned() ? Scalar::UInt64 : Scalar::Int64, range);
  emitLibraryCall(s, range, "fits_word",
                  {wide, s.constant(Int(int64_t(type.bits())), Scalar::Int32, range),
                   s.constant(Int(flags), Scalar::Int32, range)});
}

Tensor nereid::frontend::castToWord(Semantic &s, const Tensor &value, const Type &word,
                                    const SourceRange &range) {
  if (value.type.isInteger() && word.isInteger() && value.type.bits() > word.bits() &&
      !word.isBool())
    checkWord(s, value, word, 0, range);
  return s.cast(value, word, range);
}

Tensor nereid::frontend::pointeeArg(Semantic &s, const BoundArgs &args, unsigned i,
                                    const Tensor &pointer) {
  Type pointee = pointer.type.pointee();
  if (pointee.isFloating() && args[i].isNumber())
    return s.constant(args[i], pointee, args.ranges[i]);
  if (const Int *number = args[i].getIf<Int>(); number && *number < 0 && pointee.isUnsigned())
    return s.cast(s.constant(args[i], Scalar::Int64, args.ranges[i]), pointee, args.ranges[i]);
  Tensor value = tensorArg(s, args, i);
  if (value.type.isBlock() || value.type.isPointerLike())
    fail(Diag::argument_kind, args.ranges[i], parameterName(args, i), functionName(args.info),
         "a scalar", args[i].describe(), "");
  return args[i].isNumber() ? s.constant(args[i], pointee, args.ranges[i])
                            : castToWord(s, value, pointee, args.ranges[i]);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// "write MORI_CMP_GE; ", the constant of a library that `libraries` names and
/// that means the same.
static std::string equivalentText(const ShmemConstant &constant, uint8_t libraries) {
  for (int library = 0; library < int(ShmemLibrary::Any); ++library)
    if (has(libraries, ShmemLibrary(library)))
      if (std::optional<ShmemConstant> same = constant.in(ShmemLibrary(library)))
        return "write " + same->name();
  return "";
}

/// Notes which library's constants the kernel uses. A constant of another one
/// than before, or of one that does not have the function, is an error.
static void noteFamily(Semantic &s, const BoundArgs &args, const ShmemConstant &constant,
                       const SourceRange &range) {
  const TargetProfile &profile = *s.options.profile;
  uint8_t libraries = shmemFunction(args).libraries;
  if (profile.library != ShmemLibrary::Any)
    libraries = 1 << int(profile.library);
  if (!has(libraries, constant.family)) {
    std::string owner = libraryNames(libraries);
    if (profile.library != ShmemLibrary::Any)
      owner += ", for which the profile " + std::string(profile.name) + " stands";
    fail(Diag::shmem_call_family, range, constant.name(), shmemLibraryName(constant.family),
         args.info.name, owner, equivalentText(constant, libraries));
  }
  if (!s.shmemFamily) {
    s.shmemFamily = {constant.family, range};
    s.shmemFamilyName = constant.name();
    return;
  }
  if (s.shmemFamily->first == constant.family)
    return;
  std::string same = equivalentText(constant, 1 << int(s.shmemFamily->first));
  Diagnostic diagnostic =
      makeDiagnostic(Diag::shmem_family, range, constant.name(), shmemLibraryName(constant.family),
                     s.shmemFamilyName, shmemLibraryName(s.shmemFamily->first),
                     same.empty() ? same : same + " here; ");
  diagnostic.notes.push_back({s.shmemFamily->second, "the first constant is used here"});
  throw CompileError(std::move(diagnostic));
}

static const char *kindName(Kind kind) {
  static const char *const kinds[] = {"comparison", "signal operation", "team",
                                      "operation of an atomic"};
  return kinds[int(kind)];
}

static const char *acceptedNames(Kind kind) {
  static const char *const accepted[] = {
      "NVSHMEM_CMP_EQ, NVSHMEM_CMP_NE, NVSHMEM_CMP_GT, NVSHMEM_CMP_LE, NVSHMEM_CMP_LT, "
      "NVSHMEM_CMP_GE (or those of "
      "ROCSHMEM, ACLSHMEM, MORI, MXSHMEM)",
      "NVSHMEM_SIGNAL_SET, NVSHMEM_SIGNAL_ADD (or those of ROCSHMEM, ACLSHMEM, MORI, MXSHMEM)",
      "NVSHMEM_TEAM_WORLD, NVSHMEM_TEAM_SHARED, NVSHMEMX_TEAM_NODE (or those of ACLSHMEM, "
      "MXSHMEM), or an integer from "
      "nereid.symm.team_split_strided",
      "MORI_AMO_ADD, MORI_AMO_SET, MORI_AMO_AND, MORI_AMO_OR, MORI_AMO_XOR, MORI_AMO_INC, and with "
      "results "
      "MORI_AMO_FETCH, MORI_AMO_FETCH_ADD, MORI_AMO_SWAP, MORI_AMO_COMPARE_SWAP, ..."};
  return accepted[int(kind)];
}

/// How plain numbers are read: as the library numbers them whose constants the
/// kernel uses already, else as the profile says.
static ShmemLibrary numbering(const Semantic &s, Kind kind) {
  if (kind == Kind::Atomic)
    return ShmemLibrary::MORI;
  return s.shmemFamily ? s.shmemFamily->first : s.options.profile->numbering;
}

std::optional<int32_t> nereid::frontend::shmemConstantArg(Semantic &s, const BoundArgs &args,
                                                          unsigned i, Kind kind) {
  auto refuse = [&]() {
    fail(Diag::shmem_constant, args.ranges[i], args[i].describe(), kindName(kind),
         acceptedNames(kind));
  };
  const Int *number = args[i].getIf<Int>();
  if (!number) {
    if (args[i].isTensor())
      return std::nullopt;
    refuse();
  }
  if (std::optional<ShmemConstant> constant = ShmemConstant::decode(*number)) {
    if (constant->kind != kind)
      refuse();
    noteFamily(s, args, *constant, args.ranges[i]);
    return constant->number;
  }
  if (kind == Kind::Team) {
    if (*number < -1 || *number > INT32_MAX)
      refuse();
    return int32_t(*number);
  }
  if (*number < 0 || *number > 100)
    refuse();
  std::optional<int32_t> meaning =
      ShmemConstant::fromNative(numbering(s, kind), kind, int64_t(*number));
  bool guess = !s.shmemFamily && s.options.profile->library == ShmemLibrary::Any;
  // Nobody numbers another signal operation 0 or 1.
  if (!meaning && guess && kind == Kind::Signal)
    meaning = ShmemConstant::fromNative(ShmemLibrary::ROCSHMEM, kind, int64_t(*number));
  if (!meaning)
    refuse();
  if (guess && kind == Kind::Compare && (*number == 3 || *number == 5)) {
    ShmemConstant read{numbering(s, kind), kind, *meaning};
    Diagnostic warning =
        makeDiagnostic(Diag::shmem_ambiguous, args.ranges[i], toString(*number), read.name());
    warning.severity = Severity::Warning;
    s.sink.report(warning);
  }
  return *meaning;
}

Tensor nereid::frontend::shmemCodeArg(Semantic &s, const BoundArgs &args, unsigned i, Kind kind) {
  const SourceRange &range = args.ranges[i];
  if (std::optional<int32_t> known = shmemConstantArg(s, args, i, kind))
    return s.constant(Int(*known), Scalar::Int32, range);
  Tensor number = intScalarArg(s, args, i, Scalar::Int32);
  if (kind == Kind::Team)
    return number;
  ShmemLibrary library = numbering(s, kind);
  bool rocNumbers = library == ShmemLibrary::ROCSHMEM || library == ShmemLibrary::ACLSHMEM;
  if (kind == Kind::Signal) // 0 and 1, or 9 and 10: 1 and 2
    return s.binary(BinaryOp::Sub, number, Int(rocNumbers ? -1 : 8), range).as<Tensor>();
  if (!rocNumbers)
    return number;
  // GE and LE change places.
  Tensor swapped = s.binary(BinaryOp::Sub, Int(8), number, range).as<Tensor>();
  Tensor high = s.compare(CompareOp::GtE, number, Int(3), range).as<Tensor>();
  return s.select(high, swapped, number, range);
}
