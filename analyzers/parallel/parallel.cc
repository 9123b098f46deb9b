#include "analyzers/parallel/parallel.h"

#include <map>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/reported.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

MetricValue kv_transfer_share(const View& view, const Scope&) {
  const Recording& recording = view.recording();
  Intervals transfers, waits;
  for (const Slice& slice : recording.slices) {
    if (recording.name(slice.name) == "kv_transfer") transfers.push_back({slice.start, end_of(slice)});
  }
  if (transfers.empty()) return unavailable("no slice 'kv_transfer' is in the recording: the engine marks none");
  const std::uint64_t count = transfers.size();
  std::map<std::uint64_t, TimeNs> arrived;
  for (const RequestEvent& event : recording.requests) {
    if (event.point == RequestPoint::arrive) arrived[event.request] = event.time;
    const auto arrival = arrived.find(event.request);
    if (event.point != RequestPoint::first_token || arrival == arrived.end()) continue;
    waits.push_back({arrival->second, event.time});
    arrived.erase(arrival);
  }
  waits = unite(std::move(waits));
  if (total(waits) <= 0) return unavailable(reasons::no_requests(view));
  MetricValue value = scalar(
      static_cast<double>(total(intersect(waits, unite(std::move(transfers))))) / static_cast<double>(total(waits)),
      count);
  value.window = "whole run";
  return value;
}

}  // namespace

void register_parallel(Catalogue& catalogue) {
  const Events steps = Events::steps | Events::speculation;
  const auto share = [&](const char* name, const char* slice, const char* definition) {
    catalogue.add({.name = name,
                   .unit = "ratio",
                   .definition = definition,
                   .needs = std::string("slices '") + slice + "' within steps",
                   .events = steps | Events::slices,
                   .direction = Direction::lower_is_better,
                   .by = {By::window},
                   .compute = reported::slice_share(slice)});
  };
  const auto gauge = [&](const char* name, const char* unit, const char* definition, Direction direction) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = std::string("a counter '") + name + "'",
                   .events = steps | Events::counters,
                   .direction = direction,
                   .by = {By::window},
                   .compute = reported::counter_mean(name, unit)});
  };
  gauge("expert_imbalance", "x", "tokens of the busiest expert group / mean over groups, averaged over layers",
        Direction::lower_is_better);
  share("all_to_all_share", "all_to_all", "time of all-to-all exchanges within steps / step time");
  share("all_reduce_share", "all_reduce", "time of all-reduce within steps / step time");
  share("parameter_server_share", "parameter_server",
        "time of reads from the parameter server within steps / step time");
  share("coherence_share", "coherence", "time of cache coherence traffic within steps / step time");
  gauge("pool_utilization", "ratio", "busy share of a pool (prefill, decode)", Direction::none);
  gauge("prefill_pool_utilization", "ratio", "busy share of the cards that compute prompts", Direction::none);
  gauge("decode_pool_utilization", "ratio", "busy share of the cards that decode", Direction::none);
  gauge("kv_transfer_descriptor_bytes", "B", "bytes that one descriptor moves when KV goes from card to card",
        Direction::higher_is_better);
  catalogue.add({.name = "kv_transfer_share",
                 .unit = "ratio",
                 .definition =
                     "time of slices 'kv_transfer' while some request waits for its first token / time during "
                     "which some request waits for it",
                 .needs = "slices 'kv_transfer' and request events",
                 .events = Events::slices | Events::requests | Events::steps,
                 .direction = Direction::lower_is_better,
                 .compute = kv_transfer_share});
}

}  // namespace dmprof
