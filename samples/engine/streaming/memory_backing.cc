#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include "samples/engine/streaming/backing.h"

namespace dmengine {
namespace {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;

class MemoryBacking final : public BackingStore {
 public:
  MemoryBacking(std::string path, std::unique_ptr<std::byte[]> bytes, std::uint64_t size)
      : path_(std::move(path)), bytes_(std::move(bytes)), size_(size) {}

  std::uint64_t buffer_bytes(Extent extent) const override {
    return (extent.bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  }

  Result<ReadResult> read(Extent extent, std::byte* buffer) override {
    if (extent.offset > size_ || extent.bytes > size_ - extent.offset) {
      return fail(ErrorKind::environment,
                  fmt::format("{}: a block lies outside the file; convert the model again", path_));
    }
    std::memcpy(buffer, bytes_.get() + extent.offset, extent.bytes);
    return ReadResult{0, extent.bytes};
  }

  std::string describe() const override { return "memory"; }

 private:
  std::string path_;
  std::unique_ptr<std::byte[]> bytes_;
  std::uint64_t size_;
};

}  // namespace

// The file is read rather than mapped: a model file that shrinks while it is mapped would end the engine with SIGBUS.
Result<std::unique_ptr<BackingStore>> open_memory_backing(const std::string& path, std::uint64_t file_bytes) {
  std::unique_ptr<std::byte[]> bytes(new (std::nothrow) std::byte[file_bytes]);
  if (!bytes) {
    return fail(ErrorKind::environment,
                fmt::format("{}: no memory for its {} bytes; use --backing file", path, file_bytes));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(bytes.get()), static_cast<std::streamsize>(file_bytes)) || in.peek() != EOF) {
    return fail(ErrorKind::environment,
                fmt::format("{}: cannot be read in full; did it change while the engine started?", path));
  }
  return std::make_unique<MemoryBacking>(path, std::move(bytes), file_bytes);
}

}  // namespace dmengine
