// Where blocks come from when they are not resident: a file read past the page cache, or memory behind an imitated
// link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"

namespace dmengine {

// A link that serves one transfer at a time: a transfer begins when the link is free and the latency since its issue
// has passed, and takes bytes / bandwidth.
struct ThrottleSpec {
  double bytes_per_second = 0;
  std::int64_t latency_ns = 0;
};

struct BackingSpec {
  bool throttled = false;  // false: the model file itself
  ThrottleSpec throttle;
};

// "file" or "throttle:BANDWIDTH[,LATENCY]", for example "throttle:2GB/s,20us". Bandwidth: B/s, kB/s, MB/s, GB/s, TB/s
// (powers of 1000) or KiB/s, MiB/s, GiB/s; at least 1 kB/s. Latency: ns, us, ms, s; at most 10 s; 0 where it is left
// out. Errors are usage and show an example.
dmprof::Result<BackingSpec> parse_backing(std::string_view text);

struct Extent {
  std::uint64_t offset = 0;  // in the model file
  std::uint64_t bytes = 0;   // above 0
};

struct ReadResult {
  std::size_t offset = 0;   // where in the buffer the extent begins
  std::uint64_t moved = 0;  // bytes read, alignment included
};

// Buffers start at a multiple of this and their size is one; O_DIRECT asks for it.
inline constexpr std::size_t kBufferAlignment = 4096;

// Bytes of one model. Used by one thread at a time (the streamer serialises transfers).
class BackingStore {
 public:
  virtual ~BackingStore() = default;

  // Size of the buffer that read() needs: a multiple of kBufferAlignment, at least the extent's bytes.
  virtual std::uint64_t buffer_bytes(Extent extent) const = 0;
  // environment when it cannot be read.
  virtual dmprof::Result<ReadResult> read(Extent extent, std::byte* buffer) = 0;
  // For people: "file, O_DIRECT", "file, buffered (this file system refuses O_DIRECT)", "memory".
  virtual std::string describe() const = 0;
};

// Reads with O_DIRECT. Where the file system refuses that (tmpfs, some overlays) reads are buffered: then the page
// cache answers and the tier measured is DRAM; describe() says so. `file_bytes`: the size the file must have.
dmprof::Result<std::unique_ptr<BackingStore>> open_file_backing(const std::string& path, std::uint64_t file_bytes);
// The whole file in memory; the caller imitates the link.
dmprof::Result<std::unique_ptr<BackingStore>> open_memory_backing(const std::string& path, std::uint64_t file_bytes);

}  // namespace dmengine
