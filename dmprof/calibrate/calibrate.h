// What this machine can really do: read bandwidth of main memory and arithmetic rate, per number of threads. Metrics
// divide by these figures instead of by a datasheet's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "dmprof/base/error.h"

namespace dmprof::calibrate {

struct Point {
  std::uint32_t threads = 0;
  double read_bandwidth = 0;  // B/s from main memory, best of the repeats
  double flops = 0;           // FLOP/s, single-precision fused multiply-add, best of the repeats
};

struct Calibration {
  std::string cpu_model;
  std::string instruction_set;
  std::string measured_at;         // UTC, ISO 8601
  std::uint64_t cache_bytes = 0;   // all last-level caches together; 0 = the machine did not say
  std::uint64_t buffer_bytes = 0;  // what each pass read, at least 4 x cache_bytes
  std::vector<Point> points;       // ascending number of threads

  double best_read_bandwidth() const;
  double best_flops() const;
};

struct Options {
  std::string cpu_model;
  std::uint64_t cache_bytes = 0;
  std::uint64_t memory_bytes =
      0;                      // memory of the machine or container; the buffer takes at most a quarter. 0 = unknown
  std::uint32_t threads = 1;  // highest number of threads; 1, 2, 4 … and this one are measured
  int repeats = 5;
  std::uint64_t least_buffer_bytes = 64ull << 20;
};

// Takes about repeats x 0.1 s per number of threads and keeps all of them busy. `progress` gets a line per measurement
// and may be empty. Error (environment): no memory for the buffer, or a quarter of the memory is less than 4 x the
// cache.
Result<Calibration> measure(const Options& options, const std::function<void(const std::string&)>& progress);

// One JSON file, replaced as a whole. load: no file is an error of kind cannot_answer, a damaged one bad_input.
Status save(const Calibration& calibration, const std::filesystem::path& file);
Result<Calibration> load(const std::filesystem::path& file);
std::string to_json(const Calibration& calibration);

}  // namespace dmprof::calibrate
