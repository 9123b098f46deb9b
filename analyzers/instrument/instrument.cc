#include "analyzers/instrument/instrument.h"

#include <map>

#include <fmt/format.h>

#include "analyzers/registry/view.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

MetricValue events_lost(const View& view, const Scope&) {
  const Recording& recording = view.recording();
  std::map<std::string, std::uint64_t> by_cause;
  std::map<TrackId, std::uint64_t> by_track;
  std::uint64_t lost = 0;
  for (const Loss& loss : recording.losses) {
    by_cause[loss.cause] += loss.events;
    by_track[loss.track] += loss.events;
    lost += loss.events;
  }
  if (!recording.recorded) return unavailable("the recording does not count its events");
  if (!recording.finished) {
    return unavailable(
        fmt::format("the recording was not finished, so nobody knows what was emitted after its last commit; {} of the "
                    "emitted events "
                    "are known to be lost",
                    lost));
  }
  MetricValue value = scalar(static_cast<double>(lost), *recording.recorded);
  value.window = "whole run, all processes";
  for (const auto& [cause, events] : by_cause)
    value.parts.push_back({cause, static_cast<double>(events), events, false});
  std::uint64_t emitted = 0, counted = 0;
  for (const auto& [track, sent] : recording.emitted) {
    const auto stored = recording.recorded_by_track.find(track);
    const std::uint64_t kept = stored == recording.recorded_by_track.end() ? 0 : stored->second;
    if (sent != kept + by_track[track]) {
      MetricValue wrong;
      wrong.status = ValueStatus::invalid;
      wrong.reason =
          fmt::format("instrument error: track {} emitted {} events, but {} are recorded and {} counted as lost", track,
                      sent, kept, by_track[track]);
      return wrong;
    }
    emitted += sent, counted += kept;
  }
  value.beside = {{"recorded", "events", static_cast<double>(*recording.recorded)},
                  {"emitted", "events", static_cast<double>(emitted)}};
  if (counted < *recording.recorded) {
    value.reason = fmt::format("{} recorded events are on tracks whose emitter never reported its own count",
                               *recording.recorded - counted);
  }
  return value;
}

// The cost of one event is measured on this machine by the recorder; how many there were is counted by the emitters.
MetricValue overhead(const View& view, const Scope&) {
  const Recording& recording = view.recording();
  const std::optional<double> each = recording.environment_number("recording.event_ns");
  if (!each || *each < 0)
    return unavailable("the cost of one event (environment recording.event_ns) was not measured on this machine");
  if (recording.steps.empty())
    return unavailable("the recording holds no steps, so the run's time on the engine's tracks is not known");
  TimeNs begin = recording.steps.front().start, end = begin;
  std::map<TrackId, bool> engine;
  for (const Step& step : recording.steps) end = std::max(end, end_of(step)), engine[step.track] = true;
  double events = 0;
  for (const auto& [track, is_engine] : engine) {
    const auto sent = recording.emitted.find(track);
    const auto stored = recording.recorded_by_track.find(track);
    if (sent != recording.emitted.end()) {
      events += static_cast<double>(sent->second);
    } else if (stored != recording.recorded_by_track.end()) {
      events += static_cast<double>(stored->second);
    }
  }
  if (events == 0 || end <= begin) return unavailable("the events of the engine's tracks are not counted");
  MetricValue value = scalar(events * *each / (static_cast<double>(end - begin) * static_cast<double>(engine.size())),
                             recording.recorded.value_or(0));
  value.window = "first to last step, tracks that ran steps";
  value.beside = {{"one event", "ns", *each}};
  return value;
}

}  // namespace

void register_instrument(Catalogue& catalogue) {
  catalogue.add({.name = "events_lost",
                 .unit = "events",
                 .definition = "events that emitters produced and the recording does not hold, by cause; recorded = "
                               "emitted - lost must balance on "
                               "every track",
                 .needs = "the recording's own loss table",
                 .direction = Direction::lower_is_better,
                 .compute = events_lost});
  catalogue.add(
      {.name = "recording_overhead",
       .unit = "ratio",
       .definition =
           "events emitted on the tracks that ran steps x measured cost of one event / run time of those tracks",
       .needs = "environment recording.event_ns, measured by the recorder",
       .events = Events::steps,
       .direction = Direction::lower_is_better,
       .compute = overhead});
  register_readings(catalogue);
}

}  // namespace dmprof
