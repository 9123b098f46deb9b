#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "samples/engine/model/mapped_memory.h"
#include "samples/engine/model/weights.h"

namespace dmengine {

namespace {

class ResidentWeights final : public WeightSource {
 public:
  ResidentWeights(std::shared_ptr<const ModelLayout> layout, MappedMemory memory, uint64_t start)
      : layout_(std::move(layout)), memory_(std::move(memory)), start_(start) {}

  Result<std::span<const std::byte>> acquire(uint32_t block) override {
    const BlockInfo& info = layout_->blocks[block];
    return std::span<const std::byte>(memory_.data() + (info.file_offset - start_), info.bytes);
  }
  void release(uint32_t) override {}
  uint32_t max_held() const override { return std::numeric_limits<uint32_t>::max(); }

 private:
  std::shared_ptr<const ModelLayout> layout_;
  MappedMemory memory_;
  uint64_t start_;  // file offset of memory_[0]
};

Status read_range(const std::string& path, uint64_t start, std::span<std::byte> out) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto failed = [&](uint64_t at, const char* reason) -> Status {
    if (descriptor >= 0) close(descriptor);
    return fail(ErrorKind::environment,
                fmt::format("cannot read model '{}' at byte {}: {}; check the disk", path, at, reason));
  };
  if (descriptor < 0) return failed(0, std::strerror(errno));
  uint64_t done = 0;
  while (done < out.size()) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(out.size() - done, 64ULL << 20));
    const ssize_t got = pread(descriptor, out.data() + done, part, static_cast<off_t>(start + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return failed(start + done, got < 0 ? std::strerror(errno) : "the file shrank");
    done += static_cast<uint64_t>(got);
  }
  close(descriptor);
  return {};
}

}  // namespace

Result<std::unique_ptr<WeightSource>> open_resident_weights(std::shared_ptr<const ModelLayout> layout) {
  uint64_t start = std::numeric_limits<uint64_t>::max(), end = 0;
  for (const BlockInfo& block : layout->blocks) {
    start = std::min(start, block.file_offset);
    end = std::max(end, block.file_offset + block.bytes);
  }
  start = start / 64 * 64;  // rows keep the alignment they have in the file
  auto memory = MappedMemory::allocate(end - start, "the model's weights");
  if (!memory) return tl::unexpected(memory.error());
  if (auto status = read_range(layout->path, start, {memory->data(), memory->size()}); !status) {
    return tl::unexpected(status.error());
  }
  return std::make_unique<ResidentWeights>(std::move(layout), std::move(*memory), start);
}

}  // namespace dmengine
