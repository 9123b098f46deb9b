#include "samples/simcard/fit/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace dmprof::twin {
namespace {

constexpr std::uint64_t kAlignment = 4096;  // of resident blocks, the engine's
constexpr std::size_t kEnoughSamples = 5;   // below that a cost point is left to its neighbours

CostCurve curve_of(const std::map<std::uint32_t, std::vector<double>>& by_tokens) {
  CostCurve all, sound;
  for (const auto& [tokens, samples] : by_tokens) {
    const CostPoint point{tokens, median_of(samples), samples.size()};
    all.points.push_back(point);
    if (samples.size() >= kEnoughSamples) sound.points.push_back(point);
  }
  return sound.points.size() >= 2 ? sound : all;
}

using Samples = std::map<std::string, std::map<std::uint32_t, std::vector<double>>>;

Status same_order(const std::string& name, const RecordedPass& pass, const RecordedPass& whole) {
  for (std::size_t i = 0; i < pass.operations.size(); ++i) {
    if (i >= whole.operations.size() || pass.operations[i].name != whole.operations[i].name ||
        pass.operations[i].blocks != whole.operations[i].blocks) {
      return fail(ErrorKind::cannot_answer,
                  fmt::format("{}: a pass of step {} does not ask for the blocks that other passes asked for; the twin "
                              "knows dense models "
                              "of dm-engine only, recorded from their start and without losses",
                              name, pass.step));
    }
  }
  return {};
}

}  // namespace

double median_of(std::vector<double> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

Bins bins_of(std::vector<double> samples, std::size_t bins) {
  std::sort(samples.begin(), samples.end());
  Bins out;
  const std::size_t n = samples.size();
  bins = std::min(bins, n);
  for (std::size_t i = 0; i < bins; ++i) {
    const std::size_t from = i * n / bins, to = (i + 1) * n / bins;
    out.means.push_back(std::accumulate(samples.begin() + static_cast<std::ptrdiff_t>(from),
                                        samples.begin() + static_cast<std::ptrdiff_t>(to), 0.0) /
                        static_cast<double>(to - from));
  }
  return out;
}

Result<ModelProgram> fit_program(const std::string& name, std::span<const RecordedPass* const> passes,
                                 const BlockSizes& sizes, std::uint64_t first_block, double pass_other) {
  const auto whole = std::find_if(passes.begin(), passes.end(), [](const RecordedPass* p) { return p->has_logits(); });
  if (whole == passes.end()) {
    return fail(ErrorKind::cannot_answer,
                fmt::format("{}: the recording holds no whole pass; record for longer", name));
  }
  ModelProgram program;
  program.name = name;
  program.pass_other = pass_other;
  Samples samples;
  std::map<std::uint64_t, double> embedding;
  double tokens = 0;
  for (const RecordedPass* pass : passes) {
    // The recorder may have stopped inside the last pass; its operations are sound all the same.
    DMPROF_TRY(same_order(name, *pass, **whole));
    const std::uint32_t rows = pass->logit_rows();
    for (const RecordedOperation& operation : pass->operations) {
      samples[operation.name][operation.name == "output" ? rows : pass->tokens()].push_back(operation.compute);
    }
    for (const std::uint64_t block : pass->embedding) embedding[block] += 1;
    tokens += pass->tokens();
  }
  std::map<std::string, std::uint32_t> cost_index;
  for (const auto& [operation, by_tokens] : samples) {
    cost_index[operation] = static_cast<std::uint32_t>(program.costs.size());
    program.costs.push_back({operation, curve_of(by_tokens)});
  }
  for (const RecordedOperation& operation : (*whole)->operations) {
    const auto kind = operation.name == "embed"    ? Operation::Kind::embed
                      : operation.name == "output" ? Operation::Kind::output
                                                   : Operation::Kind::plain;
    program.operations.push_back({cost_index[operation.name], kind, operation.blocks});
  }
  for (const auto& [block, count] : embedding) {
    program.embedding_blocks.push_back(block);
    program.embedding_share.push_back(count / tokens);
  }
  std::vector<double> factors;
  for (const RecordedPass* pass : passes) {
    double typical = 0, taken = 0;
    for (const RecordedOperation& operation : pass->operations) {
      const std::uint32_t n = operation.name == "output" ? pass->logit_rows() : pass->tokens();
      typical += program.costs[cost_index[operation.name]].curve.at(n);
      taken += operation.compute;
    }
    if (typical > 0) factors.push_back(taken / typical);
  }
  program.noise = bins_of(std::move(factors));
  for (auto found = sizes.lower_bound(first_block); found != sizes.end(); ++found) {
    program.blocks.resize(found->first - first_block + 1);
    program.blocks.back() = {found->second, (found->second + kAlignment - 1) / kAlignment * kAlignment};
  }
  return program;
}

}  // namespace dmprof::twin
