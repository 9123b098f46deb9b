// What a card tells whoever records it. Times are virtual picoseconds.
#pragma once

#include <cstdint>

#include "samples/simcard/memory/store.h"

namespace dmprof::simcard {

enum class Stage : std::uint8_t { host, prefill, candidate_generation, verification, acceptance };
enum class RequestMoment : std::uint8_t { arrive, schedule, first_token, end };
enum class StreamKind : std::uint8_t { weights, draft };  // weights: dense ones, with KV

struct StepReport {
  std::uint64_t step = 0;
  SimTime start = 0, end = 0;
  bool prefill = false;
  std::uint32_t batch = 0, waiting = 0;
  std::uint64_t target_tokens = 0;
  SimTime draft_time = 0, verify_time = 0, accept_time = 0;
  std::uint64_t parameter_bytes = 0, kv_bytes = 0, flops = 0;
};

struct SpeculationReport {
  std::uint64_t step = 0, request = 0;
  SimTime end = 0;
  std::uint64_t position = 0;
  std::uint32_t drafted = 0, accepted = 0, emitted = 0;
  SimTime draft_time = 0, verify_time = 0, accept_time = 0;
};

enum class AskedTier : std::uint8_t { l0, l1 };

// One for each tier that was asked, the fastest first; the wait is told by the last.
struct AccessReport {
  SimTime time = 0, wait = 0;
  AskedTier tier = AskedTier::l1;
  BlockId block = 0;
  std::uint64_t bytes = 0, step = 0;
  Found outcome = Found::hit;
  Origin origin = Origin::resident;
  bool predicted = false;        // something was predicted for the layer
  bool predicted_right = false;  // and this block was among it
};

struct LayerReport {
  SimTime start = 0, end = 0, stall = 0;
  std::uint64_t flops = 0, bytes = 0, step = 0;
  std::uint64_t l1_bytes = 0;  // read from L1, from `start` on, for `l1_time`
  SimTime l1_time = 0;
};

class CardObserver {
 public:
  virtual ~CardObserver() = default;
  virtual void on_request(RequestMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) = 0;
  virtual void on_stage(Stage stage, SimTime start, SimTime end, std::uint64_t step) = 0;
  virtual void on_engine(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) = 0;
  virtual void on_prediction(SimTime start, SimTime scheduling, SimTime end, std::uint64_t step) = 0;
  virtual void on_step(const StepReport& step) = 0;
  virtual void on_speculation(const SpeculationReport& report) = 0;
  virtual void on_access(const AccessReport& access) = 0;
  virtual void on_layer(const LayerReport& layer) = 0;
  virtual void on_prefetch(const PrefetchNotice& notice, SimTime time, std::uint64_t step) = 0;
  virtual void on_block_transfer(const BlockTransfer& transfer) = 0;
  virtual void on_stream(StreamKind kind, std::uint64_t bytes, SimTime start, SimTime end) = 0;
  virtual void on_energy(SimTime time, double joules) = 0;  // since the beginning
  virtual void on_queue(SimTime time, std::uint64_t batch, std::uint64_t waiting) = 0;
};

}  // namespace dmprof::simcard
