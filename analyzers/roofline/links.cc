// How links are used: how many transfers are on their way, how large they are, how much of them was asked for.
#include <algorithm>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/roofline/roofline.h"
#include "dmprof/event/describe.h"

namespace dmprof {
namespace {

template <class Visit>
std::uint64_t each_transfer(const View& view, const Scope& scope, Visit&& visit) {
  std::uint64_t count = 0;
  for (const Transfer& transfer : view.recording().transfers) {
    if (view.in_scope(transfer.track, transfer.start, scope)) visit(transfer), ++count;
  }
  return count;
}

MetricValue queue_depth(const View& view, const Scope& scope) {
  const Intervals time = view.time(scope);
  double busy = 0;
  std::uint64_t count = 0;
  for (const Transfer& transfer : view.recording().transfers) {
    const TimeNs inside = overlap(time, {transfer.start, end_of(transfer)});
    busy += static_cast<double>(inside);
    count += inside > 0 ? 1 : 0;
  }
  if (count == 0 || total(time) <= 0) return unavailable(reasons::no_transfers());
  return scalar(busy / static_cast<double>(total(time)), count);
}

MetricValue bytes_per_transfer(const View& view, const Scope& scope) {
  RatioEstimate bytes;
  each_transfer(view, scope, [&](const Transfer& one) { bytes.add(static_cast<double>(one.bytes), 1); });
  return bytes.denominator() > 0 ? ratio_value(bytes) : unavailable(reasons::no_transfers());
}

MetricValue read_amplification(const View& view, const Scope& scope) {
  RatioEstimate bytes;
  const std::uint64_t count = each_transfer(view, scope, [&](const Transfer& one) {
    bytes.add(static_cast<double>(one.bytes), static_cast<double>(one.useful_bytes));
  });
  if (count == 0) return unavailable(reasons::no_transfers());
  return bytes.denominator() > 0 ? ratio_value(bytes)
                                 : unavailable("transfers do not say how many of their bytes were asked for");
}

}  // namespace

void register_links(Catalogue& catalogue) {
  const auto add = [&](const char* name, const char* unit, const char* definition, Direction direction,
                       MetricValue (*compute)(const View&, const Scope&)) {
    catalogue.add({.name = name,
                   .unit = unit,
                   .definition = definition,
                   .needs = "transfers",
                   .events = Events::transfers | Events::steps | Events::speculation,
                   .direction = direction,
                   .by = {By::window},
                   .compute = compute});
  };
  add("link_queue_depth", "requests",
      "transfers on their way, averaged over wall time of decoding: below 1 a link that looks busy waits for latency",
      Direction::none, queue_depth);
  add("bytes_per_transfer", "B", "bytes of a transfer between tiers during decoding, on average",
      Direction::higher_is_better, bytes_per_transfer);
  add("read_amplification", "x", "bytes moved between tiers during decoding / bytes somebody asked for",
      Direction::lower_is_better, read_amplification);
}

}  // namespace dmprof
