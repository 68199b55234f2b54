// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operations between ranks consist of on NVIDIA's GPUs: waits, releases,
// fences, copies and the barrier of all programs, as tt operations and assembly.
//
// A piece of assembly runs in every thread of a program, each by itself. A barrier
// of the program stands before what publishes (a release covers what its own thread
// has done or knows of) and after what waits (no load may be moved above it, and no
// fast warp may reset a signal that a slow one has not seen yet).
#ifndef NEREID_TARGET_CUDA_DEVICECODE_H
#define NEREID_TARGET_CUDA_DEVICECODE_H

#include "nereid/Dialect/Triton/IR/Triton.h"
#include "nereid/cuda_kernel.h"

#include "mlir/IR/Builders.h"

#include <string>

namespace nereid::cuda {

/// What the lowering depends on.
struct Choices {
  int arch = 90;           ///< 90 for sm_90
  int waitStride = 0;      ///< bytes between the slots of a wait; 0: one element
  bool oneProgram = false; ///< one program of each rank calls barriers and collectives
  bool checked = false;
  /// Thread blocks, of one cluster, that run a program.
  int numCTAs = 1;
  /// The kernel stores through descriptors, whose copies a release must wait for.
  bool storesByDescriptor = false;
};

/// The arguments that the runtime passes after the user's.
struct Parameters {
  mlir::Value rank, numRanks, stride16, state, control;
};

/// How a signal is compared with the awaited value, in the numbers of abi.h.
struct Comparison {
  int32_t code;
  bool isSigned = true;
  /// Of a counter that only grows, by steps, around its end as well: at least.
  bool wraps = false;
  /// When given, an i32 in place of `code`, known at run time.
  mlir::Value codeValue = {};
};

class DeviceCode {
public:
  DeviceCode(mlir::OpBuilder &builder, const Choices &choices, const Parameters &parameters)
      : choices(choices), parameters(parameters), b(builder) {}

  const Choices &choices;
  const Parameters &parameters;
  mlir::OpBuilder &b;
  /// Of what is being lowered: its location and its number in the table of places.
  mlir::Location loc = b.getUnknownLoc();
  unsigned site = 0;
  /// Pieces of marked assembly so far.
  unsigned marks = 0;
  /// Has something needed the result of one thread in all of them? Triton hands it to
  /// the threads of one thread block.
  bool needsOneBlock = false;

  // Values.
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  /// `value`, an integer, with `bits` bits.
  mlir::Value resize(mlir::Value value, unsigned bits, bool isSigned = true);
  /// With `bits` bits; the program fails when a wider value does not fit them: as a signed
  /// number, or (a word) as either kind.
  mlir::Value narrow(mlir::Value value, unsigned bits, bool isWord = false);
  /// The bits of an element as an integer, and back.
  mlir::Value toBits(mlir::Value value);
  mlir::Value fromBits(mlir::Value bits, mlir::Type type);
  /// Number of this program, and of programs, over all axes of the grid.
  mlir::Value program();
  mlir::Value programs();
  mlir::Value pointerTo(mlir::Type element, mlir::Value pointer);

  /// A pointer into this rank's heap as one to the same place of `rank`'s.
  mlir::Value symmAt(mlir::Value pointer, mlir::Value rank);
  void assertThat(mlir::Value condition, llvm::StringRef message);
  /// Which of "less", "equal", "greater" (bits 0, 1, 2) a comparison of that number holds
  /// for.
  mlir::Value outcomesOf(mlir::Value code);

  // Order.
  /// All threads of the program have come here; their accesses before it are seen by
  /// all of them after it.
  void barrier();
  /// The same, and copies to memory that it has begun by descriptors are done.
  void barrierAfterStores();
  /// barrierAfterStores between accesses of the program itself; not counted.
  void separate();
  /// What the program has written is seen by all ranks before what it writes later.
  void fence();
  /// Every thread waits until the word `slot` (pointer to i32 or i64) compares so
  /// with `value`.
  void wait(mlir::Value slot, mlir::Value value, Comparison comparison);
  /// Until each of `count` slots, `stride` bytes apart, equals `value`.
  void waitForAll(mlir::Value slots, mlir::Value count, mlir::Value value, int64_t stride);
  /// What the program has done is seen by whoever acquires the new value of `slot`.
  void release(mlir::Value slot, mlir::Value value, bool adds, bool ownGPU = false);
  /// The same where `operation`, NRD_SIG_*, is known at run time.
  void releaseBy(mlir::Value slot, mlir::Value value, mlir::Value operation);
  /// The same for an element of 8 to 64 bits.
  void releaseElement(mlir::Value place, mlir::Value bits);
  /// Looks whether the host has given the launch up, now and then.
  void checkGivenUp();

  // Atomics of one thread, whose result all have.
  mlir::Value atomic(tt::RMWOp kind, mlir::Value pointer, mlir::Value value,
                     tt::MemSyncScope scope = tt::MemSyncScope::SYSTEM,
                     tt::MemSemantic order = tt::MemSemantic::ACQUIRE_RELEASE);
  mlir::Value compareAndSwap(mlir::Value pointer, mlir::Value compare, mlir::Value value);

  /// `bytes` (i64, unsigned) from address `from` to address `to`, both i64, by all
  /// threads of the program, in no order.
  void copy(mlir::Value to, mlir::Value from, mlir::Value bytes);

  /// All programs of all ranks have come here (of each rank one, with oneProgram).
  void barrierAll();

private:
  mlir::Value assembly(llvm::StringRef body, llvm::StringRef constraints, mlir::ValueRange operands,
                       bool marked);
  std::string proxyFence() const;
  std::string firstThread() const;
  std::string giveUp(llvm::StringRef control, unsigned bits, llvm::StringRef awaited,
                     llvm::StringRef address, llvm::StringRef comparison) const;
  void forEach(mlir::Value from, mlir::Value to, llvm::function_ref<void(mlir::Value)> body);
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = {});
  void copyTile(mlir::Type element, mlir::Value to, mlir::Value from, mlir::Value offset,
                mlir::Value left);
};

} // namespace nereid::cuda

#endif // NEREID_TARGET_CUDA_DEVICECODE_H
