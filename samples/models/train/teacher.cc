#include "samples/models/train/teacher.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>

#include "samples/models/train/loss.h"

namespace dmprof::train {
namespace {

bool write_at(int file, const std::vector<std::uint16_t>& values, std::size_t offset) {
  const char* from = reinterpret_cast<const char*>(values.data());
  std::size_t left = values.size() * sizeof(std::uint16_t);
  while (left > 0) {
    const ssize_t written = ::pwrite(file, from, left, static_cast<off_t>(offset));
    if (written <= 0) return false;
    from += written;
    offset += static_cast<std::size_t>(written);
    left -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

Status Teacher::compute(const std::string& path, const Shape& target, const std::vector<float>& parameters,
                        const std::vector<Token>& stream, int max_windows, int threads) {
  const auto context = static_cast<std::size_t>(target.context);
  const std::size_t windows = std::min(static_cast<std::size_t>(max_windows), stream.size() / context);
  const std::string part = path + ".part";
  const int file = ::open(part.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return fail(ErrorKind::environment, "cannot write " + part + ": check that its folder exists");
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> good = true;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&] {
      Network<float> network(target, target.context);
      std::vector<std::uint16_t> half(context * static_cast<std::size_t>(target.vocab));
      for (std::size_t w = next++; w < windows && good; w = next++) {
        const std::size_t first = first_token(w, windows, stream.size(), context);
        network.forward(parameters.data(), std::span(stream).subspan(first, context));
        softmax_to_half(network.logits(), target.vocab, target.context, half.data());
        if (!write_at(file, half, w * half.size() * sizeof half[0])) good = false;
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  if (::close(file) != 0 || !good || std::rename(part.c_str(), path.c_str()) != 0) {
    return fail(ErrorKind::environment,
                "cannot write " + path + ": it takes 1 MiB a window of 512 tokens, check the space");
  }
  return {};
}

Result<Teacher> Teacher::open(const std::string& path, int context, int vocab) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  const bool readable = file >= 0 && ::fstat(file, &info) == 0;
  const std::size_t window_values = static_cast<std::size_t>(context) * static_cast<std::size_t>(vocab);
  const auto size = static_cast<std::size_t>(info.st_size);
  void* mapped = MAP_FAILED;
  const bool whole = readable && size > 0 && size % (window_values * sizeof(std::uint16_t)) == 0;
  if (whole) mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (file >= 0) ::close(file);
  if (!readable) return fail(ErrorKind::environment, "cannot read " + path + ": make it with `dm-train teacher`");
  if (!whole) return fail(ErrorKind::bad_input, path + " holds no whole windows: make it with `dm-train teacher`");
  if (mapped == MAP_FAILED)
    return fail(ErrorKind::environment, "cannot map " + path + " into memory: free some address space");
  return Teacher(static_cast<const std::uint16_t*>(mapped), size / sizeof(std::uint16_t) / window_values,
                 window_values);
}

Teacher::Teacher(Teacher&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)), windows_(other.windows_), window_values_(other.window_values_) {}

Teacher::~Teacher() {
  if (mapped_ != nullptr)
    ::munmap(const_cast<std::uint16_t*>(mapped_), windows_ * window_values_ * sizeof(std::uint16_t));
}

}  // namespace dmprof::train
