#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "samples/engine/streaming/backing.h"

namespace dmengine {
namespace {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;

constexpr std::uint64_t round_down(std::uint64_t value) { return value / kBufferAlignment * kBufferAlignment; }
constexpr std::uint64_t round_up(std::uint64_t value) { return round_down(value + kBufferAlignment - 1); }

class FileBacking final : public BackingStore {
 public:
  FileBacking(std::string path, int file, bool direct) : path_(std::move(path)), file_(file), direct_(direct) {}
  ~FileBacking() override { ::close(file_); }

  // The pages that the extent touches. Buffered reads use the same shape, for O_DIRECT may be given up after the sizes
  // are known.
  std::uint64_t buffer_bytes(Extent extent) const override {
    return round_up(extent.offset + extent.bytes) - round_down(extent.offset);
  }

  Result<ReadResult> read(Extent extent, std::byte* buffer) override {
    const std::uint64_t first = round_down(extent.offset);
    const std::uint64_t wanted = buffer_bytes(extent);
    const std::uint64_t needed =
        extent.offset - first + extent.bytes;  // less at the end of the file, whose tail is no full page
    std::uint64_t got = 0;
    while (got < needed) {
      const ssize_t count = ::pread(file_, buffer + got, wanted - got, static_cast<off_t>(first + got));
      if (count > 0) {
        got += static_cast<std::uint64_t>(count);
        if (direct_ && got < needed) {
          // O_DIRECT refuses to go on inside a page, and a read below one page is the file's end.
          got = round_down(got);
          if (count < static_cast<ssize_t>(kBufferAlignment)) return cut_short();
        }
        continue;
      }
      if (count == 0) return cut_short();
      if (errno == EINTR) continue;
      if (errno == EINVAL && direct_ && give_up_direct()) continue;
      return fail(ErrorKind::environment, fmt::format("{}: reading {} bytes at {} failed: {}; check the disk", path_,
                                                      wanted, first, std::strerror(errno)));
    }
    return ReadResult{extent.offset - first, got};
  }

  std::string describe() const override {
    return direct_ ? "file, O_DIRECT" : "file, buffered (this file system refuses O_DIRECT: the page cache may answer)";
  }

 private:
  bool give_up_direct() {
    const int flags = ::fcntl(file_, F_GETFL);
    if (flags < 0 || ::fcntl(file_, F_SETFL, flags & ~O_DIRECT) < 0) return false;
    direct_ = false;
    return true;
  }
  tl::unexpected<dmprof::Error> cut_short() const {
    return fail(ErrorKind::environment,
                fmt::format("{}: became shorter while the engine ran; put the whole file back", path_));
  }

  std::string path_;
  int file_;
  std::atomic<bool> direct_;  // the engine and the prefetch thread read at once, and either may give it up
};

}  // namespace

Result<std::unique_ptr<BackingStore>> open_file_backing(const std::string& path, std::uint64_t file_bytes) {
  bool direct = true;
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  if (file < 0 && errno == EINVAL) {
    direct = false;
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (file < 0) {
    return fail(ErrorKind::environment, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  auto backing = std::make_unique<FileBacking>(path, file, direct);
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != file_bytes) {
    return fail(ErrorKind::environment,
                fmt::format("{}: is not the file of {} bytes that was read before; start again", path, file_bytes));
  }
  // Some file systems accept the flag and refuse the read: better known now than after describe() was printed.
  alignas(kBufferAlignment) static thread_local std::byte probe[kBufferAlignment];
  if (file_bytes > 0) {
    if (const auto read = backing->read({0, 1}, probe); !read) return tl::unexpected(read.error());
  }
  return backing;
}

}  // namespace dmengine
