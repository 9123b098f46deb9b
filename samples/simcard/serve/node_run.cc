#include "samples/simcard/serve/node_run.h"

#include <algorithm>
#include <utility>

namespace dmprof::simcard {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

}  // namespace

NodeRun::NodeRun(const ServeSpec& spec, workload::Source source)
    : spec_(spec),
      source_(std::move(source)),
      luck_(spec.seed, "acceptance"),
      noise_(spec.seed, "residuals"),
      engines_(simulation_, draft_engines(spec.hardware), 0, SIZE_MAX, spec.observer != nullptr ? this : nullptr),
      prefills_(simulation_, static_cast<std::uint32_t>(spec.prefill_nodes), 0, SIZE_MAX,
                spec.observer != nullptr ? this : nullptr),
      storage_(spec.hardware.tiers),
      cold_(spec.hardware, spec.model, spec.kv_share, spec.expert_skew, spec.seed, storage_),
      kv_(spec.hardware.memory() - cold_.resident_bytes(), kv_bytes_per_token(spec.model), storage_) {
  if (observer() != nullptr) storage_.watch(*observer());
  schedule_next();
}

ServeResult NodeRun::run() {
  const Ended ended = simulation_.run(kLongestRun);
  measures_.summarize(result_, simulation_.now());
  result_.overloaded = result_.overloaded || ended == Ended::overloaded || ended == Ended::time_up;
  const ServerStatistics drafts = engines_.statistics();
  if (drafts.observed > 0) result_.engine_utilization = drafts.busy / (drafts.observed * engines_.units());
  if (drafts.completed > 0) result_.engine_wait = drafts.waiting / static_cast<double>(drafts.completed);
  result_.expert_hits = cold_.expert_hits();
  result_.expert_misses = cold_.expert_misses();
  result_.kv_room = kv_.room();
  result_.kv_peak = kv_.peak();
  result_.kv_left = kv_.used();
  result_.tiers = storage_.use();
  charge_tiers(result_.tiers, result_.energy);
  charge_idle(spec_.hardware, result_.seconds, result_.energy);
  if (spec_.prefill == Prefill::apart)
    charge_idle(spec_.prefill_hardware, result_.seconds * real(spec_.prefill_nodes), result_.energy);
  return std::move(result_);
}

void NodeRun::on_event(std::uint32_t kind, std::uint64_t id) {
  switch (kind) {
    case arrive:
      return arrived(id);
    case prefilled:
      return simulation_.after(transfer_time(sequences_[id]), *this, transferred, id);
    case transferred:
      return enter(id);
    case drafted:
      ready_.push_back(id);
      return verify();
    case verified:
      return step_done();
    case written:
      return cache_written(id);
    case read:
      return cache_read(id);
    default:
      return;
  }
}

void NodeRun::schedule(workload::Request request) {
  const std::uint64_t id = sequences_.size();
  ++result_.issued;
  const SimTime at = std::max(simulation_.now(), from_nanoseconds(request.arrival_ns));
  sequences_.emplace_back().request = std::move(request);
  simulation_.at(at, *this, arrive, id);
}

// One arrival is pending at a time, so that a workload without end needs no memory.
void NodeRun::schedule_next() {
  while (result_.issued < static_cast<std::uint64_t>(spec_.requests)) {
    auto request = source_.next();
    if (!request) return;
    const bool now = request->arrival_ns == 0;
    schedule(std::move(*request));
    if (!now) return;
  }
}

void NodeRun::arrived(std::uint64_t id) {
  Sequence& s = sequences_[id];
  s.arrived = simulation_.now();
  const bool opened = s.request.arrival_ns > 0;
  if (kv_.bytes(s.request.prompt_tokens + s.request.output_tokens) + growth() > kv_.room()) {
    ++result_.refused;
    if (opened) schedule_next();
    return next_of_user();
  }
  measures_.arrived(simulation_.now());
  if (observer() != nullptr) tell(ServeMoment::arrive, id, static_cast<std::uint64_t>(s.request.prompt_tokens));
  if (opened) schedule_next();
  if (measures_.present() > spec_.most_waiting + spec_.most_active) {
    result_.overloaded = true;
    return simulation_.stop();
  }
  if (spec_.prefill == Prefill::none) return enter(id);
  start_prefill(id);
  if (spec_.prefill == Prefill::together) return enter(id);
  prefills_.submit({from_seconds(s.prefill), this, prefilled, id});
  s.prefill = 0;
}

// What the sequence's tokens so far cost; paid where prefills are done, at the latest with its next step.
void NodeRun::start_prefill(std::uint64_t id) {
  Sequence& s = sequences_[id];
  const bool elsewhere = spec_.prefill == Prefill::apart && !s.admitted;
  const Hardware& where = elsewhere ? spec_.prefill_hardware : spec_.hardware;
  const StepCost cost = prefill_cost(where, spec_.model, spec_.parallel, real(s.length()));
  charge_step(where, cost, result_.energy);
  result_.flops += cost.flops;
  result_.memory_bytes += cost.memory_bytes;
  result_.link_bytes += cost.link_bytes;
  s.prefill += cost.total();
}

SimTime NodeRun::transfer_time(const Sequence& s) {
  const double bytes = kv_.bytes(s.request.prompt_tokens);
  const Link& link = spec_.hardware.link;  // every card receives its part of the cache
  result_.link_bytes += bytes;
  charge_link(spec_.hardware, bytes, result_.energy);
  const SimTime time = from_seconds(bytes / (link.bandwidth * real(spec_.hardware.cards)) + link.latency);
  if (observer() != nullptr) observer()->on_cache_sent(simulation_.now(), simulation_.now() + time, bytes);
  return time;
}

void NodeRun::draft(std::uint64_t id) {
  sequences_[id].drafting = simulation_.now();
  if (spec_.speculation.lookahead == 0) return simulation_.after(0, *this, drafted, id);
  result_.drafted += static_cast<std::uint64_t>(spec_.speculation.lookahead);
  const DraftWork work = draft_work(spec_.hardware, spec_.speculation, luck_);
  charge_drafts(spec_.hardware, work, result_.energy);
  engines_.submit({from_seconds(draft_seconds(spec_.hardware, work)), this, drafted, id});
}

void NodeRun::verify() {
  if (!batch_.empty() || ready_.empty()) return;
  if (spec_.wait_for_all_drafts && ready_.size() < active_.size()) return;
  // A cache that is leaving may hold the memory yet that this step can need; the step starts when it has left.
  if (kv_.used() + growth() * static_cast<double>(ready_.size()) > kv_.room()) return;
  batch_.swap(ready_);
  double prefill = 0;
  told_ = {};
  told_.verify = simulation_.now();
  told_.waiting = waiting_.size();
  const SimTime end = pass_end(prefill);
  told_.pass = end;
  told_.prefill = from_seconds(prefill);
  const Residuals& r = spec_.hardware.residuals;
  const double pass = seconds(end - simulation_.now());
  double time = (pass + r.host) * noise_.lognormal(1, r.jitter_sigma);
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (noise_.chance(r.stall_probability)) time += noise_.exponential(r.stall_mean);
  }
  result_.verify_seconds += pass;
  simulation_.after(from_seconds(time + prefill), *this, verified);
}

// Charges the pass over the batch and says when it ends; `prefill` is what its sequences owe beside it.
SimTime NodeRun::pass_end(double& prefill) {
  double context = 0;
  for (const std::uint64_t id : batch_) {
    context += real(sequences_[id].length()) / static_cast<double>(batch_.size());
    prefill += sequences_[id].prefill;
    if (sequences_[id].prefill > 0) told_.prompt_tokens += static_cast<std::uint64_t>(sequences_[id].length());
    sequences_[id].prefill = 0;
  }
  const double sequences = static_cast<double>(batch_.size()), tokens = real(spec_.speculation.lookahead + 1);
  Parallel parallel = spec_.parallel;
  Cold cold;
  cold_.route(sequences * tokens, parallel, cold);
  const StepCost cost = step_cost(spec_.hardware, spec_.model, parallel, sequences, tokens, context, cold);
  charge_step(spec_.hardware, cost, result_.energy);
  result_.memory_bytes += cost.memory_bytes;
  result_.link_bytes += cost.link_bytes;
  result_.cold_bytes += cost.cold_bytes;
  result_.flops += cost.flops;
  result_.last_step = told_.cost = cost;
  told_.tokens = tokens;
  told_.kv_bytes = pass(spec_.model, sequences, tokens, context).kv_bytes;
  const SimTime end = cold_.end(cost, simulation_.now());
  if (cold_.any()) result_.cold_seconds += seconds(end - simulation_.now()) - cost.total();
  return end;
}

void NodeRun::step_done() {
  const SimTime now = simulation_.now();
  ++result_.steps;
  const bool measured = result_.steps > static_cast<std::uint64_t>(spec_.warm_up) &&
                        result_.issued < static_cast<std::uint64_t>(spec_.requests);
  SimTime began = now;
  std::vector<std::uint64_t> batch, going;
  std::vector<ServeSpeculation> told;
  batch.swap(batch_);
  for (const std::uint64_t id : batch) {
    Sequence& s = sequences_[id];
    began = std::min(began, s.drafting);
    const std::int64_t accepted = accepted_drafts(spec_.speculation, real(s.length()), luck_);
    result_.accepted += static_cast<std::uint64_t>(accepted);
    const std::int64_t gained = std::min(accepted + 1, s.request.output_tokens - s.emitted);
    measures_.emitted(s, gained, measured, now);
    if (observer() != nullptr)
      told.push_back({id + 1, static_cast<std::uint64_t>(s.length()),
                      static_cast<std::uint32_t>(spec_.speculation.lookahead), static_cast<std::uint32_t>(accepted),
                      static_cast<std::uint32_t>(gained)});
    if (s.emitted == 0) {
      s.first = now;
      if (observer() != nullptr) tell(ServeMoment::first_token, id);
    }
    s.last = now;
    s.emitted += gained;
    kv_.grow(s, gained);
    result_.tokens += static_cast<std::uint64_t>(gained);
    if (s.emitted < s.request.output_tokens)
      going.push_back(id);
    else
      complete(id);
  }
  if (observer() != nullptr) {
    told_.start = began;
    tell_step(told);
  }
  measures_.step(began, measured, now);
  make_room(going);
  for (const std::uint64_t id : going) draft(id);
  admit();
  verify();
}

void NodeRun::complete(std::uint64_t id) {
  Sequence& s = sequences_[id];
  measures_.completed(s, simulation_.now());
  if (observer() != nullptr) tell(ServeMoment::end, id, static_cast<std::uint64_t>(s.emitted));
  kv_.drop(s);
  ++result_.completed;
  result_.tokens_asked += static_cast<std::uint64_t>(s.request.output_tokens);
  active_.erase(std::find(active_.begin(), active_.end(), id));
  next_of_user();
}

void NodeRun::next_of_user() {
  if (result_.issued >= static_cast<std::uint64_t>(spec_.requests)) return;
  if (auto next = source_.after_completion(simulation_.now() / kNanosecond)) schedule(std::move(*next));
}

}  // namespace dmprof::simcard
