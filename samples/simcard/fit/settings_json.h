// Settings as fit files and answers hold them, key by key as --set names them.
#pragma once

#include <nlohmann/json.hpp>

#include "samples/simcard/fit/fit.h"

namespace dmprof::twin {

inline nlohmann::ordered_json settings_json(const Settings& s) {
  return {{"draft", s.draft},
          {"lookahead", s.lookahead},
          {"resident", s.resident},
          {"cache_policy", s.cache_policy},
          {"prefetch_distance", s.prefetch_distance},
          {"batch", s.batch},
          {"max_concurrent", s.max_concurrent},
          {"prefill_chunk", s.prefill_chunk},
          {"baseline_every", s.baseline_every}};
}

}  // namespace dmprof::twin
