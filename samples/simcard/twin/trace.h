// What a twin's run leaves behind: the same facts that an engine reports to a recording, in virtual time.
#pragma once

#include <cstdint>
#include <vector>

#include "dmprof/cachemodel/block.h"

namespace dmprof::twin {

using Time = std::int64_t;  // nanoseconds since the run's start

enum class Outcome : std::uint8_t { hit = 0, late = 1, miss = 2 };
enum class Origin : std::uint8_t { resident = 0, prefetched = 1, demand = 2 };

struct AccessRecord {
  Time time = 0;
  Time wait = 0;
  cachemodel::BlockId block = 0;
  std::uint64_t bytes = 0;
  Outcome outcome = Outcome::hit;
  Origin origin = Origin::resident;
  bool predicted = false;  // the matrix named it as the next one
  bool prefill = false;
  std::uint64_t step = 0;
};

struct StepRecord {
  Time start = 0;
  Time duration = 0;
  Time draft_time = 0;
  Time verify_time = 0;
  Time accept_time = 0;
  std::uint64_t step = 0;  // from 1
  bool prefill = false;
  std::uint32_t batch = 0;
  std::uint32_t waiting = 0;
  std::uint32_t target_tokens = 0;
};

enum class Cut : std::uint8_t { whole = 0, end_of_text = 1, max_tokens = 2, baseline = 3 };

struct RowRecord {
  Time time = 0;
  std::uint64_t step = 0;
  std::uint64_t request = 0;  // from 1
  std::uint32_t position = 0;
  std::uint32_t drafted = 0;
  std::uint32_t accepted = 0;
  std::uint32_t emitted = 0;
  Cut cut = Cut::whole;
};

struct RequestRecord {
  Time arrival = 0;
  Time scheduled = -1;
  Time first_token = -1;
  Time end = -1;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;
};

struct TransferRecord {
  Time start = 0;
  Time duration = 0;
  cachemodel::BlockId block = 0;
  std::uint64_t bytes = 0;
  bool prefetch = false;
};

struct Trace {
  std::vector<StepRecord> steps;
  std::vector<RowRecord> rows;
  std::vector<AccessRecord> accesses;
  std::vector<TransferRecord> transfers;
  std::vector<RequestRecord> requests;
  std::uint64_t prefetches_issued = 0;
  std::uint64_t prefetches_unused = 0;  // evicted without a use
  Time end = 0;
};

}  // namespace dmprof::twin
