#include "dmprof/export/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "dmprof/export/lanes.h"
#include "dmprof/export/spans.h"

namespace dmprof::exporting {

namespace {

// Times come from a file: kept far enough from the ends of their type that sums and differences cannot overflow.
TimeNs in_range(TimeNs time) {
  constexpr TimeNs limit = TimeNs{1} << 60;
  return std::clamp(time, -limit, limit);
}

template <class E>
TimeNs begin_in_range(const E& event) {
  return in_range(begin_of(event));
}

template <class E>
TimeNs end_in_range(const E& event) {
  return std::max(begin_in_range(event), in_range(span_end(event)));
}

class Walker {
 public:
  Walker(const Reader& reader, TimelineWriter& writer) : reader_(reader), writer_(writer) {}

  Status walk() {
    DMPROF_TRY(load_tables());
    DMPROF_TRY(align_clocks());
    for (const auto& [id, process] : processes_) writer_.process(id, process);
    // The thread's own lane comes first, so that viewers show it above the lanes made beside it.
    DMPROF_TRY(spans_of<Slice>());
    DMPROF_TRY(spans_of<Step>());
    DMPROF_TRY(spans_of<Kernel>());
    DMPROF_TRY(spans_of<Transfer>());
    DMPROF_TRY(spans_of<BlockAccess>());
    DMPROF_TRY(requests());
    DMPROF_TRY(instants_of<Instant>());
    DMPROF_TRY(instants_of<SpeculationStep>());
    DMPROF_TRY(instants_of<Prefetch>());
    return counters();
  }

 private:
  using LaneKey =
      std::tuple<TrackId, std::string, std::size_t>;  // track, group ("" = the thread itself), lane within the group

  Status load_tables() {
    auto processes = reader_.processes();
    if (!processes) return tl::unexpected(processes.error());
    for (const ProcessRow& row : *processes) processes_[row.id] = row;
    auto tracks = reader_.tracks();
    if (!tracks) return tl::unexpected(tracks.error());
    for (const TrackRow& row : *tracks) tracks_[row.id] = row;
    auto clocks = reader_.clocks();
    if (!clocks) return tl::unexpected(clocks.error());
    for (const ClockRow& row : *clocks) clocks_[row.id] = row;
    auto capacities = reader_.capacities();
    if (!capacities) return tl::unexpected(capacities.error());
    for (const CapacityRow& row : *capacities) tiers_[row.id] = row.name;
    auto names = reader_.names();
    if (!names) return tl::unexpected(names.error());
    names_ = std::move(*names);
    return {};
  }

  bool is_virtual(std::uint32_t clock) const {
    const auto found = clocks_.find(clock);
    return found != clocks_.end() && found->second.kind == ClockKind::virtual_time;
  }

  Status align_clocks() {
    auto bounds = reader_.time_bounds();
    if (!bounds) return tl::unexpected(bounds.error());
    if (bounds->empty()) return {};
    const bool any_virtual =
        std::any_of(clocks_.begin(), clocks_.end(), [&](const auto& clock) { return is_virtual(clock.first); });
    const bool any_real =
        std::any_of(clocks_.begin(), clocks_.end(), [&](const auto& clock) { return !is_virtual(clock.first); });
    if (any_virtual && any_real) DMPROF_TRY(align_virtual_clocks());
    TimeNs first = in_range(bounds->begin);
    for (const auto& [clock, offset] : offsets_) first = std::min(first, first_by_clock_[clock] + offset);
    base_ = first < 0 ? -first : 0;
    return {};
  }

  Status align_virtual_clocks() {
    Status scanned;
    for_each_event_type([&]<class E>() {
      if (!scanned) return;
      scanned = reader_.for_each<E>({}, [&](const E& event) {
        const auto [place, fresh] = first_by_clock_.emplace(clock_of(event.track), begin_in_range(event));
        if (!fresh) place->second = std::min(place->second, begin_in_range(event));
      });
    });
    DMPROF_TRY(scanned);
    std::optional<TimeNs> real;
    for (const auto& [clock, first] : first_by_clock_) {
      if (!is_virtual(clock)) real = real ? std::min(*real, first) : first;
    }
    for (const auto& [clock, first] : first_by_clock_) {
      if (is_virtual(clock) && real) offsets_[clock] = *real - first;
    }
    return {};
  }

  std::uint32_t clock_of(TrackId track) const {
    const auto found = tracks_.find(track);
    return found == tracks_.end() ? 0 : found->second.clock;
  }

  TimeNs time(TrackId track, TimeNs time) const {
    const auto offset = offsets_.find(clock_of(track));
    return std::max<TimeNs>(0, in_range(time) + base_ + (offset == offsets_.end() ? 0 : offset->second));
  }

  std::string_view name(NameId id) const { return id < names_.size() ? std::string_view(names_[id]) : "?"; }
  std::string_view tier(TierId id) const {
    const auto found = tiers_.find(id);
    return found == tiers_.end() ? "?" : std::string_view(found->second);
  }

  std::uint32_t lane(TrackId track, const std::string& group, std::size_t index) {
    const auto [place, fresh] = lanes_.try_emplace(LaneKey{track, group, index}, next_id_);
    if (!fresh) return place->second;
    ++next_id_;
    const auto found = tracks_.find(track);
    const Track known = found == tracks_.end() ? Track{} : static_cast<const Track&>(found->second);
    std::string title = known.name.empty() ? "track " + std::to_string(track) : known.name;
    if (!group.empty()) title += ": " + group;
    if (index > 0) title += " " + std::to_string(index + 1);
    if (is_virtual(known.clock)) title += " (virtual time)";
    const bool own_thread = group.empty() && index == 0;
    writer_.lane(place->second, known.process, own_thread ? known.thread_id : 0, title);
    return place->second;
  }

  // Sends spans that are sorted by track, start and descending end.
  template <class E>
  Status spans_of() {
    auto loaded = reader_.all<E>();
    if (!loaded) return tl::unexpected(loaded.error());
    std::vector<E>& events = *loaded;
    std::stable_sort(events.begin(), events.end(), [](const E& a, const E& b) {
      return std::tuple(a.track, begin_in_range(a), end_in_range(b)) <
             std::tuple(b.track, begin_in_range(b), end_in_range(a));
    });
    const Names names{[this](NameId id) { return name(id); }, [this](TierId id) { return tier(id); }};
    const std::string group(SpanOf<E>::group);
    Lanes lanes;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const E& event = events[i];
      if (i > 0 && events[i - 1].track != event.track) {
        finish(events[i - 1].track, group, lanes);
        lanes = Lanes();
      }
      const SpanText text = SpanOf<E>::describe(event, names);
      const auto place = text.instant ? std::nullopt : lanes.place(begin_in_range(event), end_in_range(event));
      const TimeNs start = time(event.track, begin_in_range(event));
      if (place) {
        writer_.span(lane(event.track, group, *place), start, end_in_range(event) - begin_in_range(event), text.name,
                     SpanOf<E>::category, text.arguments);
      } else {
        writer_.instant(lane(event.track, group, 0), start, text.name, SpanOf<E>::category, text.arguments);
      }
    }
    if (!events.empty()) finish(events.back().track, group, lanes);
    return {};
  }

  void finish(TrackId track, const std::string& group, const Lanes& lanes) {
    for (std::size_t i = 0; i < lanes.count(); ++i) {
      const auto found = lanes_.find(LaneKey{track, group, i});
      if (found != lanes_.end()) writer_.lane_done(found->second);
    }
  }

  template <class E>
  Status instants_of() {
    const Names names{[this](NameId id) { return name(id); }, [this](TierId id) { return tier(id); }};
    const std::string group(SpanOf<E>::group);
    return reader_.for_each<E>({}, [&](const E& event) {
      const SpanText text = SpanOf<E>::describe(event, names);
      writer_.instant(lane(event.track, group, 0), time(event.track, begin_in_range(event)), text.name,
                      SpanOf<E>::category, text.arguments);
    });
  }

  Status requests() {
    auto events = reader_.all<RequestEvent>();
    if (!events) return tl::unexpected(events.error());
    for (RequestEvent& event : *events) event.time = in_range(event.time);
    std::map<TrackId, std::vector<RequestSpan>> by_track;
    for (RequestSpan& span : request_spans(*events)) by_track[span.track].push_back(std::move(span));
    for (const auto& [track, spans] : by_track) {
      Lanes lanes;
      for (const RequestSpan& span : spans) {
        const auto place = lanes.place_alone(span.start, span.end);
        if (!place) continue;  // more requests at once than a viewer has room for: their steps are still drawn
        const std::uint32_t id = lane(track, "requests", *place);
        writer_.span(id, time(track, span.start), span.end - span.start, span.name, "request", span.arguments);
        for (const RequestSpan::Part& part : span.parts)
          writer_.span(id, time(track, part.start), part.end - part.start, part.name, "request", {});
      }
      finish(track, "requests", lanes);
    }
    return {};
  }

  Status counters() {
    std::map<std::pair<TrackId, NameId>, std::uint32_t> lanes;
    return reader_.for_each<Counter>({}, [&](const Counter& event) {
      if (!std::isfinite(event.value)) return;  // a viewer has no place for it; the CSV export keeps it
      const auto [place, fresh] = lanes.try_emplace({event.track, event.name}, next_id_);
      if (fresh) {
        const auto track = tracks_.find(event.track);
        writer_.counter_lane(next_id_++, track == tracks_.end() ? 0 : track->second.process, name(event.name));
      }
      writer_.counter(place->second, time(event.track, event.time), event.value);
    });
  }

  const Reader& reader_;
  TimelineWriter& writer_;
  std::map<std::uint32_t, ProcessRow> processes_;
  std::map<TrackId, TrackRow> tracks_;
  std::map<std::uint32_t, ClockRow> clocks_;
  std::map<TierId, std::string> tiers_;
  std::vector<std::string> names_;
  std::map<std::uint32_t, TimeNs> first_by_clock_;
  std::map<std::uint32_t, TimeNs> offsets_;
  TimeNs base_ = 0;
  std::map<LaneKey, std::uint32_t> lanes_;
  std::uint32_t next_id_ = 1;
};

}  // namespace

Status walk_timeline(const Reader& reader, TimelineWriter& writer) { return Walker(reader, writer).walk(); }

}  // namespace dmprof::exporting
