// An EventSink for measurements of what comes before it.
#pragma once

#include "dmprof/event/sink.h"

namespace dmprof {

// Takes everything and keeps nothing.
class DiscardingSink : public EventSink {
 public:
  NameId intern(std::string_view) override { return 1; }
  Result<std::uint32_t> add_process(const Process&) override { return 1; }
  Result<std::uint32_t> add_clock(const ClockDomain&) override { return 1; }
  Result<TrackId> add_track(const Track&) override { return 1; }
  Result<TierId> add_capacity(const Capacity&) override { return 1; }
  Status add_knob(const Knob&) override { return {}; }
  Status add_clock_sync(const ClockSync&) override { return {}; }
  Status add_loss(const Loss&) override { return {}; }
  Status add_emitted(TrackId, std::uint64_t) override { return {}; }
  Status set_environment(std::string_view, std::string_view) override { return {}; }
  Status accept(std::span<const Event>) override { return {}; }
  Status flush() override { return {}; }
};

}  // namespace dmprof
