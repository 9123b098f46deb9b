#include "samples/engine/cli/summary.h"

#include <nlohmann/json.hpp>

namespace dmengine {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(Finish finish) {
  switch (finish) {
    case Finish::end_of_text:
      return "end_of_text";
    case Finish::max_tokens:
      return "max_tokens";
    case Finish::failed:
      return "failed";
    case Finish::interrupted:
      return "interrupted";
    case Finish::running:
      break;
  }
  return "not_started";
}

// What did not happen has no time.
Json moment(std::int64_t ns) { return ns < 0 ? Json() : Json(ns); }

Json describe(const Request& request, const RequestResult& result) {
  Json out{{"id", request.id}};
  if (!request.request_class.empty()) out["class"] = request.request_class;
  out["text"] = result.text;
  out["finish"] = name_of(result.finish);
  out["prompt_tokens"] = result.prompt_tokens;
  out["output_tokens"] = result.output_tokens;
  out["arrival_ns"] = moment(result.arrival);
  out["scheduled_ns"] = moment(result.scheduled);
  out["first_token_ns"] = moment(result.first_token);
  out["end_ns"] = moment(result.end);
  return out;
}

Json describe(const Counts& c) {
  return {{"requests", c.requests.arrived},
          {"scheduled", c.requests.scheduled},
          {"first_tokens", c.requests.first_tokens},
          {"ended", c.requests.ended},
          {"failed", c.requests.failed},
          {"steps", c.steps.steps},
          {"prefill_steps", c.steps.prefill_steps},
          {"target_tokens", c.steps.target_tokens},
          {"sequence_steps", c.speculation.sequence_steps},
          {"drafting_steps", c.speculation.drafting_steps},
          {"baseline_steps", c.speculation.baseline_steps},
          {"drafted", c.speculation.drafted},
          {"verified", c.speculation.verified},
          {"accepted", c.speculation.accepted},
          {"emitted", c.speculation.emitted},
          {"block_hits", c.blocks.hits},
          {"block_late", c.blocks.late},
          {"block_misses", c.blocks.misses},
          {"pollution_misses", c.blocks.pollution_misses},
          {"prefetches_issued", c.blocks.prefetches_issued},
          {"prefetches_completed", c.blocks.prefetches_completed},
          {"prefetches_evicted_unused", c.blocks.prefetches_evicted_unused},
          {"prefetches_cancelled", c.blocks.prefetches_cancelled},
          {"prefetches_displaced", c.blocks.prefetches_displaced},
          {"transfers", c.blocks.transfers},
          {"transfer_bytes", c.blocks.transfer_bytes},
          {"kernels", c.kernels}};
}

Json describe_knobs(const Settings& s) {
  return {{"model", s.model},
          {"draft", s.draft.empty() ? (s.draft_ngram ? "ngram" : "none") : s.draft},
          {"lookahead", s.lookahead},
          {"max_tokens", s.max_tokens},
          {"temperature", s.sampling.temperature},
          {"top_p", s.sampling.top_p},
          {"seed", s.sampling.seed},
          {"batch", s.batch},
          {"max_concurrent", s.max_concurrent},
          {"prefill_chunk", s.prefill_chunk},
          {"threads", s.threads},
          {"kv_type", s.kv_f32 ? "f32" : "f16"},
          {"resident", s.resident},
          {"backing", s.resident == 0 ? "memory" : s.backing},
          {"cache_policy", s.cache_policy},
          {"prefetch_distance", s.prefetch_distance},
          {"baseline_every", s.baseline_every}};
}

Json describe_times(const RunReport& report, const Recorder& recorder) {
  Json out{{"run_ns", report.run_time}};
  for (std::size_t i = 0; i < stage_count; ++i)
    out[std::string(stage_names[i]) + "_ns"] = recorder.nanoseconds(recorder.stage_ticks()[i]);
  // These two lie inside the stages above, or on the prefetch thread.
  out["path_prediction_ns"] = report.path_prediction_time;
  out["prefetch_scheduling_ns"] = report.prefetch_scheduling_time;
  const double seconds = static_cast<double>(report.run_time) * 1e-9;
  out["tokens_per_second"] =
      seconds > 0 ? Json(static_cast<double>(recorder.counts().speculation.emitted) / seconds) : Json();
  return out;
}

Json describe(const ForwardStats& stats) {
  return {{"parameter_bytes", stats.parameter_bytes},
          {"kv_bytes_read", stats.kv_bytes_read},
          {"flops", stats.flops},
          {"block_wait_ns", stats.acquire_nanoseconds}};
}

}  // namespace

std::string summarize(const CommandLine& line, const std::vector<Request>& requests, const RunReport& report,
                      const Recorder& recorder) {
  Json out;
  const bool single = line.source == PromptSource::text || line.source == PromptSource::file;
  if (single && !report.requests.empty()) out["text"] = report.requests[0].text;
  out["requests"] = Json::array();
  for (std::size_t i = 0; i < report.requests.size(); ++i)
    out["requests"].push_back(describe(requests[i], report.requests[i]));
  out["counts"] = describe(recorder.counts());
  out["times"] = describe_times(report, recorder);
  out["work"] = {
      {"target", describe(report.target)}, {"draft", describe(report.draft)}, {"weights_from", report.backing}};
  out["knobs"] = describe_knobs(line.settings);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dmengine
