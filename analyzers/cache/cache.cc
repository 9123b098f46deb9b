#include "analyzers/cache/cache.h"

namespace dmprof {

void register_cache(Catalogue& catalogue) {
  register_hits(catalogue);
  register_prefetch(catalogue);
  register_policy_gap(catalogue);
  register_prefix(catalogue);
}

}  // namespace dmprof
