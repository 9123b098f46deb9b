#include "dmprof/capture/recorder.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>

#include "dmprof/capture/counting_sink.h"

namespace dmprof::capture {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds progress_every{200};
constexpr milliseconds longest_rest{20};  // how late the end of a command or of the duration may be noticed

std::string name_of(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

class Loop {
 public:
  Loop(Collector& collector, Writer& writer, StopSignals& signals, Child* child, const RecordOptions& options)
      : collector_(collector), writer_(writer), signals_(signals), child_(child), options_(options), sink_(writer) {}

  Result<Outcome> run() {
    if (Status begun = collector_.start(sink_); !begun) {
      outlive_child(begun.error());
      return tl::unexpected(begun.error());
    }
    started_ = last_commit_ = last_progress_ = Clock::now();
    while (!outcome_done_) step();
    finish();
    if (outcome_.failure) outlive_child(*outcome_.failure);
    if (child_ != nullptr) outcome_.child = child_->ended();
    return std::move(outcome_);
  }

 private:
  void stop(StopReason reason, std::string text) {
    if (outcome_done_) return;
    outcome_done_ = true;
    outcome_.reason = reason;
    outcome_.text = std::move(text);
  }

  void fail_with(StopReason reason, const Error& error) {
    if (!outcome_.failure) outcome_.failure = error;
    stop(reason, "stopped by an error: " + error.message);
  }

  void step() {
    // Asked before the last poll: whatever the command emitted until its end is then in the rings.
    const bool child_done = child_ != nullptr && child_->ended();
    auto polled = collector_.poll();
    // The collector hands up what the store refused, too.
    if (!polled)
      return fail_with(sink_.refused() ? StopReason::store_failed : StopReason::collector_failed, polled.error());
    const Clock::time_point now = Clock::now();
    if (now - last_commit_ >= options_.commit_every) {
      last_commit_ = now;
      if (Status flushed = writer_.flush(); !flushed) return fail_with(StopReason::store_failed, flushed.error());
    }
    if (now - last_progress_ >= progress_every) show_progress(now);
    if (child_done) return stop(StopReason::command_ended, "the command ended");
    // Processes of a command may come and go; only the command itself ends such a recording.
    if (child_ == nullptr && polled->finished) return stop(StopReason::targets_ended, "every recorded process ended");
    if (options_.duration && now - started_ >= *options_.duration) return stop(StopReason::duration, "the time was up");
    if (signalled_ && now >= give_up_at_)
      return stop(StopReason::signal, fmt::format("interrupted ({}); the command still runs", name_of(*signalled_)));
    rest(std::chrono::ceil<milliseconds>(polled->rest), now);
  }

  void rest(milliseconds wanted, Clock::time_point now) {
    milliseconds longest = std::min(wanted, longest_rest);
    if (options_.duration) {
      const auto left = std::chrono::ceil<milliseconds>(*options_.duration - (now - started_));
      longest = std::clamp(left, milliseconds(0), longest);
    }
    if (const auto signal = signals_.wait(static_cast<int>(longest.count()))) on_signal(*signal);
  }

  // Without a command the recording ends at once. A command is told to end (the terminal tells it itself) and recorded
  // until it does; a second signal, or its taking too long, ends the recording without it.
  void on_signal(const StopSignal& signal) {
    if (child_ == nullptr) return stop(StopReason::signal, fmt::format("interrupted ({})", name_of(signal.number)));
    if (signalled_)
      return stop(StopReason::signal,
                  fmt::format("interrupted twice ({}); the command still runs", name_of(signal.number)));
    signalled_ = signal.number;
    give_up_at_ = Clock::now() + options_.child_grace;
    if (!signal.from_terminal) child_->send(signal.number);
  }

  void show_progress(Clock::time_point now) {
    const double elapsed = std::chrono::duration<double>(now - last_progress_).count();
    Progress progress = totals(now);
    progress.events_per_second = elapsed > 0 ? static_cast<double>(progress.events - last_events_) / elapsed : 0;
    last_progress_ = now;
    last_events_ = progress.events;
    if (options_.progress) options_.progress(progress);
  }

  Progress totals(Clock::time_point now) const {
    Progress progress;
    progress.seconds = std::chrono::duration<double>(now - started_).count();
    progress.events = sink_.events();
    progress.bytes = writer_.bytes_written();
    progress.lost = sink_.lost();
    progress.events_per_second = progress.seconds > 0 ? static_cast<double>(progress.events) / progress.seconds : 0;
    return progress;
  }

  void finish() {
    const Clock::time_point end = Clock::now();
    if (Status stopped = collector_.stop(); !stopped && !outcome_.failure) outcome_.failure = stopped.error();
    if (signalled_ && outcome_.reason == StopReason::command_ended)
      outcome_.text += fmt::format(" after {}", name_of(*signalled_));
    if (Status finished = writer_.finish(outcome_.text); !finished && !outcome_.failure)
      outcome_.failure = finished.error();
    outcome_.totals = totals(end);
    outcome_.lost_by_cause = sink_.lost_by_cause();
    outcome_.processes = sink_.processes();
    outcome_.events_committed = writer_.events_committed();
  }

  // The recording is over, the command is not: it was started by us, so it is ours to wait for and to stop.
  void outlive_child(const Error& failure) {
    if (child_ == nullptr || child_->ended()) return;
    if (options_.unrecorded) options_.unrecorded(failure);
    while (!child_->ended()) {
      const auto signal = signals_.wait(static_cast<int>(longest_rest.count()));
      if (!signal) continue;
      if (signalled_) return;
      signalled_ = signal->number;
      if (!signal->from_terminal) child_->send(signal->number);
    }
  }

  Collector& collector_;
  Writer& writer_;
  StopSignals& signals_;
  Child* child_;
  const RecordOptions& options_;
  CountingSink sink_;
  Clock::time_point started_, last_commit_, last_progress_, give_up_at_;
  std::uint64_t last_events_ = 0;
  std::optional<int> signalled_;
  bool outcome_done_ = false;
  Outcome outcome_;
};

}  // namespace

Result<Outcome> record(Collector& collector, Writer& writer, StopSignals& signals, Child* child,
                       const RecordOptions& options) {
  return Loop(collector, writer, signals, child, options).run();
}

}  // namespace dmprof::capture
