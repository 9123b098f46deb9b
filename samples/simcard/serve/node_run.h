// One run of a node: the events of requests, drafts, steps and transfers. Private to this folder; see serve.h.
#pragma once

#include <deque>
#include <vector>

#include "samples/simcard/core/server.h"
#include "samples/simcard/serve/cold_weights.h"
#include "samples/simcard/serve/kv_memory.h"
#include "samples/simcard/serve/measures.h"

namespace dmprof::simcard {

class NodeRun : public Actor, private ServerListener {
 public:
  // `spec` must outlive the run.
  NodeRun(const ServeSpec& spec, workload::Source source);

  // False where the tiers cannot hold the weights that the memory does not.
  bool possible() const { return cold_.held(); }
  ServeResult run();

  void on_event(std::uint32_t kind, std::uint64_t id) override;

 private:
  enum : std::uint32_t { arrive, prefilled, transferred, drafted, verified, written, read };

  // node_run.cc: from arrival to completion
  void schedule(workload::Request request);
  void schedule_next();
  void arrived(std::uint64_t id);
  void refuse();
  void start_prefill(std::uint64_t id);
  SimTime transfer_time(const Sequence& s);
  void draft(std::uint64_t id);
  void verify();
  SimTime pass_end(double& prefill);
  void step_done();
  void complete(std::uint64_t id);
  void next_of_user();

  // node_memory.cc: who is in memory
  void enter(std::uint64_t id);
  void admit();
  void join(std::uint64_t id);
  double growth() const;  // bytes by which one sequence may grow in a step
  double claimed(std::size_t more) const;
  void make_room(std::vector<std::uint64_t>& going);
  bool send_waiting_out(bool first_too);
  void preempt(std::uint64_t id);
  void cache_written(std::uint64_t id);
  void cache_read(std::uint64_t id);
  // node_told.cc: what an observer is told. Nobody calls these without one.
  void on_service(const Job& job, std::uint32_t unit, SimTime start) override;
  void tell(ServeMoment moment, std::uint64_t id, std::uint64_t tokens = 0) const;
  void tell_step(std::span<const ServeSpeculation> sequences);
  void tell_gauges();
  ServeObserver* observer() const { return spec_.observer; }

  bool between_steps() const { return active_.empty() || !spec_.wait_for_all_drafts; }

  const ServeSpec& spec_;
  workload::Source source_;
  Simulation simulation_;
  Random luck_, noise_;
  Server engines_, prefills_;
  Storage storage_;
  ColdWeights cold_;
  KvMemory kv_;
  std::deque<Sequence> sequences_;
  std::deque<std::uint64_t> waiting_;
  std::vector<std::uint64_t> active_, ready_, batch_;  // active_ in the order of admission
  std::size_t arriving_ = 0;                           // admitted, their cache under way
  ServeStep told_;                                     // of the step under way
  SimTime told_before_ = 0;                            // end of the step before
  Measures measures_;
  ServeResult result_;
};

}  // namespace dmprof::simcard
