// What an observer of the node is told. Telling changes nothing: a run that is watched is the run that is not.
#include <algorithm>

#include "samples/simcard/serve/node_run.h"

namespace dmprof::simcard {

void NodeRun::on_service(const Job& job, std::uint32_t unit, SimTime start) {
  if (job.kind == prefilled) return observer()->on_prefill(unit, start, simulation_.now(), job.argument + 1);
  observer()->on_draft(unit, start, simulation_.now(), job.argument + 1);
}

void NodeRun::tell(ServeMoment moment, std::uint64_t id, std::uint64_t tokens) const {
  observer()->on_request(moment, id + 1, simulation_.now(), tokens);
}

// Steps follow one another: with drafts that are verified as they are ready, the next ones begin within this step.
void NodeRun::tell_step(std::span<const ServeSpeculation> sequences) {
  told_.step = result_.steps;
  told_.end = simulation_.now();
  told_.start = std::max(told_.start, told_before_);
  told_before_ = told_.end;
  observer()->on_step(told_, sequences);
  tell_gauges();
}

void NodeRun::tell_gauges() {
  // What the tiers and standing by have taken so far is charged at the end of the run; here it is as of now.
  Energy energy = result_.energy;
  charge_tiers(storage_.use(), energy);
  const double now = seconds(simulation_.now());
  charge_idle(spec_.hardware, now, energy);
  if (spec_.prefill == Prefill::apart)
    charge_idle(spec_.prefill_hardware, now * static_cast<double>(spec_.prefill_nodes), energy);
  observer()->on_gauges(simulation_.now(), kv_.used(), kv_.room(), energy.total);
  observer()->on_queue(simulation_.now(), active_.size(), waiting_.size());
}

}  // namespace dmprof::simcard
