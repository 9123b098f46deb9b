// The program of a model - operations, blocks, costs - from its recorded passes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "samples/simcard/fit/passes.h"
#include "samples/simcard/twin/description.h"

namespace dmprof::twin {

// Sizes by block id, from the accesses of a recording.
using BlockSizes = std::map<std::uint64_t, std::uint64_t>;

// Passes of one model, from one or several recordings. `first_block`: the model's lowest id. `pass_other`: see
// ModelProgram. cannot_answer where no whole pass is there, or where passes ask for different blocks (not a dense
// model).
Result<ModelProgram> fit_program(const std::string& name, std::span<const RecordedPass* const> passes,
                                 const BlockSizes& sizes, std::uint64_t first_block, double pass_other);

// Equally probable bins of samples in any order: at most `bins`, each with the mean of its samples.
Bins bins_of(std::vector<double> samples, std::size_t bins = 50);

double median_of(std::vector<double> samples);  // 0 for none

}  // namespace dmprof::twin
