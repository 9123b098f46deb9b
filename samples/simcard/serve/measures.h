// What is measured during a run: samples by request and step, and the integral of the requests present.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/simcard/serve/sequence.h"
#include "samples/simcard/serve/serve.h"

namespace dmprof::simcard {

class Measures {
 public:
  void arrived(SimTime now);
  void admitted(const Sequence& s, SimTime now) { waits_.push_back(seconds(now - s.arrived)); }
  // `s` emits `tokens`, at its first step or `measured` after the last one. Call it before the sequence changes.
  void emitted(const Sequence& s, std::int64_t tokens, bool measured, SimTime now);
  void completed(const Sequence& s, SimTime now);
  // A step that began when the first of its drafts did.
  void step(SimTime began, bool measured, SimTime now);

  std::int64_t present() const { return present_; }
  // Writes everything into the result; the run has ended.
  void summarize(ServeResult& result, SimTime now);

 private:
  void account(SimTime now);

  std::vector<double> step_times_, waits_, first_tokens_, gaps_, residences_, per_token_;
  double present_time_ = 0, measured_s_ = 0;
  std::int64_t present_ = 0;
  std::uint64_t measured_tokens_ = 0;
  SimTime accounted_ = 0, last_step_ = 0;
};

}  // namespace dmprof::simcard
