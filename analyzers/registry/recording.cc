#include "analyzers/registry/recording.h"

#include <algorithm>
#include <type_traits>

#include "dmprof/base/quantity.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

// Every event vector of a recording.
template <class R, class Visit>
void for_each_kind(R& recording, Visit&& visit) {
  visit(recording.slices), visit(recording.counters), visit(recording.requests), visit(recording.steps);
  visit(recording.speculation), visit(recording.accesses), visit(recording.prefetches), visit(recording.transfers);
  visit(recording.kernels), visit(recording.samples);
}

// Differences and sums of two such times fit into 64 bits, so that no analyzer has to think of overflow.
constexpr TimeNs farthest_time = TimeNs{1} << 61;

template <class E>
void tame(E& event) {
  for_each_field<E>([&event](const auto& field, std::size_t) {
    using Value = typename std::remove_cvref_t<decltype(field)>::Value;
    if constexpr (std::is_same_v<Value, TimeNs>) {
      if (field.meaning != Meaning::time && field.meaning != Meaning::duration) return;
      TimeNs& time = event.*(field.member);
      time = std::clamp(time, field.meaning == Meaning::duration ? 0 : -farthest_time, farthest_time);
    }
  });
}

}  // namespace

std::string_view Recording::name(NameId id) const {
  const auto found = names.find(id);
  return found == names.end() ? std::string_view() : std::string_view(found->second);
}

std::string Recording::tier_name(TierId id) const {
  const auto found = capacities.find(id);
  return found == capacities.end() || found->second.name.empty() ? "tier " + std::to_string(id) : found->second.name;
}

std::optional<Knob> Recording::knob(std::string_view wanted) const {
  std::optional<Knob> newest;
  for (const Knob& knob : knobs) {
    if (knob.name == wanted && (!newest || knob.since >= newest->since)) newest = knob;
  }
  return newest;
}

std::optional<double> Recording::environment_number(std::string_view key) const {
  const auto found = environment.find(std::string(key));
  if (found == environment.end()) return std::nullopt;
  return plain_number(found->second);
}

void Recording::make_sound() {
  for_each_kind(*this, [](auto& events) {
    for (auto& event : events) tame(event);
    const auto earlier = [](const auto& a, const auto& b) { return begin_of(a) < begin_of(b); };
    if (!std::is_sorted(events.begin(), events.end(), earlier)) std::stable_sort(events.begin(), events.end(), earlier);
  });
}

bool Recording::in_virtual_time() const {
  return !steps.empty() && std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
    const auto track = tracks.find(step.track);
    if (track == tracks.end()) return false;
    const auto clock = clocks.find(track->second.clock);
    return clock != clocks.end() && clock->second.kind == ClockKind::virtual_time;
  });
}

void Recording::forget_machine() {
  std::erase_if(capacities, [&](const auto& row) { return !processes.contains(row.second.process); });
  std::erase_if(environment, [](const auto& row) { return row.first.starts_with("calibration."); });
}

void Recording::keep_process(std::uint32_t process) {
  const auto foreign = [&](const auto& event) {
    const auto track = tracks.find(event.track);
    return track != tracks.end() && track->second.process != process;
  };
  for_each_kind(*this, [&](auto& events) { std::erase_if(events, foreign); });
  // What belongs to no known process (the machine's own tiers) stays.
  const auto others = [&](std::uint32_t owner) { return owner != process && processes.contains(owner); };
  std::erase_if(knobs, [&](const Knob& knob) { return others(knob.process); });
  std::erase_if(capacities, [&](const auto& row) { return others(row.second.process); });
}

std::optional<std::uint32_t> Recording::main_process() const {
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> weight;  // steps, then events
  const auto owner = [&](TrackId track) {
    const auto found = tracks.find(track);
    return found == tracks.end() ? 0u : found->second.process;
  };
  for (const Step& step : steps) ++weight[owner(step.track)].first;
  for_each_kind(*this, [&](const auto& events) {
    for (const auto& event : events) ++weight[owner(event.track)].second;
  });
  const auto heaviest =
      std::max_element(weight.begin(), weight.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (heaviest == weight.end()) return std::nullopt;
  return heaviest->first;
}

}  // namespace dmprof
