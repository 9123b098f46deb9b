#include "samples/engine/model/mapped_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace dmengine {

dmprof::Result<MappedMemory> MappedMemory::allocate(uint64_t bytes, const char* purpose) {
  MappedMemory memory;
  if (bytes == 0) return memory;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return dmprof::fail(dmprof::ErrorKind::environment,
                        fmt::format("cannot allocate {} bytes for {}: {}; use a smaller model, batch or context", bytes,
                                    purpose, std::strerror(errno)));
  }
  madvise(data, bytes, MADV_HUGEPAGE);  // a hint: kernels without huge pages refuse it and nothing is lost
  memory.data_ = static_cast<std::byte*>(data);
  memory.bytes_ = bytes;
  return memory;
}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace dmengine
