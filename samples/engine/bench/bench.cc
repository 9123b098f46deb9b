#include "samples/engine/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "samples/engine/bench/measure.h"
#include "samples/engine/cli/flags.h"
#include "samples/engine/kernels/kernels.h"
#include "samples/engine/model/model.h"

namespace dmengine {

namespace {

struct Options {
  std::string model;
  unsigned threads = 0;
  uint32_t most_tokens = 9;
  uint32_t rounds = 5;
  uint32_t context = 32;
  bool json = false;
};

// Fastest and middle of the rounds. The fastest is what the machine can do; the middle shows how disturbed it was.
struct Series {
  std::vector<double> values;

  double smallest() const { return *std::min_element(values.begin(), values.end()); }
  double largest() const { return *std::max_element(values.begin(), values.end()); }
  double middle() const {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

struct Figures {
  std::vector<Series> step_seconds;  // [tokens - 1]
  std::vector<Series> peak;          // multiply-adds a second, [tokens - 1]
  Series bandwidth;
  uint64_t step_bytes = 0;  // of a step of one token
};

int report(const Error& error) {
  fmt::print(stderr, "dm-engine bench: {}\n", error.message);
  return error.kind == ErrorKind::usage ? 2 : error.kind == ErrorKind::bad_input ? 4 : 6;
}

// One step of `tokens` tokens after the context, which is left as it was.
Result<double> time_step(Model& model, KvCache& cache, uint32_t context, uint32_t tokens, ForwardStats* stats) {
  std::vector<int32_t> ids(tokens);
  for (uint32_t i = 0; i < tokens; ++i) ids[i] = static_cast<int32_t>((context + 7 * i + 1) % model.config().vocab);
  std::vector<float> logits(size_t{tokens} * model.config().vocab);
  const Batch batch{{{0, context, ids, LogitRows::all}}};
  const auto begin = std::chrono::steady_clock::now();
  auto status = model.forward(cache, batch, logits, stats);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!status) return tl::unexpected(status.error());
  cache.truncate(0, context);
  return seconds;
}

// Steps of small models are repeated, so that each figure covers some milliseconds.
uint32_t repeats_for(double seconds) { return static_cast<uint32_t>(std::clamp(0.02 / seconds, 1.0, 200.0)); }

Result<Figures> measure(const Options& options, Model& model, ThreadPool& pool) {
  auto bandwidth = ReadBandwidth::prepare();
  if (!bandwidth) return tl::unexpected(bandwidth.error());
  auto cache = KvCache::create(model.config(), 1, options.context + options.most_tokens);
  if (!cache) return tl::unexpected(cache.error());
  Figures out;
  const std::vector<int32_t> prompt(options.context, 1);
  if (options.context > 0) {
    const Batch batch{{{0, 0, prompt, LogitRows::none}}};
    if (auto status = model.forward(*cache, batch, {}); !status) return tl::unexpected(status.error());
  }
  ForwardStats stats;
  auto warm = time_step(model, *cache, options.context, 1, &stats);
  if (!warm) return tl::unexpected(warm.error());
  out.step_bytes = stats.parameter_bytes + stats.kv_bytes_read;
  const TensorType type = model.layout().matrices[model.layout().output].type;
  out.step_seconds.resize(options.most_tokens);
  out.peak.resize(options.most_tokens);
  for (uint32_t round = 0; round < options.rounds; ++round) {
    for (uint32_t tokens = 1; tokens <= options.most_tokens; ++tokens) {
      out.bandwidth.values.push_back(bandwidth->bytes_per_second(pool));
      out.peak[tokens - 1].values.push_back(multiply_adds_per_second(pool, type, tokens));
      double fastest = *warm * options.most_tokens * 100;
      for (uint32_t i = 0, count = repeats_for(*warm); i < count; ++i) {
        const auto seconds = time_step(model, *cache, options.context, tokens, nullptr);
        if (!seconds) return tl::unexpected(seconds.error());
        fastest = std::min(fastest, *seconds);
      }
      out.step_seconds[tokens - 1].values.push_back(fastest);
    }
  }
  return out;
}

nlohmann::json to_json(const Options& options, const Model& model, const Figures& figures) {
  const ModelLayout& layout = model.layout();
  uint64_t weights = 0;
  for (const MatrixInfo& matrix : layout.matrices) weights += uint64_t{matrix.rows} * matrix.columns;
  const double one = figures.step_seconds[0].smallest(), bandwidth = figures.bandwidth.largest();
  // A model that fits the cache is not read from memory: a share of its bandwidth would mean nothing.
  const bool from_memory = layout.parameter_bytes() > 2 * last_level_cache_bytes();
  nlohmann::json out;
  out["model"] = options.model;
  out["kernels"] = best_kernels().name;
  out["weights"] = to_string(layout.matrices[layout.output].type);
  out["threads"] = options.threads;
  out["rounds"] = options.rounds;
  out["context"] = options.context;
  out["parameters"] = weights;
  out["bytes_per_step"] = figures.step_bytes;
  out["decode_tokens_per_s"] = 1 / one;
  out["decode_tokens_per_s_median"] = 1 / figures.step_seconds[0].middle();
  out["effective_bytes_per_s"] = static_cast<double>(figures.step_bytes) / one;
  out["read_bytes_per_s"] = bandwidth;
  out["read_bytes_per_s_median"] = figures.bandwidth.middle();
  out["bandwidth_share"] =
      from_memory ? nlohmann::json(static_cast<double>(figures.step_bytes) / one / bandwidth) : nlohmann::json();
  auto& verify = out["verify"] = nlohmann::json::array();
  for (uint32_t tokens = 1; tokens <= figures.step_seconds.size(); ++tokens) {
    const Series& step = figures.step_seconds[tokens - 1];
    const double peak = figures.peak[tokens - 1].largest();
    const double compute = static_cast<double>(weights) * tokens / peak;
    const double memory = from_memory ? static_cast<double>(figures.step_bytes) / bandwidth : 0.0;
    verify.push_back({{"tokens", tokens},
                      {"step_ns", step.smallest() * 1e9},
                      {"step_ns_median", step.middle() * 1e9},
                      {"v", step.smallest() / one},
                      {"v_median", step.middle() / figures.step_seconds[0].middle()},
                      {"peak_multiply_adds_per_s", peak},
                      // The least a step can take on each resource, and so which of them bounds it.
                      {"compute_floor_ns", compute * 1e9},
                      {"memory_floor_ns", from_memory ? nlohmann::json(memory * 1e9) : nlohmann::json()},
                      {"bound", compute > memory ? "compute" : "memory"}});
  }
  return out;
}

void print_table(const nlohmann::json& figures) {
  fmt::print("{}: {} weights, {} kernels, {} threads\n", figures["model"].get<std::string>(),
             figures["weights"].get<std::string>(), figures["kernels"].get<std::string>(),
             figures["threads"].get<unsigned>());
  fmt::print("decode {:.2f} tokens/s, {:.2f} GB/s of {:.2f} GB/s read bandwidth",
             figures["decode_tokens_per_s"].get<double>(), figures["effective_bytes_per_s"].get<double>() / 1e9,
             figures["read_bytes_per_s"].get<double>() / 1e9);
  const auto& share = figures["bandwidth_share"];
  fmt::print("{}\n",
             share.is_null() ? " (the model fits the cache)" : fmt::format(" ({:.1f} %)", share.get<double>() * 100));
  fmt::print("tokens   step ms   v(n)  compute floor ms  bound\n");
  for (const auto& row : figures["verify"]) {
    fmt::print("{:>6} {:>9.3f} {:>6.2f} {:>17.3f}  {}\n", row["tokens"].get<uint32_t>(),
               row["step_ns"].get<double>() / 1e6, row["v"].get<double>(), row["compute_floor_ns"].get<double>() / 1e6,
               row["bound"].get<std::string>());
  }
}

Result<nlohmann::json> run(const Options& options) {
  auto file = GgufFile::open(options.model);
  if (!file) return tl::unexpected(file.error());
  auto layout = ModelLayout::read(*file);
  if (!layout) return tl::unexpected(layout.error());
  auto weights = open_resident_weights(*layout);
  if (!weights) return tl::unexpected(weights.error());
  auto pool = ThreadPool::make(options.threads);
  if (!pool) return tl::unexpected(pool.error());
  Model model(*layout, **weights, **pool);
  auto figures = measure(options, model, **pool);
  if (!figures) return tl::unexpected(figures.error());
  return to_json(options, model, *figures);
}

}  // namespace

int bench_main(std::span<const std::string> args) {
  Options options;
  options.threads = std::max(1U, std::thread::hardware_concurrency());
  Flags flags(
      "dm-engine bench",
      "Measures decode speed, the cost of verifying several tokens at once, and this machine's read bandwidth.");
  flags.value("--model", "FILE", "GGUF file");
  flags.value("--threads", "N", "threads to compute with (default: all CPUs)");
  flags.value("--most-tokens", "N", "measure steps of 1 to this many tokens (default 9)");
  flags.value("--rounds", "N", "interleaved rounds (default 5)");
  flags.value("--context", "N", "positions in the cache before each step (default 32)");
  flags.toggle("--json", "print one JSON object");
  const auto answer = flags.parse(args);
  if (!answer) return report(answer.error());
  if (!answer->empty()) {
    fmt::print("{}", *answer);
    return 0;
  }
  const auto read = [&]() -> Status {
    DMPROF_TRY(flags.need("--model"));
    DMPROF_TRY(flags.text("--model", options.model));
    DMPROF_TRY(flags.whole("--threads", nullptr, options.threads, 1, 1024));
    DMPROF_TRY(flags.whole("--most-tokens", nullptr, options.most_tokens, 1, 64));
    DMPROF_TRY(flags.whole("--rounds", nullptr, options.rounds, 1, 1000));
    return flags.whole("--context", nullptr, options.context, 0, 100000);
  };
  if (const Status settings = read(); !settings) return report(settings.error());
  options.json = flags.given("--json");
  const auto figures = run(options);
  if (!figures) return report(figures.error());
  if (options.json) {
    fmt::print("{}\n", figures->dump(2));
  } else {
    print_table(*figures);
  }
  return 0;
}

}  // namespace dmengine
