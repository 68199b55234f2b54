// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Segment.cpp - One file, mapped by every rank -----------------------===//
//
//       control block │ nothing │ heap of rank 0 │ heap of rank 1 │ ... │ nothing
//
// One memfd holds the control block and, behind it, all heaps; in the address
// space there is a gap on either side of the heaps (`guardFor`). First the
// whole range is reserved without access, then both parts are mapped into it:
// nothing else can come to lie in a gap.
//
// Whoever attaches has only a number of a descriptor, from the environment,
// where anything may stand. So the header is read with pread and checked before
// anything is mapped: kind of file, magic, version, size. The size is sealed; a
// rank cannot shrink the file, which would make the others fault.
//
// isolate() takes away what lies on other nodes. A transport that moves bytes
// between nodes by itself still needs it: it gets a second mapping (keepReach),
// at another place, to which no pointer of a program leads.
//
//===----------------------------------------------------------------------===//
#include "control/machine/Segment.h"

#include "base/Process.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace nereid::runtime {

static void fillHeader(JobHeader &header, int32_t worldSize, uint64_t heapBytes, int32_t blocks) {
  header.version = kSegmentVersion;
  header.worldSize = worldSize;
  header.heapBytes = heapBytes;
  header.controlBytes = ControlBlock::bytesFor(worldSize) * uint64_t(blocks);
  header.blocks = blocks;
  header.magic = kSegmentMagic;
}

Status Segment::map(uint64_t controlBytes, uint64_t heapsBytes, uint64_t guardBytes) {
  auto failed = [&] {
    int error = errno;
    return Status::error(StatusCode::OutOfMemory,
                         "cannot map " + std::to_string((controlBytes + heapsBytes) >> 20) +
                             " MiB of symmetric memory (" + std::strerror(error) +
                             "); choose a smaller NEREID_HEAP_SIZE or raise `ulimit -v`");
  };
  // Around the heaps nothing is mapped: a kernel that leaves them faults
  // instead of writing into the control block or somebody else's memory.
  mappedBytes = controlBytes + heapsBytes + 2 * guardBytes;
  void *all =
      mmap(nullptr, mappedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED)
    return failed();
  base = static_cast<uint8_t *>(all);
  heaps = base + controlBytes + guardBytes;
  for (auto [at, bytes, offset] :
       {std::tuple(base, controlBytes, uint64_t(0)), std::tuple(heaps, heapsBytes, controlBytes)})
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd,
             off_t(offset)) == MAP_FAILED)
      return failed();
  // A crash of one rank must not write all heaps into its core file.
  madvise(base, controlBytes, MADV_DONTDUMP);
  madvise(heaps, heapsBytes, MADV_DONTDUMP);
  return {};
}

/// As far as a heap reaches, but never a noticeable part of the address space.
static uint64_t guardFor(uint64_t heapBytes) { return std::min(heapBytes, uint64_t(256) << 20); }

Expected<std::shared_ptr<Segment>> Segment::create(int32_t worldSize, uint64_t heapBytes,
                                                   int32_t blocks) {
  std::shared_ptr<Segment> s(new Segment);
  s->fd = memfd_create("nereid-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (s->fd < 0)
    return systemError("memfd_create", errno);
  uint64_t control = ControlBlock::bytesFor(worldSize) * uint64_t(blocks);
  if (heapBytes > (uint64_t(1) << 46) / uint64_t(worldSize))
    return Status::error(StatusCode::OutOfMemory,
                         std::to_string(worldSize) + " heaps of " +
                             std::to_string(heapBytes >> 20) +
                             " MiB do not fit into the address space; choose "
                             "a smaller NEREID_HEAP_SIZE");
  uint64_t heapsBytes = uint64_t(worldSize) * heapBytes;
  if (ftruncate(s->fd, off_t(control + heapsBytes)) < 0)
    return systemError("cannot size the job's memory", errno);
  // Nobody may shrink it under another rank's feet.
  fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  if (Status st = s->map(control, heapsBytes, guardFor(heapBytes)); !st.ok())
    return st;
  for (int32_t b = 0; b < blocks; ++b)
    fillHeader(ControlBlock(s->base + uint64_t(b) * ControlBlock::bytesFor(worldSize)).header(),
               worldSize, heapBytes, blocks);
  return s;
}

Expected<std::shared_ptr<Segment>> Segment::attach(int fd) {
  std::shared_ptr<Segment> s(new Segment);
  s->fd = fd;
  struct stat info;
  if (fstat(fd, &info) < 0)
    return Status::error(StatusCode::Environment,
                         "NEREID_JOB_FD=" + std::to_string(fd) +
                             " is not an open file: the variables of a rank are "
                             "for its own process, not for others that it "
                             "starts");
  JobHeader probe;
  std::memset(static_cast<void *>(&probe), 0, sizeof(probe));
  size_t head = offsetof(JobHeader, speaker);
  if (!S_ISREG(info.st_mode) || uint64_t(info.st_size) < sizeof(JobHeader) ||
      pread(fd, static_cast<void *>(&probe), head, 0) != ssize_t(head) ||
      probe.magic != kSegmentMagic) {
    return Status::error(StatusCode::Environment,
                         "descriptor " + std::to_string(fd) +
                             " is not the memory of a Nereid job; NEREID_JOB_FD "
                             "must not be set by hand");
  }
  if (probe.version != kSegmentVersion)
    return Status::error(StatusCode::Environment,
                         "this job was started by another version of Nereid");
  uint64_t heapsBytes = uint64_t(probe.worldSize) * probe.heapBytes;
  if (probe.controlBytes + heapsBytes > uint64_t(info.st_size) || probe.blocks < 1 ||
      probe.controlBytes != ControlBlock::bytesFor(probe.worldSize) * uint64_t(probe.blocks))
    return Status::error(StatusCode::Environment, "the memory of the job has the wrong size");
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (Status st = s->map(probe.controlBytes, heapsBytes, guardFor(probe.heapBytes)); !st.ok())
    return st;
  return s;
}

Expected<std::shared_ptr<Segment>> Segment::createPrivate() {
  std::shared_ptr<Segment> s(new Segment);
  s->mappedBytes = ControlBlock::bytesFor(1);
  void *at = mmap(nullptr, s->mappedBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return systemError("mmap", errno);
  s->base = static_cast<uint8_t *>(at);
  fillHeader(s->header(), 1, 0, 1);
  return s;
}

uint64_t Segment::identity() const {
  struct stat info;
  return fd >= 0 && fstat(fd, &info) == 0 ? uint64_t(info.st_ino) : 0;
}

Status Segment::isolate(int32_t first, int32_t count, bool keepReach) {
  uint64_t bytes = heapBytes() * uint64_t(worldSize());
  uint64_t control = header().controlBytes;
  isolated = true;
  if (keepReach) {
    void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                    off_t(control));
    if (at == MAP_FAILED)
      return systemError("cannot map the heaps of other nodes", errno);
    reach = static_cast<uint8_t *>(at);
    madvise(reach, bytes, MADV_DONTDUMP);
  }
  uint64_t begin = uint64_t(first) * heapBytes();
  uint64_t end = std::min(bytes, begin + uint64_t(count) * heapBytes());
  if ((begin && mprotect(heaps, begin, PROT_NONE) != 0) ||
      (end < bytes && mprotect(heaps + end, bytes - end, PROT_NONE) != 0))
    return systemError("cannot close the heaps of other nodes", errno);
  return {};
}

Segment::~Segment() {
  if (reach)
    munmap(reach, heapBytes() * uint64_t(worldSize()));
  if (base)
    munmap(base, mappedBytes);
  if (fd >= 0)
    close(fd);
}

} // namespace nereid::runtime
