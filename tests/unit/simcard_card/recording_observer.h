// Keeps what a card tells, and a hash of all of it.
#pragma once

#include <vector>

#include "samples/simcard/card/observer.h"
#include "samples/simcard/core/random.h"

namespace dmprof::simcard {

struct KeepingObserver : CardObserver {
  std::uint64_t hash = 0, requests_ended = 0, transfer_bytes = 0;
  std::vector<BlockId> asked, asked_of_l0;
  std::vector<PrefetchNotice> prefetches;
  std::vector<BlockTransfer> transfers;
  std::vector<StepReport> steps;

  void note(std::initializer_list<std::uint64_t> words) {
    for (const std::uint64_t word : words) hash = mix(hash, word);
  }
  static std::uint64_t word(SimTime time) { return static_cast<std::uint64_t>(time); }

  void on_request(RequestMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) override {
    note({1, static_cast<std::uint64_t>(moment), request, word(time), tokens});
    requests_ended += moment == RequestMoment::end ? 1 : 0;
  }
  void on_stage(Stage stage, SimTime start, SimTime end, std::uint64_t step) override {
    note({2, static_cast<std::uint64_t>(stage), word(start), word(end), step});
  }
  void on_engine(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) override {
    note({3, engine, word(start), word(end), request});
  }
  void on_prediction(SimTime start, SimTime, SimTime end, std::uint64_t step) override {
    note({4, word(start), word(end), step});
  }
  void on_step(const StepReport& step) override {
    note({5, step.step, word(step.start), word(step.end), step.flops, step.parameter_bytes});
    steps.push_back(step);
  }
  void on_speculation(const SpeculationReport& r) override { note({6, r.request, r.drafted, r.accepted, r.emitted}); }
  void on_access(const AccessReport& a) override {
    note({7, word(a.time), word(a.wait), a.block, static_cast<std::uint64_t>(a.outcome), a.tier == AskedTier::l0});
    (a.tier == AskedTier::l0 ? asked_of_l0 : asked).push_back(a.block);
  }
  void on_layer(const LayerReport& l) override { note({8, word(l.start), word(l.end), word(l.stall)}); }
  void on_prefetch(const PrefetchNotice& notice, SimTime time, std::uint64_t) override {
    note({9, static_cast<std::uint64_t>(notice.point), notice.block, notice.victim, word(time)});
    prefetches.push_back(notice);
  }
  void on_block_transfer(const BlockTransfer& transfer) override {
    note({10, transfer.block, transfer.useful, word(transfer.start), word(transfer.end)});
    transfer_bytes += transfer.bytes;
    transfers.push_back(transfer);
  }
  void on_stream(StreamKind, std::uint64_t bytes, SimTime start, SimTime end) override {
    note({11, bytes, word(start), word(end)});
    transfer_bytes += bytes;
  }
  void on_energy(SimTime, double now) override {
    EXPECT_GE(now, joules);
    joules = now;
  }
  double joules = 0;
  void on_queue(SimTime, std::uint64_t batch, std::uint64_t waiting) override { note({12, batch, waiting}); }
};

}  // namespace dmprof::simcard
