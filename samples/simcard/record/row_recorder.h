// Records the run that stands for a row of the table of claims, whether of a card or of a node.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "samples/simcard/record/node_recorder.h"
#include "samples/simcard/record/recorder.h"
#include "samples/simcard/scenario/conduct.h"

namespace dmprof::simcard {

// The process is published when the row's run begins, so that a row without one makes no empty recording.
class RowRecorder : public Witness {
 public:
  ServeObserver* serving(const ServeSpec& spec) override;
  CardObserver* card(const CardParameters& parameters) override;

  // What a person should know about what was recorded of the row, or why nothing can be; "" where nobody records.
  std::string remark(const std::string& row) const;

 private:
  bool ran_ = false, recorded_ = false;
  std::string run_;  // in words
  std::optional<Session> session_;
  std::unique_ptr<NodeRecorder> node_;
  std::unique_ptr<Recorder> card_;
};

}  // namespace dmprof::simcard
