#include "dmprof/cli/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "dmprof/capture/environment.h"
#include "dmprof/cli/recordings.h"

namespace dmprof::cli {

namespace {

std::string text_at(const capture::Environment& environment, const std::string& key) {
  const auto found = environment.find(key);
  return found == environment.end() ? "" : found->second;
}

std::uint64_t number_at(const capture::Environment& environment, const std::string& key) {
  const std::string text = text_at(environment, key);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

Result<std::filesystem::path> calibration_path() {
  auto directory = data_directory();
  if (!directory) return tl::unexpected(directory.error());
  return *directory / "calibration.json";
}

calibrate::Options calibration_options(std::uint32_t threads) {
  const capture::Environment environment = capture::machine_environment();
  calibrate::Options options;
  options.cpu_model = text_at(environment, "cpu.model");
  options.cache_bytes =
      number_at(environment, "cpu.llc_bytes") * std::max<std::uint64_t>(1, number_at(environment, "cpu.llc_instances"));
  options.memory_bytes = number_at(environment, "memory.total_bytes");
  if (const std::uint64_t limit = number_at(environment, "container.memory_limit_bytes"); limit > 0) {
    options.memory_bytes = options.memory_bytes == 0 ? limit : std::min(options.memory_bytes, limit);
  }
  const auto allowed = static_cast<std::uint32_t>(number_at(environment, "cpu.allowed"));
  options.threads = threads != 0 ? threads : std::max<std::uint32_t>(1, allowed);
  return options;
}

std::optional<calibrate::Calibration> usable_calibration(std::string& reason) {
  auto path = calibration_path();
  auto loaded = path ? calibrate::load(*path) : Result<calibrate::Calibration>(tl::unexpected(path.error()));
  if (!loaded) {
    reason = loaded.error().message;
    return std::nullopt;
  }
  const std::string model = calibration_options(1).cpu_model;
  if (loaded->cpu_model != model) {
    reason = fmt::format("{} was taken on another processor ({}); measure again with dmprof calibrate", path->string(),
                         loaded->cpu_model);
    return std::nullopt;
  }
  return *loaded;
}

Status store_calibration(EventSink& sink, const calibrate::Calibration& calibration, std::uint64_t memory_bytes) {
  Capacity dram;
  dram.name = "dram";
  dram.kind = "tier";
  dram.rank = 100;  // below every tier an engine names
  dram.size_bytes = memory_bytes;
  dram.measured_bandwidth = calibration.best_read_bandwidth();
  Capacity compute;
  compute.name = "compute";
  compute.kind = "compute";
  compute.peak_flops = calibration.best_flops();
  compute.units = calibration.points.empty() ? 0 : calibration.points.back().threads;
  for (const Capacity& capacity : {dram, compute}) {
    if (auto stored = sink.add_capacity(capacity); !stored) return tl::unexpected(stored.error());
  }
  DMPROF_TRY(sink.set_environment("calibration.measured_at", calibration.measured_at));
  DMPROF_TRY(
      sink.set_environment("calibration.read_bandwidth", fmt::format("{:.0f}", calibration.best_read_bandwidth())));
  DMPROF_TRY(sink.set_environment("calibration.flops", fmt::format("{:.0f}", calibration.best_flops())));
  DMPROF_TRY(sink.set_environment("calibration.instruction_set", calibration.instruction_set));
  for (const calibrate::Point& point : calibration.points) {
    DMPROF_TRY(sink.set_environment(fmt::format("calibration.read_bandwidth.{}", point.threads),
                                    fmt::format("{:.0f}", point.read_bandwidth)));
    DMPROF_TRY(
        sink.set_environment(fmt::format("calibration.flops.{}", point.threads), fmt::format("{:.0f}", point.flops)));
  }
  return {};
}

}  // namespace dmprof::cli
