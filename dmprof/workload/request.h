// One request of a workload.
#pragma once

#include <cstdint>
#include <vector>

namespace dmprof::workload {

struct Request {
  std::int64_t arrival_ns =
      0;  // since the first request of the workload's time axis; never decreasing within a workload
  std::int64_t prompt_tokens = 1;
  std::int64_t output_tokens = 1;
  // Ids of the prompt's prefix blocks: equal ids in the same position are equal text. Empty where the source has none.
  std::vector<std::uint64_t> prefix_blocks;
};

}  // namespace dmprof::workload
