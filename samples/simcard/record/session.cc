#include "samples/simcard/record/session.h"

#include <algorithm>
#include <string>

#include "dmprof/base/version.h"

namespace dmprof::simcard {

Session::Session() {
  const std::string version(dmprof::version);
  const dmprof_options options{.engine = "dm-simcard", .version = version.c_str(), .flags = DMPROF_LOSSLESS};
  dmprof_init(&options);  // without a control page the simulation runs all the same, unobserved
  clock_ = dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL);
}

Session::~Session() { dmprof_shutdown(); }

NanosecondSpan nanosecond_span(SimTime start, SimTime end) {
  return {nanoseconds(start), nanoseconds(std::max(start, end)) - nanoseconds(start)};
}

std::uint32_t narrow(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, UINT32_MAX));
}

std::uint32_t register_tier(const char* name, std::uint32_t rank, bool managed, double bytes, double bandwidth,
                            std::uint32_t units) {
  dmprof_capacity_info info{};
  info.name = name;
  info.kind = "tier";
  info.rank = rank;
  info.managed = managed ? 1 : 0;
  info.size_bytes = static_cast<std::uint64_t>(bytes);
  info.datasheet_bandwidth = bandwidth;
  info.measured_bandwidth = bandwidth;
  info.units = units;
  return dmprof_capacity(&info);
}

std::uint32_t register_compute(double peak_flops, std::uint32_t units) {
  dmprof_capacity_info info{};
  info.name = "compute";
  info.kind = "compute";
  info.peak_flops = peak_flops;
  info.units = units;
  return dmprof_capacity(&info);
}

std::uint32_t register_engines(std::uint32_t units) {
  dmprof_capacity_info info{};
  info.name = "speculation_engines";
  info.kind = "speculation_engine";
  info.units = units;
  return dmprof_capacity(&info);
}

}  // namespace dmprof::simcard
