// What each event type looks like on a timeline: its lane group, its name and the arguments shown when it is selected.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dmprof/export/timeline.h"

namespace dmprof::exporting {

// Resolves ids of the recording.
struct Names {
  std::function<std::string_view(NameId)> name;
  std::function<std::string_view(TierId)> tier;
};

struct SpanText {
  std::string name;
  std::vector<Argument> arguments;
  bool instant = false;  // drawn as a point although the type has a duration
};

// Specialised per type: `group` ("" = the thread's own lane), `category`, describe().
template <class E>
struct SpanOf;

#define DMPROF_EXPORT_SPAN(Type, Group, Category)                    \
  template <>                                                        \
  struct SpanOf<Type> {                                              \
    static constexpr std::string_view group = Group;                 \
    static constexpr std::string_view category = Category;           \
    static SpanText describe(const Type& event, const Names& names); \
  }

DMPROF_EXPORT_SPAN(Slice, "", "slice");
DMPROF_EXPORT_SPAN(Instant, "", "instant");
DMPROF_EXPORT_SPAN(Step, "steps", "step");
DMPROF_EXPORT_SPAN(Kernel, "kernels", "kernel");
DMPROF_EXPORT_SPAN(Transfer, "transfers", "transfer");
DMPROF_EXPORT_SPAN(BlockAccess, "block accesses", "cache");
DMPROF_EXPORT_SPAN(SpeculationStep, "speculation", "speculation");
DMPROF_EXPORT_SPAN(Prefetch, "prefetch", "cache");

#undef DMPROF_EXPORT_SPAN

// Where an event's span ends. An access is a point in the recording, but its wait is drawn.
template <class E>
TimeNs span_end(const E& event) {
  return end_of(event);
}
template <>
inline TimeNs span_end(const BlockAccess& event) {
  return add_duration(event.time, event.wait);
}

// A request from its arrival to its end, with the parts that are known: queued, prefill, decode.
struct RequestSpan {
  struct Part {
    std::string_view name;
    TimeNs start = 0, end = 0;
  };
  TrackId track = 0;
  TimeNs start = 0, end = 0;
  std::string name;
  std::vector<Argument> arguments;
  std::vector<Part> parts;
};

// From events in time order; sorted by track, start and descending end. A request without an end reaches to its last
// point.
std::vector<RequestSpan> request_spans(const std::vector<RequestEvent>& events);

}  // namespace dmprof::exporting
