// Loss of a finished model on text it has not seen.
#pragma once

#include <utility>
#include <vector>

#include "samples/models/train/network.h"

namespace dmprof::train {

// Mean nats a token over consecutive windows of the trained context, at most `max_windows` of them spread evenly.
double evaluate(const Shape& shape, const std::vector<float>& parameters, const std::vector<Token>& stream,
                int max_windows, int threads);

// Mean nats a token by position inside windows that may be longer than the trained context, in buckets of `bucket`
// positions: first position and mean of each.
std::vector<std::pair<int, double>> loss_by_position(const Shape& shape, const std::vector<float>& parameters,
                                                     const std::vector<Token>& stream, int window, int bucket);

}  // namespace dmprof::train
