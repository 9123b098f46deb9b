// The events of one card.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/sdk/dmprof.h"
#include "samples/simcard/card/observer.h"
#include "samples/simcard/record/bench.h"

namespace dmprof::simcard {

// Ids that all cards of the process share. Tiers are those of all cards together.
struct RecordedNames {
  std::uint32_t clock = 0;
  std::array<std::uint32_t, 5> stages{};
  std::uint32_t draft = 0, prediction = 0, scheduling = 0, layer = 0, batch = 0, waiting = 0, energy = 0;
  std::uint32_t l0 = 0, l1 = 0, l2 = 0, engine = 0;
};

inline constexpr std::uint64_t kMostTracks = 4000;  // the SDK has room for 4096
inline constexpr std::uint32_t kMostRecordedCards = kMostTracks / 3;

// Whether every engine, requests and streams have tracks of their own. Many cards are recorded on three tracks each.
bool tracks_apart(std::uint32_t cards, std::uint32_t engines);

// Of several cards each has tracks of its own, "card 3/compute". Ids of steps, requests and blocks are unique among
// the cards; those of a card alone are its own.
class CardRecorder : public CardObserver {
 public:
  CardRecorder(const RecordedNames& names, std::uint32_t index, std::uint32_t cards, std::uint32_t engines);
  ~CardRecorder() override;
  CardRecorder(const CardRecorder&) = delete;
  CardRecorder& operator=(const CardRecorder&) = delete;

  // Decode steps so far.
  const BatchCounts& batches() const { return batches_; }

  void on_request(RequestMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) override;
  void on_stage(Stage stage, SimTime start, SimTime end, std::uint64_t step) override;
  void on_engine(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) override;
  void on_prediction(SimTime start, SimTime scheduling, SimTime end, std::uint64_t step) override;
  void on_step(const StepReport& step) override;
  void on_speculation(const SpeculationReport& report) override;
  void on_access(const AccessReport& access) override;
  void on_layer(const LayerReport& layer) override;
  void on_prefetch(const PrefetchNotice& notice, SimTime time, std::uint64_t step) override;
  void on_block_transfer(const BlockTransfer& transfer) override;
  void on_stream(StreamKind kind, std::uint64_t bytes, SimTime start, SimTime end) override;
  void on_energy(SimTime time, double joules) override;
  void on_queue(SimTime time, std::uint64_t batch, std::uint64_t waiting) override;

 private:
  void slice(dmprof_track* track, std::uint32_t name, SimTime start, SimTime end, std::uint64_t step,
             std::uint64_t argument = 0);
  void transfer(dmprof_track* track, std::uint32_t from, std::uint32_t to, const BlockTransfer& transfer);
  dmprof_track* track(const std::string& what);
  std::uint64_t step_id(std::uint64_t step) const { return step == 0 ? 0 : (step - 1) * cards_ + index_ + 1; }
  std::uint64_t block_id(BlockId block) const { return block * cards_ + index_; }

  const RecordedNames& names_;
  std::uint32_t index_, cards_;
  BatchCounts batches_;
  std::vector<dmprof_track*> tracks_;  // each once
  dmprof_track *compute_, *prefetch_, *memory_, *requests_;
  std::vector<dmprof_track*> engines_;
};

}  // namespace dmprof::simcard
