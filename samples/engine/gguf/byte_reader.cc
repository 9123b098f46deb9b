#include "samples/engine/gguf/byte_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dmengine {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;
using dmprof::Status;

namespace {
constexpr uint64_t buffer_bytes = 256 * 1024;
}

ByteReader::ByteReader(int descriptor, std::string path, uint64_t size)
    : descriptor_(descriptor), path_(std::move(path)), size_(size), buffer_(std::min(buffer_bytes, size)) {}

ByteReader::ByteReader(ByteReader&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_),
      position_(other.position_),
      buffer_(std::move(other.buffer_)),
      buffer_start_(other.buffer_start_),
      buffer_used_(other.buffer_used_) {}

ByteReader::~ByteReader() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<ByteReader> ByteReader::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe nobody writes to must not hang; a regular file ignores it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    return fail(ErrorKind::environment, fmt::format("cannot open model '{}': {}; check the path and its permissions",
                                                    path, std::strerror(errno)));
  }
  struct stat info {};
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    const bool directory = S_ISDIR(info.st_mode);
    close(descriptor);
    return fail(ErrorKind::bad_input, fmt::format("model '{}' is {}; name a GGUF file", path,
                                                  directory ? "a directory" : "not a regular file"));
  }
  return ByteReader(descriptor, path, static_cast<uint64_t>(info.st_size));
}

Status ByteReader::fill() {
  buffer_start_ = position_;
  buffer_used_ = 0;
  const uint64_t wanted = std::min<uint64_t>(buffer_.size(), remaining());
  while (buffer_used_ < wanted) {
    const ssize_t got = pread(descriptor_, buffer_.data() + buffer_used_, wanted - buffer_used_,
                              static_cast<off_t>(buffer_start_ + buffer_used_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return fail(ErrorKind::environment, fmt::format("cannot read model '{}' at byte {}: {}; check the disk", path_,
                                                      position_, got < 0 ? std::strerror(errno) : "the file shrank"));
    }
    buffer_used_ += static_cast<uint64_t>(got);
  }
  return {};
}

Status ByteReader::read(void* destination, uint64_t bytes, const char* what) {
  if (bytes > remaining()) {
    return fail(
        ErrorKind::bad_input,
        fmt::format(
            "model '{}' ends inside {} at byte {} ({} bytes needed, {} left); the file is damaged, copy it again",
            path_, what, position_, bytes, remaining()));
  }
  auto* out = static_cast<unsigned char*>(destination);
  while (bytes > 0) {
    if (position_ < buffer_start_ || position_ >= buffer_start_ + buffer_used_) DMPROF_TRY(fill());
    const uint64_t offset = position_ - buffer_start_;
    const uint64_t part = std::min(bytes, buffer_used_ - offset);
    std::memcpy(out, buffer_.data() + offset, part);
    out += part;
    position_ += part;
    bytes -= part;
  }
  return {};
}

Status ByteReader::skip(uint64_t bytes, const char* what) {
  if (bytes > remaining()) {
    return fail(ErrorKind::bad_input,
                fmt::format("model '{}' ends inside {} at byte {}; the file is damaged, copy it again", path_, what,
                            position_));
  }
  position_ += bytes;
  return {};
}

}  // namespace dmengine
