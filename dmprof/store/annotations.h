// Adds what was computed about a recording (metrics, findings) to it, after the recording has ended. Opening also mends
// a recording whose recorder was killed: its log is folded in and it becomes one self-contained file; it stays marked
// as interrupted.
//
// Thread-safety: one thread at a time. Errors: `bad_input` as Reader, `environment` when it cannot be written
// (read-only file, still being recorded, disk full). Each call is one transaction: all of it or nothing.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "dmprof/base/error.h"
#include "dmprof/store/tables.h"

namespace dmprof {

class Annotations {
 public:
  static Result<Annotations> open(const std::string& path);
  Annotations(Annotations&&) noexcept;
  Annotations& operator=(Annotations&&) noexcept;
  ~Annotations();

  Status store_metrics(std::span<const StoredMetric> metrics);       // replaces metrics of the same name
  Status replace_findings(std::span<const StoredFinding> findings);  // the findings of the run are exactly these
  Status set_environment(const std::string& key, const std::string& value);

 private:
  struct State;
  explicit Annotations(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dmprof
