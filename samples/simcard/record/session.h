// This process as dmprof sees it: published at its making, lossless, on one virtual clock.
#pragma once

#include <cstdint>

#include "dmprof/sdk/dmprof.h"
#include "samples/simcard/core/time.h"

namespace dmprof::simcard {

// One process has one.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool attached() const { return dmprof_enabled() != 0; }
  std::uint32_t clock() const { return clock_; }

 private:
  std::uint32_t clock_;
};

struct NanosecondSpan {
  std::uint64_t start = 0, duration = 0;
};
// An end before the start counts as the start.
NanosecondSpan nanosecond_span(SimTime start, SimTime end);

// What fits 32 bits; more counts as the most.
std::uint32_t narrow(std::uint64_t number);

// Tells of a tier of a bandwidth known by construction; gives its id.
std::uint32_t register_tier(const char* name, std::uint32_t rank, bool managed, double bytes, double bandwidth,
                            std::uint32_t units);
// Of kind "compute" and "speculation_engine".
std::uint32_t register_compute(double peak_flops, std::uint32_t units);
std::uint32_t register_engines(std::uint32_t units);

}  // namespace dmprof::simcard
