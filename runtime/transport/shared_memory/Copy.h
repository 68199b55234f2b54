// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Copy.h - Moves bytes between heaps ---------------------------------===//
//
// Not memcpy: the C library's uses `rep movsb` for the sizes of tiles, which
// runs at a sixteenth of its speed when source and destination have nearly the
// same offset inside their pages, as symmetric buffers do. It also never
// bypasses the caches, although a push into lines that the peer has cached is
// several times slower with ordinary stores.
//
//===----------------------------------------------------------------------===//
#ifndef NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_COPY_H
#define NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_COPY_H

#include <cstdint>

namespace nereid::runtime {

/// Reads a peer's memory (or copies locally): ordinary loads and stores.
void copyPull(void *to, const void *from, uint64_t bytes);
/// Writes a peer's memory; large ones around the caches. The data is ordered
/// before every store that follows.
void copyPush(void *to, const void *from, uint64_t bytes);

} // namespace nereid::runtime

#endif // NEREID_RUNTIME_TRANSPORT_SHARED_MEMORY_COPY_H
