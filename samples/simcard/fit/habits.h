// Link and habits of the machine from the timing of a recording.
#pragma once

#include <string>
#include <vector>

#include "analyzers/registry/recording.h"
#include "dmprof/base/error.h"
#include "samples/simcard/fit/passes.h"
#include "samples/simcard/twin/description.h"

namespace dmprof::twin {

// Samples of one or several recordings of one machine; add() each, then ask.
class TimingSamples {
 public:
  // `backing`: the recording's knob. bad_input where it is not understood, usage where it is another one than before.
  Status add(const Recording& recording, const std::string& backing, std::uint32_t prefetch_distance,
             const std::vector<RecordedPass>& passes);

  Link link() const;
  // What transfers took beyond the link's own time.
  std::vector<double> excess() const;
  Habits habits() const;
  // A pass, outside of its operations.
  double target_pass_other() const { return mean_of(target_other_); }
  double draft_pass_other() const { return mean_of(draft_other_); }

 private:
  struct Moved {
    double bytes, duration;
  };
  static double mean_of(const std::vector<double>& samples);
  void add_waits(const Recording& recording, TrackId engine);
  void add_planning(const Recording& recording, TrackId engine);
  void add_steps(const Recording& recording, const std::vector<RecordedPass>& passes);

  std::string backing_;
  Link link_;
  std::vector<Moved> moved_;
  std::vector<double> miss_, late_, oversleep_;
  double plan_time_ = 0, plans_ = 0, planned_accesses_ = 0;
  std::vector<double> accept_, between_, target_other_, draft_other_;
};

}  // namespace dmprof::twin
