#include "dmprof/cachemodel/policy.h"

#include <utility>

#include "dmprof/cachemodel/policies.h"

namespace dmprof::cachemodel {

std::string_view name_of(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::lru:
      return "lru";
    case PolicyKind::lfu:
      return "lfu";
    case PolicyKind::prediction:
      return "prediction";
  }
  return "unknown";
}

std::optional<PolicyKind> policy_from(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(PolicyKind::prediction)) return std::nullopt;
  return static_cast<PolicyKind>(number);
}

std::unique_ptr<CachePolicy> make_policy(PolicyKind kind, std::shared_ptr<const TransitionMatrix> matrix,
                                         const PolicyOptions& options) {
  switch (kind) {
    case PolicyKind::lru:
      return make_lru();
    case PolicyKind::lfu:
      return make_lfu(options);
    case PolicyKind::prediction:
      break;
  }
  return make_prediction(std::move(matrix), options);
}

}  // namespace dmprof::cachemodel
