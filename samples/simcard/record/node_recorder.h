// The events of one serving run of a node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/sdk/dmprof.h"
#include "samples/simcard/serve/serve.h"

namespace dmprof::simcard {

// The node is one engine: bytes, FLOPs and bandwidths are those of all its cards. Prompts are steps of their own, told
// after the step that they were computed in. Make it after the process is published, end it before that ends.
class NodeRecorder : public ServeObserver {
 public:
  // Tells of the node's capacities.
  NodeRecorder(const ServeSpec& spec, std::uint32_t clock);
  ~NodeRecorder() override;
  NodeRecorder(const NodeRecorder&) = delete;
  NodeRecorder& operator=(const NodeRecorder&) = delete;

  void on_request(ServeMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) override;
  void on_draft(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) override;
  void on_prefill(std::uint32_t node, SimTime start, SimTime end, std::uint64_t request) override;
  void on_cache_sent(SimTime start, SimTime end, double bytes) override;
  void on_step(const ServeStep& step, std::span<const ServeSpeculation> sequences) override;
  void on_tier_transfer(const TierTransfer& transfer) override;
  void on_queue(SimTime time, std::uint64_t active, std::uint64_t waiting) override;
  void on_gauges(SimTime time, double kv_used, double kv_room, double joules) override;

 private:
  void register_capacities(const ServeSpec& spec);
  dmprof_track* track(const std::string& name);
  void slice(dmprof_track* track, std::uint32_t name, SimTime start, SimTime end, std::uint64_t step,
             std::uint64_t argument = 0, std::uint32_t depth = 0);
  void transfer(dmprof_track* track, std::uint32_t from, std::uint32_t to, SimTime start, SimTime end, double bytes,
                double useful, double depth);
  void tell_stages(const ServeStep& step, SimTime end, std::uint64_t id);
  void tell_links(const ServeStep& step, std::uint64_t id);
  void counter(std::uint32_t name, double value);

  std::uint32_t clock_;
  std::vector<dmprof_track*> tracks_;  // each once
  dmprof_track *compute_, *requests_, *memory_, *link_;
  std::vector<dmprof_track*> engines_, prefill_nodes_, tier_tracks_;
  std::uint32_t memory_tier_ = 0, link_tier_ = 0, compute_tier_ = 0;
  std::vector<std::uint32_t> tiers_;
  std::uint64_t steps_ = 0;
  struct {
    std::uint32_t draft, drafting, verification, host, prefill, pass, all_reduce, all_to_all, hops, servers;
    std::uint32_t batch, waiting, kv_usage, kv_bytes, energy;
  } names_{};
};

}  // namespace dmprof::simcard
