// The makers behind make_policy; private to this folder.
#pragma once

#include <memory>

#include "dmprof/cachemodel/policy.h"

namespace dmprof::cachemodel {

std::unique_ptr<CachePolicy> make_lru();
std::unique_ptr<CachePolicy> make_lfu(const PolicyOptions& options);
std::unique_ptr<CachePolicy> make_prediction(std::shared_ptr<const TransitionMatrix> matrix,
                                             const PolicyOptions& options);

}  // namespace dmprof::cachemodel
