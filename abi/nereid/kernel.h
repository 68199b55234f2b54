/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*===- kernel.h - What a compiled kernel says about itself -----------------===*
 *
 * The object file of a kernel is an ELF file that can be relocated. Its section
 * NRD_KERNEL_SECTION says what a loader and a launch must know: one
 * nrd_kernel_info, then the tables that it points to, then their strings.
 *
 *     nrd_kernel_info | nrd_kernel_arg[] | symmetric bitmap | nrd_kernel_site[]
 *                     | nrd_kernel_line[] | strings
 *
 * Positions are bytes from the beginning of the section; strings end with a zero
 * byte and lie between `strings` and the end of the section. Nothing in it is
 * relocated. Numbers are little-endian.
 *
 * A loader believes nothing of it before it has compared the magic number, the
 * version of the interface, and the checksum of the file.
 *===-----------------------------------------------------------------------===*/
#ifndef NEREID_KERNEL_H
#define NEREID_KERNEL_H

#include "nereid/abi.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NRD_KERNEL_SECTION ".nereid.kernel"
#define NRD_KERNEL_MAGIC 0x6c656e72656b646eull /* "ndkernel" */

/* nrd_kernel_info.flags */
enum {
  NRD_KERNEL_BLOCKING = 1,     /* programs must be able to wait for each other  */
  NRD_KERNEL_DISTRIBUTED = 2,  /* uses ranks, signals or symmetric memory       */
  NRD_KERNEL_INSTRUMENTED = 4, /* tells observers of its own accesses          */
  NRD_KERNEL_ALL_FLAGS = 7
};

/* An instruction of which no place is known. */
#define NRD_NO_SITE 0xffffffffu

typedef struct nrd_kernel_info {
  /* These keep their places in every version, so that each can name the other. */
  uint64_t magic;       /* NRD_KERNEL_MAGIC                                    */
  uint32_t abi_version; /* NRD_ABI_VERSION of the compiler                     */
  uint32_t size;        /* of this structure                                   */

  uint64_t checksum;      /* nrd_kernel_checksum of the file                   */
  uint64_t file_bytes;    /* size of the file                                  */
  uint64_t scratch_bytes; /* of tile buffers of one program                    */
  uint32_t section_bytes; /* size of the section                               */
  uint32_t flags;         /* NRD_KERNEL_*                                      */
  uint32_t lanes;         /* vector cores that run each program                */
  uint32_t code_bytes;    /* size of the section of code                       */
  uint32_t entry;         /* where in it the kernel's function begins          */
  uint32_t num_args, num_sites, num_lines;
  uint32_t args;         /* position of nrd_kernel_arg[num_args]               */
  uint32_t symmetric;    /* of uint64_t[(num_args + 63) / 64]: a bit for each
                            argument, set when it must be an address in
                            symmetric memory                                   */
  uint32_t sites;        /* of nrd_kernel_site[num_sites]                      */
  uint32_t lines;        /* of nrd_kernel_line[num_lines]                      */
  uint32_t strings;      /* of the first string                                */
  uint32_t name;         /* string: of the kernel, and of its symbol           */
  uint32_t launch_mode;  /* string: "cv0:1", "cv1:2" or nothing                */
  uint32_t architecture; /* string: "x86_64"                                   */
  uint32_t cpu;          /* string: the processor, as LLVM calls it            */
  uint32_t features;     /* string: what code may use, "avx,avx2,fma"          */
} nrd_kernel_info;

/* One slot of `args` in abi.h. */
typedef struct nrd_kernel_arg {
  uint32_t name;         /* string                                             */
  uint32_t type;         /* string: "*fp32", "i32", "bf16" ...                 */
  uint64_t divisibility; /* its value, or address, is a multiple of this; 0 or
                            1: of nothing                                      */
} nrd_kernel_arg;

/* A place in the user's source; `site` arguments are numbers of them. */
typedef struct nrd_kernel_site {
  uint32_t line, column;         /* from 1; 0: unknown                                 */
  uint32_t file, function, text; /* strings; text: of the line                 */
} nrd_kernel_site;

/* Instructions from `offset` in the section of code on, up to the next row's,
 * come from `site`. Rows are in order of their offsets. */
typedef struct nrd_kernel_line {
  uint32_t offset;
  uint32_t site; /* or NRD_NO_SITE                                             */
} nrd_kernel_line;

/* Of `size` bytes of a file, with those of nrd_kernel_info.checksum, which begin
 * at `hole`, taken as zero. Finds every change inside eight bytes, and others
 * but one in 2^64; it is no protection against intent. */
static inline uint64_t nrd_kernel_checksum(const void *file, uint64_t size, uint64_t hole) {
  const unsigned char *bytes = (const unsigned char *)file;
  uint64_t sum = size ^ 0x9e3779b97f4a7c15ull;
  uint64_t at = 0;
  while (at < size) {
    uint64_t n = size - at < 8 ? size - at : 8, word = 0;
    /* Words end at the hole, which is none of them. */
    if (at < hole && hole - at < n)
      n = hole - at;
    if (at != hole)
      memcpy(&word, bytes + at, (size_t)n);
    sum = (sum ^ word) * 0xff51afd7ed558ccdull;
    sum ^= sum >> 32;
    at += n;
  }
  return sum;
}

#ifdef __cplusplus
}
#endif

#endif /* NEREID_KERNEL_H */
