#include "dmprof/cli/plan_techniques.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>

namespace dmprof::cli {

namespace {

struct Words {
  std::string assumes, costs;
};

Words words_of(std::string_view technique, const plan::Techniques& t) {
  if (technique == "sparse-heads")
    return {fmt::format("--zero-share {:g} of the elements are zero and are not kept; one bit each says which",
                        t.zero_share),
            "unpacking: one operation an element; that a kernel skips products with zeros is not counted"};
  if (technique == "score-precision")
    return {fmt::format("--fp8-share {:g} of the tokens, those with low scores, are kept in one byte an element",
                        t.fp8_share),
            "scores are followed, and one conversion an 8-bit element"};
  if (technique == "recent-blocks")
    return {
        fmt::format("--recent-blocks {:g} of --block-tokens {:g} stay; --old-read-share {:g} of the older tokens are "
                    "fetched in a step, the others are not looked at",
                    t.recent_blocks, t.block_tokens, t.old_read_share),
        "no arithmetic; the fetched bytes come over the link, and a step waits for what was not foreseen"};
  if (technique == "shared-prefixes")
    return {fmt::format("--shared-prefix {:g} of the context begins like that of --sharing {:g} requests",
                        t.shared_prefix, t.sharing),
            "no arithmetic; finding equal prefixes. Attention still reads the prefix for every sequence"};
  if (technique == "precomputed-positions")
    return {"keys are kept with their positions applied",
            "saves 3 operations a key element and step, where an engine applies them anew; no bytes"};
  if (technique == "neighbour-deltas")
    return {fmt::format("one token of --delta-every {:g} is kept whole, the others as differences of --delta-bits {:g}",
                        t.delta_every, t.delta_bits),
            "one addition an element; a token is read only together with those before it in its group"};
  if (technique == "projected-heads")
    return {fmt::format("--projected-heads {:g} of the KV heads keep --projected-width {:g} of their elements",
                        t.projected_heads, t.projected_width),
            "queries and results of those heads pass a projection"};
  if (technique == "combined")
    return {
        "all seven; sparsity is of the heads that are not projected, where it beats differences; recent blocks take "
        "in the unshared part first",
        "the sum of what applies"};
  return {};
}

}  // namespace

void declare_techniques(const Syntax& app, TechniqueFlags& flags) {
  plan::Techniques& t = flags.assumed;
  app.number("--zero-share", t.zero_share, "SHARE", "sparse-heads: cached elements that are zero (0.7)");
  app.number("--fp8-share", t.fp8_share, "SHARE", "score-precision: tokens kept in 8 bits (0.8)");
  app.count("--recent-blocks", flags.recent_blocks, 1u << 24, "N", "recent-blocks: blocks that stay (2048)");
  app.count("--block-tokens", flags.block_tokens, 65536, "N", "Tokens a block (16)");
  app.number("--old-read-share", t.old_read_share, "SHARE", "recent-blocks: older tokens fetched in a step (0.05)");
  app.number("--shared-prefix", t.shared_prefix, "SHARE", "shared-prefixes: of the context (0.3)");
  app.count("--sharing", flags.sharing, 1u << 20, "N", "shared-prefixes: requests that share one (8)");
  app.count("--delta-every", flags.delta_every, 65536, "N", "neighbour-deltas: one token of N is kept whole (8)");
  app.count("--delta-bits", flags.delta_bits, 16, "N", "neighbour-deltas: bits of a difference (12)");
  app.number("--projected-heads", t.projected_heads, "SHARE", "projected-heads: KV heads that are projected (0.25)");
  app.number("--projected-width", t.projected_width, "SHARE",
             "projected-heads: of their elements that are kept (0.25)");
}

Result<Sheet> technique_sheet(const plan::KvShape& shape, double context, double memory, const TechniqueFlags& flags) {
  plan::Techniques t = flags.assumed;
  for (const auto& [flag, share] : {std::pair("--zero-share", t.zero_share),
                                    {"--fp8-share", t.fp8_share},
                                    {"--old-read-share", t.old_read_share},
                                    {"--shared-prefix", t.shared_prefix},
                                    {"--projected-heads", t.projected_heads},
                                    {"--projected-width", t.projected_width}}) {
    if (!(share >= 0 && share <= 1))
      return fail(ErrorKind::usage, fmt::format("{}: {} is no share; give one between 0 and 1", flag, share));
  }
  t.recent_blocks = flags.recent_blocks, t.block_tokens = flags.block_tokens, t.sharing = flags.sharing;
  t.delta_every = flags.delta_every, t.delta_bits = flags.delta_bits;

  Sheet sheet{"kv-techniques",
              {},
              {"bytes", "of now", "elsewhere", "read a step", "fetched a step", "operations a step", "sequences"},
              {"B", "ratio", "B", "B", "B", "OP", "sequences"},
              {},
              "technique",
              {}};
  const std::vector<plan::Footprint> rows = plan::kv_techniques(shape, context, memory, t);
  const double now = rows.front().bytes(t.sharing);
  for (const plan::Footprint& one : rows) {
    const Words words = words_of(one.technique, t);
    std::vector<double> values(sheet.columns.size(), std::numeric_limits<double>::quiet_NaN());
    if (one.reason.empty() && now > 0)
      values = {one.bytes(t.sharing), one.bytes(t.sharing) / now, one.elsewhere, one.read, one.fetched, one.operations,
                one.sequences};
    sheet.rows.push_back(values);
    sheet.words.push_back({std::string(one.technique), words.assumes, words.costs, one.reason});
  }
  sheet.figures = {{"kv_bytes_per_token", plan::kv_bytes_per_token(shape), "B", "without any technique"},
                   {"kv_bytes_per_sequence", now, "B", fmt::format("x {:g} tokens", context)}};
  sheet.closing =
      "Bytes are of device memory and of one sequence, with its part of what is shared; operations come on top of "
      "plain "
      "attention. What a technique does to quality is not predicted.";
  return sheet;
}

}  // namespace dmprof::cli
