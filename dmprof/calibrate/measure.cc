#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstring>
#include <ctime>
#include <memory>
#include <system_error>
#include <thread>

#include "dmprof/calibrate/calibrate.h"
#include "dmprof/calibrate/kernels.h"

namespace dmprof::calibrate {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t granule = streams_per_thread * stream_granule;
constexpr std::uint64_t rounds_per_measurement = 4'000'000;

struct Unmap {
  std::uint64_t bytes;
  void operator()(std::uint8_t* data) const { ::munmap(data, bytes); }
};
using Buffer = std::unique_ptr<std::uint8_t, Unmap>;

std::uint64_t buffer_size(const Options& options) {
  // Without a known cache the buffer is large enough for the largest caches of one socket today.
  const std::uint64_t wanted = options.cache_bytes > 0 ? 4 * options.cache_bytes : 1ull << 30;
  return (std::max(wanted, options.least_buffer_bytes) + 4095) / 4096 * 4096;
}

// Runs work(thread index) on `threads` threads that start together; seconds until the last one is done.
template <class Work>
double timed(std::uint32_t threads, const Work& work) {
  std::barrier start(static_cast<std::ptrdiff_t>(threads));
  std::vector<Clock::time_point> begins(threads), ends(threads);
  const auto body = [&](std::uint32_t index) {
    start.arrive_and_wait();
    begins[index] = Clock::now();
    work(index);
    ends[index] = Clock::now();
  };
  std::vector<std::thread> others;
  for (std::uint32_t index = 1; index < threads; ++index) others.emplace_back(body, index);
  body(0);
  for (std::thread& other : others) other.join();
  const auto span = *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end());
  return std::max(1e-9, std::chrono::duration<double>(span).count());
}

double measure_read(const std::uint8_t* data, std::uint64_t bytes, std::uint32_t threads, int repeats) {
  const std::uint64_t share = bytes / threads / granule * granule;
  std::vector<std::uint64_t> sums(threads);
  double best = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double seconds =
        timed(threads, [&](std::uint32_t index) { sums[index] += read_once(data + index * share, share); });
    best = std::max(best, static_cast<double>(share) * threads / seconds);
  }
  return best;
}

double measure_flops(std::uint32_t threads, int repeats) {
  std::vector<float> sinks(threads);
  double best = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    std::vector<std::uint64_t> done(threads);
    const double seconds =
        timed(threads, [&](std::uint32_t index) { done[index] = multiply_add(rounds_per_measurement, sinks[index]); });
    std::uint64_t total = 0;
    for (const std::uint64_t one : done) total += one;
    best = std::max(best, static_cast<double>(total) / seconds);
  }
  return best;
}

std::vector<std::uint32_t> thread_counts(std::uint32_t most) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

}  // namespace

Result<Calibration> measure(const Options& options, const std::function<void(const std::string&)>& progress) {
  const std::uint32_t threads = std::clamp<std::uint32_t>(options.threads, 1, 1024);
  const std::uint64_t bytes = buffer_size(options);
  if (options.memory_bytes > 0 && bytes > options.memory_bytes / 4) {
    return fail(ErrorKind::environment,
                fmt::format("cannot calibrate: reading past the {} MiB cache needs a {} MiB buffer, more than a "
                            "quarter of the {} MiB of memory",
                            options.cache_bytes >> 20, bytes >> 20, options.memory_bytes >> 20));
  }
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return fail(ErrorKind::environment,
                fmt::format("cannot calibrate: no memory for a {} MiB buffer; free some and try again", bytes >> 20));
  }
  ::madvise(mapped, bytes, MADV_HUGEPAGE);  // page walks are no part of the bandwidth; a refusal does no harm
  const Buffer buffer(static_cast<std::uint8_t*>(mapped), Unmap{bytes});

  Calibration result;
  result.cpu_model = options.cpu_model;
  result.instruction_set = instruction_set();
  result.measured_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  result.cache_bytes = options.cache_bytes;
  result.buffer_bytes = bytes;
  try {
    // Each part is written first by a thread that will read it: untouched pages would all be one page of zeros in the
    // cache, and on several sockets the memory belongs beside its reader.
    const std::uint64_t share = bytes / threads;
    timed(threads, [&](std::uint32_t index) { std::memset(buffer.get() + index * share, 1, share); });
    for (const std::uint32_t count : thread_counts(threads)) {
      Point point;
      point.threads = count;
      point.read_bandwidth = measure_read(buffer.get(), bytes, count, options.repeats);
      point.flops = measure_flops(count, options.repeats);
      result.points.push_back(point);
      if (progress) {
        progress(fmt::format("{} thread{}: {:.1f} GB/s read, {:.1f} GFLOP/s", count, count == 1 ? "" : "s",
                             point.read_bandwidth / 1e9, point.flops / 1e9));
      }
    }
  } catch (const std::system_error& error) {
    return fail(ErrorKind::environment,
                fmt::format("cannot calibrate with {} threads: {}; try --threads with fewer", threads, error.what()));
  }
  return result;
}

}  // namespace dmprof::calibrate
