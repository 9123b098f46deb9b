// An EventSink that keeps everything in vectors, for tests.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dmprof/event/sink.h"

namespace dmprof::test {

class VectorSink : public EventSink {
 public:
  std::vector<std::string> names{""};
  std::vector<Process> processes;
  std::vector<ClockDomain> clocks;
  std::vector<Track> tracks;         // id = index + 1
  std::vector<Capacity> capacities;  // id = index + 1
  std::vector<Knob> knobs;
  std::vector<ClockSync> syncs;
  std::map<std::pair<TrackId, std::string>, std::uint64_t> losses;
  std::map<TrackId, std::uint64_t> emitted;
  std::map<std::string, std::string> environment;
  std::vector<Event> events;

  NameId intern(std::string_view text) override {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) return static_cast<NameId>(i);
    }
    names.emplace_back(text);
    return static_cast<NameId>(names.size() - 1);
  }
  Result<std::uint32_t> add_process(const Process& process) override {
    processes.push_back(process);
    return static_cast<std::uint32_t>(processes.size());
  }
  Result<std::uint32_t> add_clock(const ClockDomain& clock) override {
    clocks.push_back(clock);
    return static_cast<std::uint32_t>(clocks.size());
  }
  Result<TrackId> add_track(const Track& track) override {
    tracks.push_back(track);
    return static_cast<TrackId>(tracks.size());
  }
  Result<TierId> add_capacity(const Capacity& capacity) override {
    for (std::size_t i = 0; i < capacities.size(); ++i) {
      if (capacities[i].process != capacity.process || capacities[i].name != capacity.name) continue;
      capacities[i] = capacity;
      return static_cast<TierId>(i + 1);
    }
    capacities.push_back(capacity);
    return static_cast<TierId>(capacities.size());
  }
  Status add_knob(const Knob& knob) override {
    knobs.push_back(knob);
    return {};
  }
  Status add_clock_sync(const ClockSync& sync) override {
    syncs.push_back(sync);
    return {};
  }
  Status add_loss(const Loss& loss) override {
    losses[{loss.track, loss.cause}] += loss.events;
    return {};
  }
  Status add_emitted(TrackId track, std::uint64_t count) override {
    emitted[track] += count;
    return {};
  }
  Status set_environment(std::string_view key, std::string_view value) override {
    environment[std::string(key)] = std::string(value);
    return {};
  }
  Status accept(std::span<const Event> batch) override {
    events.insert(events.end(), batch.begin(), batch.end());
    return {};
  }
  Status flush() override { return {}; }

  template <class T>
  std::vector<T> of() const {
    std::vector<T> found;
    for (const Event& event : events) {
      if (const T* typed = std::get_if<T>(&event)) found.push_back(*typed);
    }
    return found;
  }
  const std::string& name(NameId id) const { return names.at(id); }
  // The track of this name; 0 when there is none.
  TrackId track(std::string_view name) const {
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (tracks[i].name == name) return static_cast<TrackId>(i + 1);
    }
    return 0;
  }
  std::uint64_t recorded(TrackId track) const {
    std::uint64_t count = 0;
    for (const Event& event : events) {
      std::visit([&](const auto& typed) { count += typed.track == track; }, event);
    }
    return count;
  }
  std::uint64_t lost(TrackId track, std::string_view cause = "") const {
    std::uint64_t count = 0;
    for (const auto& [key, events_lost] : losses) {
      if (key.first == track && (cause.empty() || key.second == cause)) count += events_lost;
    }
    return count;
  }
  std::uint64_t emitted_by(TrackId track) const {
    const auto found = emitted.find(track);
    return found == emitted.end() ? 0 : found->second;
  }
};

}  // namespace dmprof::test
