/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*===- abi.h - what generated code and the runtime agree on ----------------===*
 *
 * This folder and common/ are all that the compiler's CPU target and the runtime
 * library share of code. This header holds the structures that compiled kernels read and
 * the entry points that they call; entry_points.def lists the latter for both
 * sides, device_math.def the mathematical functions. The compiler mirrors the
 * offsets of nrd_program in its RuntimeABI.h; a unit test compares them.
 *
 * A compiled kernel is one function:
 *
 *     void NAME(nrd_program *prog, const uint64_t *args);
 *
 * The runtime calls it once per program. `args` holds one 8-byte slot for each
 * run-time argument in declaration order: pointers as addresses, integers
 * sign- or zero-extended, fp32 in the low four bytes, fp64 as it is, i1 as 0/1.
 *
 * Every entry point that can fail or block takes a `site`: an index into the
 * table of source locations that the compiler writes beside the code, so that
 * a report names the user's line. A failing entry point records its error with
 * the launch and leaves the program for good: it does not return.
 *===-----------------------------------------------------------------------===*/
#ifndef NEREID_ABI_H
#define NEREID_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Increased with every change of this folder but of comments: tools/check/abi.py
 * compares it with abi/versions.txt. Part of every cache key. */
#define NRD_ABI_VERSION 10

/* One running program: what tl.program_id, dl.rank and friends read. Generated
 * code may cache nothing of it across a call that can block except the
 * pointer to it. */
typedef struct nrd_program {
  int32_t pid[3];       /* tl.program_id(0..2)                                */
  int32_t grid[3];      /* tl.num_programs(0..2)                              */
  int32_t rank;         /* dl.rank()                                          */
  int32_t num_ranks;    /* dl.num_ranks()                                     */
  int32_t sub_vec_id;   /* this vector core inside its AI core                */
  int32_t sub_vec_num;  /* vector cores per AI core                           */
  uint8_t *heap_base;   /* where rank 0's symmetric heap is mapped here; rank
                           r's heap starts at heap_base + r * heap_bytes. Null
                           when the process belongs to no job                 */
  uint64_t heap_bytes;  /* size of one rank's heap                            */
  uint8_t *scratch;     /* this program's tile buffers, 64-byte aligned, as
                           many bytes as the kernel's metadata asks for. The
                           first NRD_SCRATCH_HEAD are zero when the first
                           program of a launch gets the area; programs after
                           it on the same area find it as it was left         */
  uint64_t wait_stride; /* bytes between the slots of one dl.wait; 0 means one
                           element (a property of the target profile)         */
  void *runtime;        /* the runtime's own state of this program            */
} nrd_program;

typedef void (*nrd_kernel_fn)(nrd_program *prog, const uint64_t *args);

/* Bytes at the start of the scratch area by which kernels know a new launch. */
#define NRD_SCRATCH_HEAD 64

/* Flags and codes. The numbers of signal operations and scopes are those of
 * the `distributed` dialect. */
enum { NRD_SIG_SET = 1, NRD_SIG_ADD = 2 };
enum { NRD_COMM_GPU = 1, NRD_COMM_INTRA_NODE = 2, NRD_COMM_INTER_NODE = 3 };
enum { NRD_CMP_EQ = 0, NRD_CMP_NE, NRD_CMP_GT, NRD_CMP_LE, NRD_CMP_LT, NRD_CMP_GE };
/* Remote atomics. They return the value from before; with NRD_AMO_NO_RESULT, 0,
 * and the update may be carried out later, as a put is. */
enum {
  NRD_AMO_SET = 1,
  NRD_AMO_ADD,
  NRD_AMO_AND,
  NRD_AMO_OR,
  NRD_AMO_XOR,
  NRD_AMO_SWAP,
  NRD_AMO_COMPARE_SWAP,
  NRD_AMO_FETCH,
  NRD_AMO_CHANGE, /* any other: nrd_atomic_begin alone takes it */
  NRD_AMO_NO_RESULT = 256
};
/* Teams that need not be made; handles of others come from the host. */
enum {
  NRD_TEAM_INVALID = -1,
  NRD_TEAM_WORLD = 0,
  NRD_TEAM_SHARED = 1,       /* ranks whose memory this rank can address */
  NRD_TEAM_NODE = 2,         /* ranks of this node                       */
  NRD_TEAM_SAME_PE_NODE = 3, /* ranks with this one's number on their nodes */
  NRD_TEAM_FIRST = 8         /* handles of split teams start here        */
};
/* How a barrier or collective is called. */
enum {
  NRD_BARRIER_SYNC = 1, /* does not complete outstanding transfers */
  NRD_BARRIER_GATED = 2 /* only one vector core of the program calls it */
};

/* Flags of nrd_check_word. */
enum {
  NRD_WORD_SIGNED = 1, /* the value is the bits of a signed number     */
  NRD_WORD_NUMBER = 2  /* what it becomes is read as a signed number   */
};

/* ---- scheduling ---------------------------------------------------------- */

/* Lets other programs run. Called on the back edge of every loop that polls
 * memory which other programs write, in small loops every so many rounds. With
 * NRD_FIRST_YIELD added to the site it is the first call since the program
 * entered the loop. */
#define NRD_FIRST_YIELD 0x80000000u
void nrd_yield(nrd_program *prog, uint32_t site);

/* Nanoseconds of a clock that never goes back; for loops that poll until a
 * time has passed. */
uint64_t nrd_clock_ns(nrd_program *prog);

/* ---- signals ------------------------------------------------------------- */

/* Numbers for the waits of one kernel (NRD_WAIT_SLOT); all others share the last. */
enum { NRD_WAIT_SLOTS = 8 };

/* dl.wait: returns when each of `count` slots from `slots` on, `elem_bytes`
 * wide (1, 2, 4 or 8) and wait_stride apart, equals `value` (compared as
 * unsigned bits of that width). Acquire. No slots: returns at once; a negative
 * count fails. Returns a token, always 0. In an instrumented kernel elem_bytes
 * has 256 times 1 + the wait's number added, when only what depends on its token
 * is ordered after it. */
int32_t nrd_wait(nrd_program *prog, void *slots, int32_t count, int64_t value, int32_t elem_bytes,
                 uint32_t site);

/* dl.notify: release, then set or add `value` to the signal that lies at the
 * same heap offset as `signal` on `rank`. */
void nrd_notify(nrd_program *prog, void *signal, int64_t value, int32_t rank, int32_t sig_op,
                int32_t comm_scope, int32_t elem_bytes, uint32_t site);

/* ---- failures found by generated code ------------------------------------ */

/* dl.symm_at got a rank outside 0..num_ranks-1. */
void nrd_fail_rank(nrd_program *prog, int32_t rank, uint32_t site);
/* dl.symm_at (or a call that needs a symmetric address) got a pointer that
 * lies in no symmetric heap of this rank. */
void nrd_fail_not_symmetric(nrd_program *prog, const void *ptr, uint32_t site);
/* `value` is about to become `bits` bits, fewer than 64 (NRD_WORD_*). For the word
 * of a signal, an element or an atomic it fails when these hold it neither as a
 * signed nor as an unsigned number; a rank, a count or an offset has to stay the
 * same signed number. */
void nrd_check_word(nrd_program *prog, uint64_t value, int32_t bits, int32_t flags, uint32_t site);
/* tl.device_assert failed; `message` is zero-terminated. */
void nrd_fail_assert(nrd_program *prog, const char *message, uint32_t site);

/* tl.device_print: `count` elements of one operand. kind: 0 signed int,
 * 1 unsigned int, 2 float, 3 pointer; elem_bytes 1, 2, 4 or 8 (2-byte floats
 * are passed as 4-byte ones). `prefix` is zero-terminated. */
void nrd_print(nrd_program *prog, const char *prefix, const void *elements, int64_t count,
               int32_t kind, int32_t elem_bytes, int32_t hex, uint32_t site);

/* ---- libshmem_device ------------------------------------------------------
 * One entry point per function family; the `_block`, `_warp`, `_wave`, `_wg`
 * and `_vec` spellings of the language map to the same one. */

/* All programs of all ranks take part; everything written before is visible
 * after. */
void nrd_barrier_all(nrd_program *prog, uint32_t site);

/* Address of `ptr`'s place in `pe`'s heap. */
void *nrd_shmem_ptr(nrd_program *prog, void *ptr, int32_t pe, uint32_t site);

/* dest is symmetric (put) / source is symmetric (get); bytes >= 0. The
 * non-blocking forms complete at nrd_shmem_quiet. */
void nrd_shmem_put(nrd_program *prog, void *dest, const void *source, uint64_t bytes, int32_t pe,
                   int32_t nbi, uint32_t site);
void nrd_shmem_get(nrd_program *prog, void *dest, const void *source, uint64_t bytes, int32_t pe,
                   int32_t nbi, uint32_t site);
/* The data is visible before the signal update is. sig_op is NRD_SIG_*. */
void nrd_shmem_put_signal(nrd_program *prog, void *dest, const void *source, uint64_t bytes,
                          void *signal, uint64_t value, int32_t sig_op, int32_t pe,
                          int32_t sig_bytes, int32_t nbi, uint32_t site);
void nrd_shmem_signal_op(nrd_program *prog, void *signal, uint64_t value, int32_t sig_op,
                         int32_t pe, int32_t sig_bytes, uint32_t site);
/* Single element: stores the low elem_bytes bytes of `value`. */
void nrd_shmem_p(nrd_program *prog, void *dest, uint64_t value, int32_t elem_bytes, int32_t pe,
                 uint32_t site);
uint64_t nrd_shmem_g(nrd_program *prog, const void *source, int32_t elem_bytes, int32_t pe,
                     uint32_t site);
/* Waits until `*signal CMP value` holds (signed comparison when is_signed);
 * acquire; returns the value that satisfied it. cmp is NRD_CMP_*. */
uint64_t nrd_shmem_wait_until(nrd_program *prog, const void *signal, int32_t cmp, uint64_t value,
                              int32_t elem_bytes, int32_t is_signed, uint32_t site);
void nrd_shmem_fence(nrd_program *prog, uint32_t site);
void nrd_shmem_quiet(nrd_program *prog, uint32_t site);
/* The same for the operations to one rank. */
void nrd_shmem_fence_pe(nrd_program *prog, int32_t pe, uint32_t site);
void nrd_shmem_quiet_pe(nrd_program *prog, int32_t pe, uint32_t site);
/* Barrier without completion of outstanding transfers. */
void nrd_shmem_sync_all(nrd_program *prog, uint32_t site);
/* Atomic update of the 4 or 8 bytes at `ptr`'s place in `pe`'s heap; op is
 * NRD_AMO_*, `compare` is for NRD_AMO_COMPARE_SWAP. */
uint64_t nrd_shmem_atomic(nrd_program *prog, void *ptr, uint64_t value, uint64_t compare,
                          int32_t op, int32_t elem_bytes, int32_t pe, uint32_t site);

/* ---- teams ----------------------------------------------------------------
 * A handle that is NRD_TEAM_INVALID has no members; one that is no team of
 * this job fails. */

/* This rank's number in the team, -1 when it is no member. */
int32_t nrd_team_my_pe(nrd_program *prog, int32_t team, uint32_t site);
/* Number of members, -1 of NRD_TEAM_INVALID. */
int32_t nrd_team_n_pes(nrd_program *prog, int32_t team, uint32_t site);
/* Number in team `to` of member `pe` of team `from`, -1 when there is none. */
int32_t nrd_team_translate_pe(nrd_program *prog, int32_t from, int32_t pe, int32_t to,
                              uint32_t site);
/* Collective among the members; who of a rank's programs takes part is a matter
 * of the profile. flags are NRD_BARRIER_*. */
void nrd_team_barrier(nrd_program *prog, int32_t team, int32_t flags, uint32_t site);
/* `bytes` bytes from `source` of member `root` to `dest` of every member. */
void nrd_team_broadcast(nrd_program *prog, int32_t team, void *dest, const void *source,
                        uint64_t bytes, int32_t root, int32_t flags, uint32_t site);
/* `bytes` bytes of each member, one after the other in its order, to `dest` of
 * every member. */
void nrd_team_fcollect(nrd_program *prog, int32_t team, void *dest, const void *source,
                       uint64_t bytes, int32_t flags, uint32_t site);

/* ---- observed accesses ----------------------------------------------------
 * Called by kernels that were compiled with the option `instrument`, and by no
 * others: they tell the observer of the rank what generated code does itself.
 * Without an observer they return at once. */

enum { NRD_TILE_DIMS = 6 };
/* Addresses of a tile of shape[0] x ... x shape[rank - 1] elements. Element
 * (i0, i1, ...) lies at base + i0 * stride[0] + i1 * stride[1] + ... */
typedef struct nrd_tile {
  const void *base;
  /* Not null: the address of each element, in row-major order, instead. */
  const uint64_t *addresses;
  /* One byte for each element, in row-major order, or null; and one for each index
   * of a dimension, or null. An element is accessed when none of its bytes is 0. */
  const uint8_t *mask;
  const uint8_t *masks[NRD_TILE_DIMS];
  int64_t stride[NRD_TILE_DIMS]; /* in bytes */
  int64_t shape[NRD_TILE_DIMS];
  int64_t rank; /* 0: one element, at base */
} nrd_tile;

/* How an access is made: one of these, plus 256 times the bytes of an element, plus
 * 65536 times a bit for each number of a wait on whose token it does not depend. */
enum { NRD_ACCESS_READ = 1, NRD_ACCESS_WRITE = 2, NRD_ACCESS_VOLATILE = 4 };
/* Orders and scopes of atomic operations. */
enum { NRD_SEM_RELAXED = 1, NRD_SEM_ACQUIRE, NRD_SEM_RELEASE, NRD_SEM_ACQ_REL };
enum { NRD_SCOPE_GPU = 1, NRD_SCOPE_CTA, NRD_SCOPE_SYS };

/* The elements of `tile` are about to be read or written. */
void nrd_access(nrd_program *prog, const nrd_tile *tile, int32_t how, uint32_t site);
/* Around one atomic operation on the word at `ptr`, with nothing between but that.
 * how: NRD_AMO_*, plus bytes of the word << 8, NRD_SEM_* << 16, NRD_SCOPE_* << 24.
 * `value` and `compare` are its operands' bits. */
void nrd_atomic_begin(nrd_program *prog, const void *ptr, uint64_t value, uint64_t compare,
                      int32_t how, uint32_t site);
void nrd_atomic_end(nrd_program *prog, uint32_t site);
/* The word at `ptr` has been read in one piece, and was `value`: by a loop that
 * waits for it, or by a load that orders. how: as above, without an operation. */
void nrd_atomic_seen(nrd_program *prog, const void *ptr, uint64_t value, int32_t how,
                     uint32_t site);

/* ---- vector cores --------------------------------------------------------- */

/* In a launch with several vector cores per program: vector core 0 hands `value`
 * to the others, which get it. Called by all of them equally often. */
uint64_t nrd_lane_share(nrd_program *prog, uint64_t value, uint32_t site);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_ABI_H */
