// A recording laid out for trace viewers: processes, lanes on which spans nest, instants and counters. The formats only
// differ in how they write these.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"
#include "dmprof/store/reader.h"

namespace dmprof::exporting {

struct Argument {
  std::string_view name;
  std::int64_t value = 0;
  std::string_view text;  // used instead of `value` unless empty
};

// Receives a timeline. Lanes and counters are announced before their first event; ids count from 1 over both. On one
// lane spans arrive by ascending start, enclosing ones first, and nest. Times are ns, never negative.
class TimelineWriter {
 public:
  virtual ~TimelineWriter() = default;
  virtual void process(std::uint32_t id, const Process& process) = 0;
  virtual void lane(std::uint32_t id, std::uint32_t process, std::int64_t thread, std::string_view name) = 0;
  virtual void counter_lane(std::uint32_t id, std::uint32_t process, std::string_view name) = 0;
  virtual void span(std::uint32_t lane, TimeNs start, TimeNs duration, std::string_view name, std::string_view category,
                    std::span<const Argument> arguments) = 0;
  virtual void instant(std::uint32_t lane, TimeNs time, std::string_view name, std::string_view category,
                       std::span<const Argument> arguments) = 0;
  virtual void counter(std::uint32_t lane, TimeNs time, double value) = 0;
  virtual void lane_done(std::uint32_t lane) = 0;  // no more events come for it
};

// Sends the whole recording. Times of real clocks are kept; a virtual clock is moved so that it starts with the
// recording, since no viewer can draw two clocks apart, and its lanes say so. Spans that overlap without nesting
// (transfers in flight together) are spread over several lanes. Holds the events of one kind in memory at a time.
Status walk_timeline(const Reader& reader, TimelineWriter& writer);

}  // namespace dmprof::exporting
