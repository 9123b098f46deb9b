// Emission through the C SDK, in virtual time and lossless: a recording of a run is complete and the same every time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/sdk/dmprof.h"
#include "samples/simcard/card/observer.h"
#include "samples/simcard/card/parameters.h"

namespace dmprof::simcard {

// One process has one. Publishes the process at its making.
class Recorder : public CardObserver {
 public:
  explicit Recorder(const CardParameters& parameters);
  ~Recorder() override;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  bool attached() const { return dmprof_enabled() != 0; }

  void on_request(RequestMoment moment, std::uint64_t request, SimTime time, std::uint64_t tokens) override;
  void on_stage(Stage stage, SimTime start, SimTime end, std::uint64_t step) override;
  void on_engine(std::uint32_t engine, SimTime start, SimTime end, std::uint64_t request) override;
  void on_prediction(SimTime start, SimTime scheduling, SimTime end, std::uint64_t step) override;
  void on_step(const StepReport& step) override;
  void on_speculation(const SpeculationReport& report) override;
  void on_access(const AccessReport& access) override;
  void on_layer(const LayerReport& layer) override;
  void on_prefetch(const PrefetchNotice& notice, SimTime time) override;
  void on_block_transfer(const BlockTransfer& transfer) override;
  void on_stream(StreamKind kind, std::uint64_t bytes, SimTime start, SimTime end) override;
  void on_queue(SimTime time, std::uint64_t batch, std::uint64_t waiting) override;

 private:
  struct Span {
    std::uint64_t start = 0, duration = 0;
  };
  static Span span(SimTime start, SimTime end);
  void slice(dmprof_track* track, std::uint32_t name, SimTime start, SimTime end, std::uint64_t step,
             std::uint64_t argument = 0);
  void transfer(dmprof_track* track, std::uint32_t from, std::uint32_t to, const BlockTransfer& transfer);
  void register_capacities(const CardParameters& parameters);

  std::uint32_t clock_;
  dmprof_track *compute_, *prefetch_, *memory_, *requests_;
  std::vector<dmprof_track*> engines_;
  std::array<std::uint32_t, 5> stages_;
  std::uint32_t draft_, prediction_, scheduling_, layer_, batch_, waiting_;
  std::uint32_t l0_ = 0, l1_ = 0, l2_ = 0, engine_ = 0;
};

}  // namespace dmprof::simcard
