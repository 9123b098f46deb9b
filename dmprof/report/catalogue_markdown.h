// The catalogue of metrics as a page for people, made from the metrics themselves (docs/metrics.md).
#pragma once

#include <span>
#include <string>

#include "analyzers/registry/metric.h"

namespace dmprof::report {

std::string catalogue_markdown(std::span<const Metric> metrics);

}  // namespace dmprof::report
