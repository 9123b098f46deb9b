// An EventSink that passes everything on and counts what passes, for the progress line and the summary.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "dmprof/event/sink.h"

namespace dmprof::capture {

class CountingSink : public EventSink {
 public:
  explicit CountingSink(EventSink& next) : next_(next) {}

  std::uint64_t events() const { return events_; }
  std::uint64_t lost() const { return lost_; }
  const std::map<std::string, std::uint64_t>& lost_by_cause() const { return lost_by_cause_; }
  std::uint32_t processes() const { return processes_; }
  bool refused() const { return refused_; }  // events were not taken: an error that comes up is the next sink's

  NameId intern(std::string_view text) override { return next_.intern(text); }
  Result<std::uint32_t> add_process(const Process& process) override;
  Result<std::uint32_t> add_clock(const ClockDomain& clock) override { return next_.add_clock(clock); }
  Result<TrackId> add_track(const Track& track) override { return next_.add_track(track); }
  Result<TierId> add_capacity(const Capacity& capacity) override { return next_.add_capacity(capacity); }
  Status add_knob(const Knob& knob) override { return next_.add_knob(knob); }
  Status add_clock_sync(const ClockSync& sync) override { return next_.add_clock_sync(sync); }
  Status add_loss(const Loss& loss) override;
  Status add_emitted(TrackId track, std::uint64_t events) override { return next_.add_emitted(track, events); }
  Status set_environment(std::string_view key, std::string_view value) override {
    return next_.set_environment(key, value);
  }
  Status accept(std::span<const Event> events) override;
  Status flush() override { return next_.flush(); }

 private:
  EventSink& next_;
  std::uint64_t events_ = 0;
  std::uint64_t lost_ = 0;
  std::map<std::string, std::uint64_t> lost_by_cause_;
  std::uint32_t processes_ = 0;
  bool refused_ = false;
};

}  // namespace dmprof::capture
