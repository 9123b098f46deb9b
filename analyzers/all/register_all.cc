#include "analyzers/all/register_all.h"

#include "analyzers/budget/budget.h"
#include "analyzers/cache/cache.h"
#include "analyzers/host/host.h"
#include "analyzers/instrument/instrument.h"
#include "analyzers/latency/latency.h"
#include "analyzers/memory/memory.h"
#include "analyzers/parallel/parallel.h"
#include "analyzers/roofline/roofline.h"
#include "analyzers/specdec/specdec.h"

namespace dmprof {

void register_all(Catalogue& catalogue) {
  register_specdec(catalogue);
  register_cache(catalogue);
  register_roofline(catalogue);
  register_latency(catalogue);
  register_budget(catalogue);
  register_memory(catalogue);
  register_parallel(catalogue);
  register_host(catalogue);
  register_instrument(catalogue);
}

Catalogue full_catalogue() {
  Catalogue catalogue;
  register_all(catalogue);
  return catalogue;
}

}  // namespace dmprof
