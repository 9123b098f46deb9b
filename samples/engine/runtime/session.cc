#include "samples/engine/runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace dmengine {

dmprof::Result<std::vector<PreparedRequest>> prepare(const std::vector<Request>& requests, const Tokenizer& tokenizer,
                                                     std::uint32_t context, const Settings& settings) {
  std::vector<PreparedRequest> prepared;
  prepared.reserve(requests.size());
  for (const Request& request : requests) {
    PreparedRequest& p = prepared.emplace_back();
    p.prompt = tokenizer.encode(request.prompt, tokenizer.adds_bos());
    if (p.prompt.empty() && tokenizer.bos()) p.prompt.push_back(*tokenizer.bos());
    if (p.prompt.empty()) return fail(ErrorKind::bad_input, fmt::format("request {}: the prompt is empty", request.id));
    if (p.prompt.size() >= context) {
      return fail(ErrorKind::bad_input,
                  fmt::format("request {}: the prompt has {} tokens and the context {}; shorten it or raise --context",
                              request.id, p.prompt.size(), context));
    }
    const std::uint32_t wanted = request.max_tokens > 0 ? request.max_tokens : settings.max_tokens;
    p.limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(context, p.prompt.size() + wanted));
  }
  return prepared;
}

void Session::point(std::uint8_t what, std::size_t request, Ticks when, std::uint64_t tokens) {
  dmprof_request_event event{};
  event.time = when;
  event.request = request + 1;
  event.point = what;
  event.tokens = tokens;
  event.request_class = classes_[request];
  recorder_.request(event);
}

Status Session::run(const std::vector<Request>& requests, const std::vector<PreparedRequest>& prepared,
                    Listener& listener, const volatile std::sig_atomic_t& stop) {
  std::vector<std::int64_t> arrivals;
  classes_.clear();
  for (const Request& request : requests) {
    arrivals.push_back(request.arrival_ns);
    classes_.push_back(recorder_.name(request.request_class));
  }
  results_.assign(requests.size(), {});
  Scheduler scheduler(settings_.batch, settings_.max_concurrent, arrivals);
  origin_ = recorder_.enter(Stage::host);
  Status status;
  while (status && !scheduler.done() && stop == 0) {
    take_arrivals(requests, prepared, scheduler);
    admit(prepared, scheduler);
    if (running_.empty()) {
      wait_for_arrival(scheduler, stop);
      continue;
    }
    const std::vector<Sequence*> batch = plan();
    recorder_.batch_size(static_cast<std::uint32_t>(batch.size()));
    status = stepper_.run(batch, static_cast<std::uint32_t>(scheduler.waiting()));
    if (!status) break;
    show(listener);
    retire(scheduler, listener);
    recorder_.kv_in_use(stepper_.kv_bytes(), stepper_.kv_capacity());
    if (streamer_ != nullptr) recorder_.resident_bytes(streamer_->used_bytes());
  }
  end_all(status ? Finish::interrupted : Finish::failed, scheduler, listener);
  elapsed_ = since_start(recorder_.now());
  recorder_.batch_size(0);
  recorder_.leave();
  return status;
}

void Session::take_arrivals(const std::vector<Request>& requests, const std::vector<PreparedRequest>& prepared,
                            Scheduler& scheduler) {
  for (const std::size_t i : scheduler.take_arrived(since_start(recorder_.now()))) {
    results_[i].arrival = requests[i].arrival_ns;
    results_[i].prompt_tokens = static_cast<std::uint32_t>(prepared[i].prompt.size());
    // A request that came while a step was running arrived then, not when the step let us look.
    point(DMPROF_ARRIVE, i, moment_of(requests[i].arrival_ns), prepared[i].prompt.size());
  }
}

void Session::admit(const std::vector<PreparedRequest>& prepared, Scheduler& scheduler) {
  for (const Admission& admission : scheduler.admit()) {
    running_.push_back(std::make_unique<Running>(Running{{}, StreamDecoder(tokenizer_), 0}));
    Sequence& s = running_.back()->sequence;
    s.request = admission.request;
    s.number = admission.request + 1;
    s.slot = admission.slot;
    s.tokens = prepared[admission.request].prompt;
    s.prompt_tokens = static_cast<std::uint32_t>(s.tokens.size());
    s.limit = prepared[admission.request].limit;
    running_.back()->shown = s.prompt_tokens;
    stepper_.open(s.slot);
    const Ticks now = recorder_.now();
    results_[admission.request].scheduled = since_start(now);
    point(DMPROF_SCHEDULE, admission.request, now, 0);
  }
}

// Decoding sequences and as much prompt as a step takes; the rest sits the step out.
std::vector<Sequence*> Session::plan() {
  std::vector<Progress> progress;
  for (const auto& r : running_) progress.push_back({r->sequence.prompt_left()});
  const std::vector<Share> shares = plan_step(progress, settings_.prefill_chunk);
  std::vector<Sequence*> batch;
  for (std::size_t i = 0; i < running_.size(); ++i) {
    Sequence& s = running_[i]->sequence;
    s.chunk = shares[i].prompt_tokens;
    if (s.chunk > 0 || s.prompt_left() == 0) batch.push_back(&s);
  }
  return batch;
}

void Session::wait_for_arrival(const Scheduler& scheduler, const volatile std::sig_atomic_t& stop) {
  const auto next = scheduler.next_arrival();
  if (!next) return;
  recorder_.batch_size(0);
  recorder_.enter(Stage::idle);
  constexpr std::int64_t glance = 20'000'000;  // ns; a signal that does not interrupt the sleep is seen this soon
  for (std::int64_t left = *next - since_start(recorder_.now()); left > 0 && stop == 0;
       left = *next - since_start(recorder_.now())) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(left, glance)));
  }
  recorder_.enter(Stage::host);
}

void Session::show(Listener& listener) {
  const Ticks now = stepper_.last_end();
  for (const auto& r : running_) {
    Sequence& s = r->sequence;
    if (r->shown == s.tokens.size()) continue;
    RequestResult& result = results_[s.request];
    if (result.first_token < 0) {
      result.first_token = since_start(now);
      point(DMPROF_FIRST_TOKEN, s.request, now, 0);
    }
    std::string piece;
    for (; r->shown < s.tokens.size(); ++r->shown) piece += r->decoder.push(s.tokens[r->shown]);
    if (s.finish != Finish::running) piece += r->decoder.finish();
    result.text += piece;
    if (!piece.empty()) listener.text(s.request, piece);
  }
}

void Session::retire(Scheduler& scheduler, Listener& listener) {
  const Ticks now = stepper_.last_end();
  for (const auto& r : running_) {
    const Sequence& s = r->sequence;
    if (s.finish == Finish::running) continue;
    RequestResult& result = results_[s.request];
    result.finish = s.finish;
    result.output_tokens = s.emitted();
    const bool whole = s.finish == Finish::end_of_text || s.finish == Finish::max_tokens;
    const Ticks when = whole ? now : recorder_.now();
    result.end = since_start(when);
    point(s.finish == Finish::failed ? DMPROF_REQUEST_FAIL : DMPROF_REQUEST_END, s.request, when, s.emitted());
    scheduler.release(s.slot);
    stepper_.close(s.slot);
    listener.ended(s.request);
  }
  std::erase_if(running_, [](const auto& r) { return r->sequence.finish != Finish::running; });
}

void Session::end_all(Finish finish, Scheduler& scheduler, Listener& listener) {
  scheduler.drop_waiting();
  for (const auto& r : running_) {
    r->sequence.finish = finish;
    const std::string rest = r->decoder.finish();
    results_[r->sequence.request].text += rest;
    if (!rest.empty()) listener.text(r->sequence.request, rest);
  }
  retire(scheduler, listener);
}

}  // namespace dmengine
