#include "samples/engine/instrument/facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "dmprof/sdk/dmprof.h"

namespace dmengine {
namespace {

struct Handle {
  const char* variable;  // nullptr: none
  const char* flag;
};

class Registrar {
 public:
  explicit Registrar(const Settings& settings) : settings_(settings) {}

  void knob(const char* name, const std::string& value, const char* type, const std::string& range,
            const Handle& handle, const char* unit) const {
    const bool by_flag = handle.variable == nullptr || settings_.flags.contains(handle.flag);
    const dmprof_knob info{.name = name,
                           .value = value.c_str(),
                           .type = type,
                           .range = range.c_str(),
                           .how = by_flag ? "flag" : "environment",
                           .handle = by_flag ? handle.flag : handle.variable,
                           .unit = unit};
    dmprof_knob_register(&info);
  }

  void whole(const char* name, std::uint64_t value, std::uint64_t low, std::uint64_t high, const Handle& handle,
             const char* unit) const {
    knob(name, std::to_string(value), "integer", fmt::format("{}..{}", low, high), handle, unit);
  }

 private:
  const Settings& settings_;
};

}  // namespace

void register_knobs(const Settings& s) {
  const Registrar r(s);
  r.whole("lookahead", s.lookahead, 0, max_lookahead, {"DM_LOOKAHEAD", "--lookahead"}, "tokens");
  r.knob("draft", s.draft.empty() ? (s.draft_ngram ? "ngram" : "none") : s.draft, "path", "none|ngram|FILE",
         {"DM_DRAFT", "--draft"}, "");
  r.knob("draft_ngram", s.draft_ngram ? "on" : "off", "choice", "off|on", {nullptr, "--draft-ngram"}, "");
  r.knob("cache_policy", std::to_string(s.cache_policy), "choice", "0|1|2", {"DM_CACHE_POLICY", "--cache-policy"}, "");
  r.whole("max_concurrent", s.max_concurrent, 0, max_batch, {"DM_MAX_CONCURRENT", "--max-concurrent"}, "requests");
  r.whole("batch", s.batch, 1, max_batch, {nullptr, "--batch"}, "requests");
  r.whole("threads", s.threads, 1, max_threads, {nullptr, "--threads"}, "threads");
  r.whole("prefill_chunk", s.prefill_chunk, 1, 4096, {nullptr, "--prefill-chunk"}, "tokens");
  r.knob("resident", std::to_string(s.resident), "integer", "0..", {nullptr, "--resident"}, "bytes");
  r.knob("backing", s.resident == 0 ? "memory" : s.backing, "choice", "file|throttle:BW,LATENCY",
         {nullptr, "--backing"}, "");
  r.whole("prefetch_distance", s.prefetch_distance, 0, 4096, {nullptr, "--prefetch-distance"}, "blocks");
  r.knob("temperature", fmt::format("{}", s.sampling.temperature), "real", "0..100", {nullptr, "--temperature"}, "");
  r.knob("top_p", fmt::format("{}", s.sampling.top_p), "real", "0..1", {nullptr, "--top-p"}, "");
  r.knob("seed", std::to_string(s.sampling.seed), "integer", "0..18446744073709551615", {nullptr, "--seed"}, "");
  r.knob("kv_type", s.kv_f32 ? "f32" : "f16", "choice", "f16|f32", {nullptr, "--kv-type"}, "");
  r.whole("baseline_every", s.baseline_every, 0, 1000000, {nullptr, "--baseline-every"}, "steps");
}

void register_model(const ModelLayout& target, const Settings& settings) {
  const ModelConfig& c = target.config;
  const auto fact = [](const char* name, const std::string& value) {
    const dmprof_knob info{
        .name = name, .value = value.c_str(), .type = "fact", .range = "", .how = "fact", .handle = "", .unit = ""};
    dmprof_knob_register(&info);
  };
  std::uint64_t elements = 0;
  for (const MatrixInfo& matrix : target.matrices) elements += std::uint64_t{matrix.rows} * matrix.columns;
  fact("model.layers", std::to_string(c.layers));
  fact("model.hidden", std::to_string(c.dim));
  fact("model.feed_forward", std::to_string(c.ffn));
  fact("model.vocabulary", std::to_string(c.vocab));
  fact("model.matrices", "3");
  fact("model.tied", c.tied_output ? "1" : "0");
  fact("model.attention", c.kv_heads < c.heads ? "gqa" : "mha");
  fact("model.heads", std::to_string(c.heads));
  fact("model.kv_heads", std::to_string(c.kv_heads));
  fact("model.head_size", std::to_string(c.head_dim));
  fact("model.kv_bytes", settings.kv_f32 ? "4" : "2");
  fact("model.parameter_bytes", std::to_string(target.parameter_bytes()));
  if (elements > 0)
    fact("model.weight_bytes",
         fmt::format("{:.6g}", static_cast<double>(target.parameter_bytes()) / static_cast<double>(elements)));
}

void register_machine(const Settings& settings) {
  dmprof_capacity_info dram{};
  dram.name = "dram";
  dram.kind = "tier";
  dram.rank = 1;
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) dram.size_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  dmprof_capacity(&dram);
  dmprof_capacity_info compute{};
  compute.name = "compute";
  compute.kind = "compute";
  compute.units = settings.threads;
  dmprof_capacity(&compute);
}

StreamTiers register_stream_tiers(std::uint64_t resident_bytes, std::uint64_t backing_bytes, double link_bandwidth) {
  dmprof_capacity_info resident{};
  resident.name = "resident";
  resident.kind = "tier";
  resident.managed = 1;
  resident.size_bytes = resident_bytes;
  dmprof_capacity_info backing{};
  backing.name = "backing";
  backing.kind = "tier";
  backing.rank = 2;  // behind main memory, which the resident blocks lie in
  backing.size_bytes = backing_bytes;
  // By construction: the same figure in both places says that nobody measured it.
  backing.datasheet_bandwidth = backing.measured_bandwidth = link_bandwidth;
  return {dmprof_capacity(&resident), dmprof_capacity(&backing)};
}

}  // namespace dmengine
