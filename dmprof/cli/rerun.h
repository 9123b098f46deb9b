// Runs the command of a recording again under other settings of its knobs, recorded, and says what each run measured.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "dmprof/base/error.h"
#include "dmprof/cli/recorded_command.h"
#include "dmprof/experiment/compare.h"
#include "dmprof/experiment/search.h"

namespace dmprof::cli {

// Movable. From its first run on it keeps a scratch folder and holds stop signals back while it lives: they end the run
// that is going on and with it the experiment, so that what was set through a file is put back.
class Rerun {
 public:
  // Errors: cannot_answer when the recording does not say how it was made (imported, attached to several processes).
  static Result<Rerun> of(const std::filesystem::path& recording);
  Rerun(Rerun&&) noexcept;
  Rerun& operator=(Rerun&&) = delete;
  ~Rerun();

  const RecordedCommand& command() const;

  // The command as it was recorded, and with some knobs changed. Error (usage): a knob the engine did not register, or
  // one that nobody but the engine can set.
  experiment::Variant as_recorded() const;
  Result<experiment::Variant> with(const experiment::Settings& settings) const;

  // The metrics a run is judged by: throughput, decode_throughput, step_time, itl, tpot, ttft, e2e_latency (means, and
  // .p99 of each distribution), prefetch_hit_rate, acceptance_length, bandwidth_utilization, energy_per_token; those
  // the run's recording supports.
  Result<experiment::Measurement> run(const experiment::Variant& variant);

 private:
  struct State;
  explicit Rerun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Asks on a terminal whether `what` may be run; `yes` answers beforehand. Error (usage): no, or nobody to ask.
Status ask_to_run(const std::string& what, bool yes);

}  // namespace dmprof::cli
