// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CUDADevice.cpp - NVIDIA's GPUs -------------------------------------===//
//
// One process a GPU, or several ranks of a process on one: rank r has the GPU r modulo
// their number. docs/nvidia.md describes it.
//
// The heaps of a job lie in one reserved range of addresses, rank behind rank:
//
//   | the ranks' part | state words | to a granule | one granule of nothing | next rank
//     HeapShape::bytes, one allocation of memory     so that what goes past a heap faults
//
// Each is the memory of its owner's GPU, mapped here for all GPUs of this process
// (mapFor). So these must be open before the first heap is mapped, which prepare() sees
// to, and must reach each other with atomic operations, or signals could not work.
//
// Memory that is allocated is known by a descriptor or a mapping and by nothing else: the
// handle of it is given back at once, and it goes away with the last of those.
//
//===----------------------------------------------------------------------===//
#include "base/Knobs.h"
#include "device/cuda/RankExecutor.h"
#include "nereid/runtime/KernelObject.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace nereid::runtime {

Device &cudaDevice();

using namespace cuda;

namespace {

uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

cuda::Address addressOf(const void *at) { return cuda::Address(reinterpret_cast<uintptr_t>(at)); }

/// The GPU of a rank.
Expected<GPU *> gpuOf(int32_t rank) {
  Expected<const Driver *> driver = Driver::get();
  if (!driver.ok())
    return driver.status();
  return GPU::open(Ordinal(rank % (*driver)->devices));
}

/// The GPU of this process, or one of them: the first that a rank has, else GPU 0.
Expected<GPU *> anyGPU() {
  std::vector<GPU *> used = GPU::opened();
  return used.empty() ? gpuOf(0) : Expected<GPU *>(used.front());
}

class CUDADevice final : public Device {
public:
  const char *name() const override { return "cuda"; }

  std::string description() const override {
    Expected<const Driver *> driver = Driver::get();
    if (!driver.ok())
      return driver.status().message();
    std::string text;
    for (Ordinal i = 0; i < (*driver)->devices; ++i) {
      char name[256] = {};
      Ordinal device = 0;
      (*driver)->deviceGet(&device, i);
      (*driver)->deviceName(name, sizeof(name), device);
      text += (i ? ", " : "") + std::string(name);
    }
    return text + "; driver for CUDA " + std::to_string((*driver)->version / 1000) + "." +
           std::to_string((*driver)->version % 1000 / 10);
  }

  //===--- kernels --------------------------------------------------------===//

  Expected<std::shared_ptr<Kernel>> load(std::string_view object) override {
    CUDAImage image;
    std::string_view cubin;
    Expected<KernelDescription> description = read(object, image, cubin);
    if (!description.ok())
      return description.status();
    auto kernel = std::make_shared<CUDAKernel>(
        *this, std::make_shared<const KernelDescription>(std::move(*description)), image,
        std::string(cubin));
    // Now rather than at the first launch, which another one may be waiting for.
    for (GPU *gpu : GPU::opened()) {
      GPU::Scope scope(*gpu);
      if (Expected<const LoadedCode *> code = kernel->on(*gpu); !code.ok())
        return code.status();
    }
    return std::shared_ptr<Kernel>(std::move(kernel));
  }

  Expected<KernelDescription> describe(std::string_view object) override {
    CUDAImage image;
    std::string_view cubin;
    return read(object, image, cubin);
  }

  std::unique_ptr<Executor> open(Job &job) override {
    Job::Impl &impl = job.impl();
    Expected<GPU *> gpu = gpuOf(impl.rank);
    if (!gpu.ok())
      return std::make_unique<RankExecutor>(impl, gpu, 1);
    const Sharers sharers = sharersOf(impl, **gpu);
    // Each process may see another GPU as its first.
    if (sharers.elsewhere && impl.rank == sharers.first && !std::getenv("CUDA_VISIBLE_DEVICES"))
      std::fprintf(stderr,
                   "nereid: %d ranks share GPU %d (%s): their processes take turns, so that a "
                   "wait of one for another takes milliseconds\n",
                   sharers.here + sharers.elsewhere, (*gpu)->ordinal, (*gpu)->name.c_str());
    return std::make_unique<RankExecutor>(impl, gpu, sharers.here);
  }

  Expected<std::optional<int32_t>> programsAtOnce(const Job &job) override {
    Expected<GPU *> gpu = gpuOf(job.rank());
    if (!gpu.ok())
      return gpu.status();
    const int32_t here = sharersOf(job.impl(), **gpu).here;
    return std::optional<int32_t>(std::max((*gpu)->multiprocessors / here, 1));
  }

  //===--- memory ---------------------------------------------------------===//

  bool hasHostMemory() const override { return false; }

  /// Opens their GPUs, so that what is mapped later is so for all of them, and what is
  /// asked for without a rank is on one of theirs.
  Status prepare(const std::vector<int32_t> &ranks) override {
    for (int32_t rank : ranks) {
      Expected<GPU *> gpu = gpuOf(rank);
      if (!gpu.ok())
        return gpu.status();
      if (Status st = checkPeers(**gpu); !st.ok())
        return st;
    }
    return {};
  }

  /// The ranks' part, the state words, and a granule that stays unmapped: what goes
  /// past the end of a heap faults instead of writing into the next rank's.
  Expected<HeapShape> heapShape(uint64_t bytes) override {
    Expected<GPU *> gpu = anyGPU();
    if (!gpu.ok())
      return gpu.status();
    HeapShape shape;
    shape.bytes = alignTo(bytes + state_word::count * 4, (*gpu)->granularity);
    shape.stride = shape.bytes + (*gpu)->granularity;
    return shape;
  }

  Expected<uint8_t *> reserveHeaps(uint64_t bytes) override {
    Expected<GPU *> gpu = anyGPU();
    if (!gpu.ok())
      return gpu.status();
    GPU::Scope scope(**gpu);
    cuda::Address at = 0;
    if (Status st = (*gpu)->driver.check(
            (*gpu)->driver.reserve(&at, bytes, (*gpu)->granularity, 0, 0), "cuMemAddressReserve");
        !st.ok())
      return st;
    return reinterpret_cast<uint8_t *>(uintptr_t(at));
  }

  void releaseHeaps(uint8_t *at, uint64_t bytes) override {
    if (Expected<GPU *> gpu = anyGPU(); gpu.ok()) {
      GPU::Scope scope(**gpu);
      (*gpu)->driver.freeReserved(addressOf(at), bytes);
    }
  }

  Expected<HeapHandle> allocateHeap(uint64_t bytes, int32_t rank) override {
    Expected<GPU *> gpu = gpuOf(rank);
    if (!gpu.ok())
      return gpu.status();
    const Driver &driver = (*gpu)->driver;
    GPU::Scope scope(**gpu);
    AllocationProperties properties;
    properties.exportableAs = fileDescriptor;
    properties.location.id = (*gpu)->ordinal;
    cuda::Allocation memory = 0;
    if (Status st =
            driver.check(driver.createMemory(&memory, bytes, &properties, 0), "cuMemCreate");
        !st.ok())
      return Status::error(st.code(), "cannot have " + std::to_string(bytes >> 20) +
                                          " MiB of GPU " + std::to_string((*gpu)->ordinal) +
                                          " for the symmetric heap of rank " +
                                          std::to_string(rank) + ": " + st.message());
    HeapHandle heap;
    heap.bytes = bytes;
    Status st = driver.check(driver.exportMemory(&heap.descriptor, memory, fileDescriptor, 0),
                             "cuMemExportToShareableHandle");
    if (st.ok())
      st = clear(**gpu, memory, bytes);
    driver.releaseMemory(memory); // the descriptor keeps it
    if (!st.ok()) {
      if (heap.descriptor >= 0)
        close(heap.descriptor);
      return st;
    }
    return heap;
  }

  Status mapHeap(const HeapHandle &heap, uint8_t *at) override {
    Expected<GPU *> gpu = anyGPU();
    if (!gpu.ok())
      return gpu.status();
    if (heap.offset != 0)
      return Status::error(StatusCode::InvalidArgument,
                           "a heap of the device 'cuda' is mapped as a whole");
    const Driver &driver = (*gpu)->driver;
    GPU::Scope scope(**gpu);
    cuda::Allocation memory = 0;
    auto handle = reinterpret_cast<void *>(uintptr_t(heap.descriptor));
    if (Status st = driver.check(driver.importMemory(&memory, handle, fileDescriptor),
                                 "cuMemImportFromShareableHandle");
        !st.ok())
      return st;
    Status st = mapFor(driver, GPU::opened(), memory, addressOf(at), heap.bytes);
    driver.releaseMemory(memory); // the mapping keeps it
    return st;
  }

  void unmapHeap(uint8_t *at, uint64_t bytes) override {
    if (std::vector<GPU *> used = GPU::opened(); !used.empty()) {
      GPU::Scope scope(*used.front());
      used.front()->driver.unmap(addressOf(at), bytes);
    }
  }

  Expected<void *> allocate(uint64_t bytes) override {
    Expected<GPU *> gpu = anyGPU();
    if (!gpu.ok())
      return gpu.status();
    GPU::Scope scope(**gpu);
    cuda::Address at = 0;
    if (Status st = (*gpu)->driver.check((*gpu)->driver.allocate(&at, bytes), "cuMemAlloc");
        !st.ok())
      return st;
    return reinterpret_cast<void *>(uintptr_t(at));
  }

  void release(void *memory) override {
    if (Expected<GPU *> gpu = anyGPU(); gpu.ok()) {
      GPU::Scope scope(**gpu);
      (*gpu)->driver.free(addressOf(memory));
    }
  }

  Status copy(void *to, const void *from, uint64_t bytes) override {
    return inCopies([&](const Driver &driver, StreamRef stream) {
      return driver.check(driver.copy(addressOf(to), addressOf(from), bytes, stream),
                          "cuMemcpyAsync");
    });
  }

  Status update(void *word, int32_t op, uint64_t value, int32_t bytes) override {
    if (op != NRD_SIG_SET)
      return add(word, value, bytes);
    return inCopies([&](const Driver &driver, StreamRef stream) {
      return bytes == 4 ? driver.check(
                              driver.streamWritesWord(stream, addressOf(word), uint32_t(value), 0),
                              "cuStreamWriteValue32")
                        : driver.check(driver.streamWritesLong(stream, addressOf(word), value, 0),
                                       "cuStreamWriteValue64");
    });
  }

  Expected<uint64_t> read(const void *word, int32_t bytes) override {
    uint64_t value = 0;
    if (Status st = copy(&value, word, uint64_t(bytes)); !st.ok())
      return st;
    return value;
  }

  Status recover(uint8_t *parts, uint64_t stride, int32_t worldSize) override {
    return inCopies([&](const Driver &driver, StreamRef stream) {
      Status st;
      for (int32_t r = 0; r < worldSize && st.ok(); ++r)
        st = driver.check(
            driver.fill(addressOf(parts) + uint64_t(r) * stride, 0, state_word::count * 4, stream),
            "cuMemsetD8Async");
      return st;
    });
  }

private:
  /// What an object says, and what of it is for the GPU.
  static Expected<KernelDescription> read(std::string_view object, CUDAImage &image,
                                          std::string_view &cubin) {
    auto wrong = [](const std::string &why) {
      return Status::error(StatusCode::InvalidArgument,
                           "the kernel's object file cannot be read: " + why);
    };
    std::string_view code = codeBehind(object);
    if (code.empty())
      return wrong("it is not a kernel of the target cuda");
    Expected<CPUKernelDescription> description = describeKernel(object);
    if (!description.ok())
      return description.status();
    if (description->architecture.substr(0, 3) != "sm_" || code.size() < sizeof(CUDAImage))
      return wrong("it was compiled for " + description->architecture);
    std::memcpy(&image, code.data(), sizeof(image));
    auto isPower = [](uint32_t value) { return value && (value & (value - 1)) == 0; };
    if (image.size != sizeof(CUDAImage) || image.cubinBytes != code.size() - image.size ||
        !isPower(image.numWarps) || image.numWarps > 32 || !isPower(image.numCTAs) ||
        image.numCTAs > 16 || image.usesRuntime > 1)
      return wrong("it is damaged: its image contradicts itself");
    cubin = code.substr(image.size);
    description->sharedBytes = image.sharedBytes;
    return KernelDescription(std::move(*description));
  }

  /// The ranks on the GPU of a rank, itself among them.
  struct Sharers {
    int32_t here = 0;      ///< of this process
    int32_t elsewhere = 0; ///< of others
    int32_t first = 0;     ///< the lowest of all
  };
  static Sharers sharersOf(const Job::Impl &job, const GPU &gpu) {
    Sharers found;
    found.first = job.rank;
    for (int32_t r = 0; r < job.worldSize; ++r) {
      if (r % gpu.driver.devices != gpu.ordinal)
        continue;
      found.first = std::min(found.first, r);
      const bool here = r == job.rank || job.node.processOf(r) == int32_t(getpid());
      (here ? found.here : found.elsewhere) += 1;
    }
    return found;
  }

  /// Every two GPUs of this process must reach each other.
  static Status checkPeers(const GPU &gpu) {
    for (const GPU *other : GPU::opened()) {
      if (other->ordinal == gpu.ordinal)
        continue;
      int can = 0, atomics = 0;
      gpu.driver.canAccessPeer(&can, gpu.ordinal, other->ordinal);
      gpu.driver.peerAttribute(&atomics, between::nativeAtomics, gpu.ordinal, other->ordinal);
      if (!can || !atomics)
        return Status::error(StatusCode::Environment,
                             "GPU " + std::to_string(gpu.ordinal) + " and GPU " +
                                 std::to_string(other->ordinal) +
                                 (can ? " have no atomic operations on each other's memory"
                                      : " cannot reach each other's memory") +
                                 ": ranks on them can be in no job together");
    }
    return {};
  }

  static Status mapFor(const Driver &driver, const std::vector<GPU *> &gpus,
                       cuda::Allocation memory, cuda::Address at, uint64_t bytes) {
    if (Status st = driver.check(driver.map(at, bytes, 0, memory, 0), "cuMemMap"); !st.ok())
      return st;
    std::vector<AccessDescription> who;
    for (const GPU *gpu : gpus) {
      AccessDescription &access = who.emplace_back();
      access.location.id = gpu->ordinal;
    }
    Status st = driver.check(driver.setAccess(at, bytes, who.data(), who.size()), "cuMemSetAccess");
    if (!st.ok())
      driver.unmap(at, bytes);
    return st;
  }

  /// Zeroes memory that is mapped nowhere yet.
  static Status clear(GPU &gpu, cuda::Allocation memory, uint64_t bytes) {
    const Driver &driver = gpu.driver;
    cuda::Address at = 0;
    if (Status st =
            driver.check(driver.reserve(&at, bytes, gpu.granularity, 0, 0), "cuMemAddressReserve");
        !st.ok())
      return st;
    Status st = mapFor(driver, {&gpu}, memory, at, bytes);
    if (st.ok()) {
      std::lock_guard<std::mutex> guard(gpu.copiesLock);
      st = driver.check(driver.fill(at, 0, bytes, gpu.copies), "cuMemsetD8Async");
      if (st.ok())
        st = driver.check(driver.synchronizeStream(gpu.copies), "cuStreamSynchronize");
      driver.unmap(at, bytes);
    }
    driver.freeReserved(at, bytes);
    return st;
  }

  /// Carries out `work` in a stream of its own and waits for it.
  template <typename Work> static Status inCopies(const Work &work) {
    Expected<GPU *> any = anyGPU();
    if (!any.ok())
      return any.status();
    GPU &gpu = **any;
    GPU::Scope scope(gpu);
    GPU::OutsideOfCaptures outside(gpu.driver);
    std::lock_guard<std::mutex> guard(gpu.copiesLock);
    if (Status st = work(gpu.driver, gpu.copies); !st.ok())
      return st;
    return gpu.driver.check(gpu.driver.synchronizeStream(gpu.copies), "cuStreamSynchronize");
  }

  static Status add(void *word, uint64_t value, int32_t bytes) {
    Expected<GPU *> gpu = anyGPU();
    if (!gpu.ok())
      return gpu.status();
    return (*gpu)->add(addressOf(word), value, bytes);
  }
};

} // namespace

Device &cudaDevice() {
  static CUDADevice &instance = *new CUDADevice; // kernels outlive static objects
  return instance;
}

} // namespace nereid::runtime
