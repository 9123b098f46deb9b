// What analyzers compute from: the events and tables of one recording as plain vectors. load.h fills it from a store
// reader; tests fill it by hand. Not synchronised; concurrent reads are fine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "dmprof/event/event.h"
#include "dmprof/event/sink.h"

namespace dmprof {

// Event kinds as a bit set, so that only the columns a question needs are read.
enum class Events : std::uint32_t {
  none = 0,
  slices = 1u << 0,
  counters = 1u << 1,
  requests = 1u << 2,
  steps = 1u << 3,
  speculation = 1u << 4,
  accesses = 1u << 5,
  prefetches = 1u << 6,
  transfers = 1u << 7,
  kernels = 1u << 8,
  all = (1u << 9) - 1,
};
constexpr Events operator|(Events a, Events b) {
  return static_cast<Events>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr Events operator&(Events a, Events b) {
  return static_cast<Events>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
constexpr bool any(Events a) { return a != Events::none; }

struct Recording {
  // Events, each vector in time order (make_sound() restores it).
  std::vector<Slice> slices;
  std::vector<Counter> counters;
  std::vector<RequestEvent> requests;
  std::vector<Step> steps;
  std::vector<SpeculationStep> speculation;
  std::vector<BlockAccess> accesses;
  std::vector<Prefetch> prefetches;
  std::vector<Transfer> transfers;
  std::vector<Kernel> kernels;
  Events loaded = Events::all;  // kinds that were read; the vectors of the others are empty without meaning anything

  // Tables. Ids as the events carry them.
  std::map<std::uint32_t, Process> processes;
  std::map<TrackId, Track> tracks;
  std::map<std::uint32_t, ClockDomain> clocks;
  std::map<TierId, Capacity> capacities;
  std::vector<Knob> knobs;
  std::vector<Loss> losses;
  std::map<TrackId, std::uint64_t> emitted;            // the emitter's own count; a track without one is absent
  std::map<TrackId, std::uint64_t> recorded_by_track;  // events stored, all kinds
  std::optional<std::uint64_t> recorded;               // their sum; nothing when it was not counted
  std::map<std::string, std::string> environment;
  std::unordered_map<NameId, std::string> names;
  bool finished = true;  // its recorder got to the end: what emitters counted is complete
  std::string note;      // what load() left out, "" = nothing

  std::string_view name(NameId id) const;  // "" for an unknown id
  std::string tier_name(TierId id) const;  // "tier 7" for an unregistered tier
  // The newest value of a knob, by name; nothing when it was never registered.
  std::optional<Knob> knob(std::string_view name) const;
  std::optional<double> environment_number(std::string_view key) const;

  // Puts events in time order and pulls impossible times (beyond 73 years from the clock's zero) and negative durations
  // back into range: nothing in a file is trusted. Call it once after filling the vectors.
  void make_sound();
  // Keeps only what the process emitted: step ids and clocks are per process and must not be mixed.
  void keep_process(std::uint32_t process);
  // Whether its steps tell simulated time.
  bool in_virtual_time() const;
  // What was measured about the machine that recorded (its memory, its arithmetic): it says nothing about a simulated
  // one.
  void forget_machine();
  // The process with the most steps, else with the most events; nothing in an empty recording.
  std::optional<std::uint32_t> main_process() const;
};

}  // namespace dmprof
