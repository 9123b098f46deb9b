// Hands the requests of a workload to a card as they arrive.
#pragma once

#include <optional>

#include "dmprof/workload/arrivals.h"
#include "samples/simcard/card/card.h"

namespace dmprof::simcard {

class Feed : public Actor {
 public:
  // The card outlives the feed.
  Feed(Simulation& simulation, workload::Source source, Card& card);
  void begin();
  // A request was refused: requests come faster than the card answers.
  bool overrun() const { return overrun_; }
  void on_event(std::uint32_t kind, std::uint64_t argument) override;

 private:
  enum Event : std::uint32_t { arrived, ended, thought };  // thought: prompt << 32 | output
  void send(std::uint32_t prompt, std::uint32_t output);
  void send_due();

  Simulation& simulation_;
  workload::Source source_;
  Card& card_;
  std::optional<workload::Request> next_;  // one is pending at a time: a workload without end needs no memory
  bool overrun_ = false;
};

}  // namespace dmprof::simcard
