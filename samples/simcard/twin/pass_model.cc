#include "samples/simcard/twin/pass_model.h"

#include <algorithm>

namespace dmprof::twin {
namespace {

constexpr std::size_t kMaxPassTokens = 64;  // the engine's

Time whole(double ns) { return static_cast<Time>(ns + 0.5); }

}  // namespace

Time PassModel::run(std::span<const PassToken> tokens, Time now, std::uint64_t step, bool prefill) {
  for (std::size_t first = 0; first < tokens.size(); first += kMaxPassTokens) {
    now = run_one(tokens.subspan(first, std::min(kMaxPassTokens, tokens.size() - first)), now, step, prefill);
  }
  return now;
}

Time PassModel::run_one(std::span<const PassToken> tokens, Time now, std::uint64_t step, bool prefill) {
  const auto rows =
      static_cast<std::uint32_t>(std::count_if(tokens.begin(), tokens.end(), [](auto& t) { return t.logits; }));
  const auto count = static_cast<std::uint32_t>(tokens.size());
  const double factor = program_.noise.means.empty() ? 1 : draw(program_.noise, random_);
  for (const Operation& operation : program_.operations) {
    const bool output = operation.kind == Operation::Kind::output;
    if (output && rows == 0) continue;
    const double compute = factor * program_.costs[operation.cost].curve.at(output ? rows : count);
    if (operation.kind == Operation::Kind::embed) {
      for (const PassToken& token : tokens) {
        const BlockId block = embedding_of(token);
        now = stream_.acquire(block, now, step, prefill);
        stream_.release(block);
      }
      now += whole(compute);
    } else {
      now = multiply(operation, compute, now, step, prefill);
    }
  }
  return now + whole(program_.pass_other);
}

Time PassModel::multiply(const Operation& operation, double compute, Time now, std::uint64_t step, bool prefill) {
  const std::vector<BlockId>& blocks = operation.blocks;
  if (blocks.empty()) return now + whole(compute);
  double total = 0;
  for (const BlockId block : blocks) total += static_cast<double>(stream_.bytes_of(block));
  for (std::size_t first = 0; first < blocks.size(); first += stream_.max_held()) {
    const std::size_t end = std::min(blocks.size(), first + stream_.max_held());
    double bytes = 0;
    for (std::size_t i = first; i < end; ++i) {
      now = stream_.acquire(blocks[i], now, step, prefill);
      bytes += static_cast<double>(stream_.bytes_of(blocks[i]));
    }
    now += whole(compute * bytes / total);
    for (std::size_t i = first; i < end; ++i) stream_.release(blocks[i]);
  }
  return now;
}

BlockId PassModel::embedding_of(const PassToken& token) {
  if (token.embedding >= 0) return static_cast<BlockId>(token.embedding);
  double left = random_.uniform();
  for (std::size_t i = 0; i + 1 < program_.embedding_blocks.size(); ++i) {
    left -= program_.embedding_share[i];
    if (left < 0) return program_.embedding_blocks[i];
  }
  return program_.embedding_blocks.back();
}

}  // namespace dmprof::twin
