// A run over a list of requests: they arrive, wait, are computed in batches, and end.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "samples/engine/runtime/sequence.h"
#include "samples/engine/runtime/settings.h"
#include "samples/engine/runtime/stepper.h"
#include "samples/engine/scheduler/request.h"
#include "samples/engine/scheduler/scheduler.h"
#include "samples/engine/streaming/streamer.h"
#include "samples/engine/tokenizer/tokenizer.h"

namespace dmengine {

// A request ready to run.
struct PreparedRequest {
  std::vector<Token> prompt;
  std::uint32_t limit = 0;  // tokens at which it ends, the prompt included
};

// Tokens of every prompt and their limits. bad_input when one leaves no room for an answer, or is empty where the model
// has no token to begin with; the request is named.
dmprof::Result<std::vector<PreparedRequest>> prepare(const std::vector<Request>& requests, const Tokenizer& tokenizer,
                                                     std::uint32_t context, const Settings& settings);

// Times are nanoseconds since the run's start; -1 = did not happen.
struct RequestResult {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t output_tokens = 0;  // an end-of-text token included
  Finish finish = Finish::running;
  std::string text;
  std::int64_t arrival = -1;
  std::int64_t scheduled = -1;
  std::int64_t first_token = -1;
  std::int64_t end = -1;
};

// Told as text appears, on the engine thread. `request` is the index in the caller's list.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void text(std::size_t request, std::string_view piece) = 0;
  virtual void ended(std::size_t request) = 0;
};

class Session {
 public:
  // Everything must outlive the session; `streamer` is null where all weights are resident.
  Session(Stepper& stepper, const Tokenizer& tokenizer, const Settings& settings, Recorder& recorder,
          const BlockStreamer* streamer)
      : stepper_(stepper), tokenizer_(tokenizer), settings_(settings), recorder_(recorder), streamer_(streamer) {}

  // Runs until all requests have ended. When `stop` becomes non-zero the step in progress is finished and what runs
  // ends as `interrupted`. An error of the model ends the run; what runs then counts as failed. Results are in the
  // caller's order.
  Status run(const std::vector<Request>& requests, const std::vector<PreparedRequest>& prepared, Listener& listener,
             const volatile std::sig_atomic_t& stop);

  const std::vector<RequestResult>& results() const { return results_; }
  std::int64_t elapsed() const { return elapsed_; }  // of the whole run

 private:
  struct Running {
    Sequence sequence;
    StreamDecoder decoder;
    std::size_t shown = 0;  // tokens of the sequence that were handed to the decoder
  };

  std::int64_t since_start(Ticks moment) const { return recorder_.nanoseconds(moment - origin_); }
  Ticks moment_of(std::int64_t since_start) const { return origin_ + recorder_.ticks(since_start); }
  void take_arrivals(const std::vector<Request>& requests, const std::vector<PreparedRequest>& prepared,
                     Scheduler& scheduler);
  void admit(const std::vector<PreparedRequest>& prepared, Scheduler& scheduler);
  std::vector<Sequence*> plan();
  void wait_for_arrival(const Scheduler& scheduler, const volatile std::sig_atomic_t& stop);
  void show(Listener& listener);
  void retire(Scheduler& scheduler, Listener& listener);
  void end_all(Finish finish, Scheduler& scheduler, Listener& listener);
  void point(std::uint8_t what, std::size_t request, Ticks when, std::uint64_t tokens);

  Stepper& stepper_;
  const Tokenizer& tokenizer_;
  const Settings& settings_;
  Recorder& recorder_;
  const BlockStreamer* streamer_;
  Ticks origin_ = 0;
  std::int64_t elapsed_ = 0;
  std::vector<std::uint32_t> classes_;
  std::vector<std::unique_ptr<Running>> running_;  // in order of admission
  std::vector<RequestResult> results_;
};

}  // namespace dmengine
