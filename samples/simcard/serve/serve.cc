#include "samples/simcard/serve/serve.h"

#include <algorithm>
#include <deque>
#include <memory>

#include <fmt/format.h>

#include "samples/simcard/core/random.h"
#include "samples/simcard/core/server.h"

namespace dmprof::simcard {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

struct Sequence {
  workload::Request request;
  SimTime arrived = 0, drafting = 0, first = 0, last = 0;
  std::int64_t emitted = 0;
  double prefill = 0;  // s still owed on the decoding cards
  double length() const { return real(request.prompt_tokens + emitted); }
};

class Node : public Actor {
 public:
  Node(const ServeSpec& spec, workload::Source source)
      : spec_(spec),
        source_(std::move(source)),
        luck_(spec.seed, "acceptance"),
        noise_(spec.seed, "residuals"),
        engines_(simulation_, engines_of(spec.hardware)),
        prefills_(simulation_, static_cast<std::uint32_t>(spec.prefill_nodes)) {
    schedule_next();
  }

  ServeResult run() {
    const Ended ended = simulation_.run(kLongestRun);
    account();
    result_.overloaded = result_.overloaded || ended == Ended::overloaded || ended == Ended::time_up;
    result_.seconds = seconds(simulation_.now());
    result_.mean_present = result_.seconds > 0 ? present_ / result_.seconds : 0;
    result_.throughput = measured_s_ > 0 ? static_cast<double>(measured_tokens_) / measured_s_ : 0;
    result_.step_time = distribution(std::move(step_times_));
    result_.queue_wait = distribution(std::move(waits_));
    result_.first_token = distribution(std::move(first_tokens_));
    result_.token_gap = distribution(std::move(gaps_));
    result_.residence = distribution(std::move(residences_));
    result_.time_per_token = distribution(std::move(per_token_));
    const ServerStatistics drafts = engines_.statistics();
    if (drafts.observed > 0) result_.engine_utilization = drafts.busy / (drafts.observed * engines_.units());
    if (drafts.completed > 0) result_.engine_wait = drafts.waiting / static_cast<double>(drafts.completed);
    charge_idle(spec_.hardware, result_.seconds, result_.energy);
    if (spec_.prefill == Prefill::apart)
      charge_idle(spec_.prefill_hardware, result_.seconds * real(spec_.prefill_nodes), result_.energy);
    return result_;
  }

  void on_event(std::uint32_t kind, std::uint64_t id) override {
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
      default:
        return;
    }
  }

 private:
  enum : std::uint32_t { arrive, prefilled, transferred, drafted, verified };

  static std::uint32_t engines_of(const Hardware& h) {
    if (h.engines == 0) return 1;
    return static_cast<std::uint32_t>(h.mirrored ? h.engines : h.engines * h.cards);
  }

  void account() {
    present_ += seconds(simulation_.now() - accounted_) * real(present_now_);
    accounted_ = simulation_.now();
  }

  void schedule(workload::Request request) {
    const std::uint64_t id = sequences_.size();
    ++result_.issued;
    const SimTime at = std::max(simulation_.now(), from_nanoseconds(request.arrival_ns));
    sequences_.push_back({std::move(request)});
    simulation_.at(at, *this, arrive, id);
  }

  // One arrival is pending at a time, so that a workload without end needs no memory.
  void schedule_next() {
    while (result_.issued < static_cast<std::uint64_t>(spec_.requests)) {
      auto request = source_.next();
      if (!request) return;
      const bool now = request->arrival_ns == 0;
      schedule(std::move(*request));
      if (!now) return;
    }
  }

  void arrived(std::uint64_t id) {
    account();
    ++present_now_;
    Sequence& s = sequences_[id];
    s.arrived = simulation_.now();
    if (s.request.arrival_ns > 0) schedule_next();
    if (present_now_ > spec_.most_waiting + spec_.most_active) {
      result_.overloaded = true;
      return simulation_.stop();
    }
    if (spec_.prefill == Prefill::none) return enter(id);
    const Hardware& where = spec_.prefill == Prefill::apart ? spec_.prefill_hardware : spec_.hardware;
    const StepCost cost = prefill_cost(where, spec_.model, spec_.parallel, real(s.request.prompt_tokens));
    charge_step(where, cost, result_.energy);
    result_.flops += cost.flops;
    result_.memory_bytes += cost.memory_bytes;
    result_.link_bytes += cost.link_bytes;
    s.prefill = cost.total();
    if (spec_.prefill == Prefill::together) return enter(id);
    prefills_.submit({from_seconds(s.prefill), this, prefilled, id});
    s.prefill = 0;
  }

  SimTime transfer_time(const Sequence& s) {
    const double bytes = kv_bytes_per_token(spec_.model) * real(s.request.prompt_tokens);
    const Link& link = spec_.hardware.link;  // every card receives its part of the cache
    result_.link_bytes += bytes;
    result_.energy.link += bytes * 8 * link.energy_per_bit;
    result_.energy.total += bytes * 8 * link.energy_per_bit;
    return from_seconds(bytes / (link.bandwidth * real(spec_.hardware.cards)) + link.latency);
  }

  void enter(std::uint64_t id) {
    waiting_.push_back(id);
    // Waiting for all drafts, a newcomer joins between steps; otherwise whenever there is room.
    if (active_.empty() || !spec_.wait_for_all_drafts) admit();
  }

  void admit() {
    while (!waiting_.empty() && active_.size() < static_cast<std::size_t>(spec_.most_active)) {
      const std::uint64_t id = waiting_.front();
      waiting_.pop_front();
      active_.push_back(id);
      waits_.push_back(seconds(simulation_.now() - sequences_[id].arrived));
      draft(id);
    }
  }

  double acceptance(const Sequence& s, std::int64_t position) const {
    const auto& curve = spec_.speculation.acceptance;
    const double a = curve[std::min<std::size_t>(static_cast<std::size_t>(position), curve.size() - 1)];
    return spec_.speculation.falloff > 0 ? a / (1 + s.length() / spec_.speculation.falloff) : a;
  }

  double draft_seconds() {
    const std::int64_t lookahead = spec_.speculation.lookahead;
    const CoarseDraft& coarse = spec_.hardware.coarse;
    if (coarse.lookahead == 0) return real(lookahead) * spec_.hardware.draft_token;
    double time = 0;
    for (std::int64_t have = 0; have < lookahead; ++have) {  // a fine pass gives one token and what was guessed right
      time += real(coarse.lookahead) * coarse.token + spec_.hardware.draft_token;
      for (std::int64_t i = 0; i < coarse.lookahead && luck_.chance(coarse.acceptance); ++i) ++have;
    }
    return time;
  }

  void draft(std::uint64_t id) {
    sequences_[id].drafting = simulation_.now();
    if (spec_.speculation.lookahead == 0) return simulation_.after(0, *this, drafted, id);
    result_.drafted += static_cast<std::uint64_t>(spec_.speculation.lookahead);
    charge_drafts(spec_.hardware, real(spec_.speculation.lookahead), result_.energy);
    engines_.submit({from_seconds(draft_seconds()), this, drafted, id});
  }

  void verify() {
    if (!batch_.empty() || ready_.empty()) return;
    if (spec_.wait_for_all_drafts && ready_.size() < active_.size()) return;
    batch_.swap(ready_);
    double context = 0, prefill = 0, resident = 0;
    for (const std::uint64_t id : batch_) {
      context += sequences_[id].length() / static_cast<double>(batch_.size());
      prefill += sequences_[id].prefill;
      sequences_[id].prefill = 0;
    }
    for (const std::uint64_t id : active_) resident += sequences_[id].length() * kv_bytes_per_token(spec_.model);
    const StepCost cost = step_cost(spec_.hardware, spec_.model, spec_.parallel, static_cast<double>(batch_.size()),
                                    real(spec_.speculation.lookahead + 1), context, resident);
    charge_step(spec_.hardware, cost, result_.energy);
    result_.memory_bytes += cost.memory_bytes;
    result_.link_bytes += cost.link_bytes;
    result_.pool_bytes += cost.pool_bytes;
    result_.flops += cost.flops;
    result_.last_step = cost;
    const Residuals& r = spec_.hardware.residuals;
    double time = (cost.total() + r.host) * noise_.lognormal(1, r.jitter_sigma);
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      if (noise_.chance(r.stall_probability)) time += noise_.exponential(r.stall_mean);
    }
    result_.verify_seconds += cost.total();
    simulation_.after(from_seconds(time + prefill), *this, verified);
  }

  void step_done() {
    const SimTime now = simulation_.now();
    ++result_.steps;
    const bool measured = result_.steps > static_cast<std::uint64_t>(spec_.warm_up) &&
                          result_.issued < static_cast<std::uint64_t>(spec_.requests);
    SimTime began = now;
    std::vector<std::uint64_t> batch;
    batch.swap(batch_);
    std::vector<std::uint64_t> going;
    for (const std::uint64_t id : batch) {
      Sequence& s = sequences_[id];
      began = std::min(began, s.drafting);
      std::int64_t gained = 1;
      while (gained <= spec_.speculation.lookahead && luck_.chance(acceptance(s, gained - 1))) ++gained;
      result_.accepted += static_cast<std::uint64_t>(gained - 1);
      gained = std::min(gained, s.request.output_tokens - s.emitted);
      if (s.emitted == 0) {
        s.first = now;
        first_tokens_.push_back(seconds(now - s.arrived));
      } else if (measured) {
        gaps_.push_back(seconds(now - s.last));
        for (std::int64_t i = 1; i < gained; ++i) gaps_.push_back(0);
      }
      s.last = now;
      s.emitted += gained;
      result_.tokens += static_cast<std::uint64_t>(gained);
      if (measured) measured_tokens_ += static_cast<std::uint64_t>(gained);
      if (s.emitted < s.request.output_tokens)
        going.push_back(id);
      else
        complete(id);
    }
    if (measured) {
      step_times_.push_back(seconds(now - began));
      measured_s_ += seconds(now - last_step_);
    }
    last_step_ = now;
    for (const std::uint64_t id : going) draft(id);
    admit();
    verify();
  }

  void complete(std::uint64_t id) {
    account();
    --present_now_;
    Sequence& s = sequences_[id];
    ++result_.completed;
    result_.tokens_asked += static_cast<std::uint64_t>(s.request.output_tokens);
    residences_.push_back(seconds(simulation_.now() - s.arrived));
    if (s.emitted > 1) per_token_.push_back(seconds(s.last - s.first) / real(s.emitted - 1));
    active_.erase(std::find(active_.begin(), active_.end(), id));
    if (result_.issued >= static_cast<std::uint64_t>(spec_.requests)) return;
    if (auto next = source_.after_completion(simulation_.now() / kNanosecond)) schedule(std::move(*next));
  }

  const ServeSpec& spec_;
  workload::Source source_;
  Simulation simulation_;
  Random luck_, noise_;
  Server engines_, prefills_;
  std::deque<Sequence> sequences_;
  std::deque<std::uint64_t> waiting_;
  std::vector<std::uint64_t> active_, ready_, batch_;
  ServeResult result_;
  std::vector<double> step_times_, waits_, first_tokens_, gaps_, residences_, per_token_;
  double present_ = 0, measured_s_ = 0;
  std::int64_t present_now_ = 0;
  std::uint64_t measured_tokens_ = 0;
  SimTime accounted_ = 0, last_step_ = 0;
};

Status check(const ServeSpec& spec) {
  const auto wrong = [](std::string what) { return fail(ErrorKind::bad_input, std::move(what)); };
  if (spec.most_active < 1) return wrong("no request may be active; allow at least one");
  if (spec.requests < 1) return wrong("no request is issued; ask for at least one");
  const std::int64_t stages = spec.parallel.pipeline_stages;
  if (stages < 1 || spec.hardware.cards % stages != 0)
    return wrong(
        fmt::format("{} pipeline stages do not divide {} cards; choose a divisor", stages, spec.hardware.cards));
  if (spec.speculation.acceptance.empty()) return wrong("the acceptance curve is empty; give at least one value");
  const double held = parameters(spec.model) * spec.model.weight_bytes;
  if (held > spec.hardware.memory_capacity * real(spec.hardware.cards) && spec.hardware.pool.bandwidth <= 0)
    return wrong(fmt::format("{} needs {:.0f} GB, {} holds {:.0f} GB and has no pool; add cards or a pool",
                             spec.model.name, held / 1e9, spec.hardware.name,
                             spec.hardware.memory_capacity * real(spec.hardware.cards) / 1e9));
  return {};
}

}  // namespace

double ServeResult::little() const {
  if (completed == 0 || seconds <= 0) return 0;
  return mean_present / (static_cast<double>(completed) / seconds * residence.mean);
}

Result<ServeResult> serve(const ServeSpec& spec, workload::Source source) {
  DMPROF_TRY(check(spec));
  return Node(spec, std::move(source)).run();
}

}  // namespace dmprof::simcard
