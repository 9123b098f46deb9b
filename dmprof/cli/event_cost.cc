#include "dmprof/cli/event_cost.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "collectors/attach/attach_collector.h"
#include "dmprof/event/discarding_sink.h"
#include "dmprof/sdk/dmprof.h"

namespace dmprof::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds longest_wait{1000};
constexpr int rounds = 7;
constexpr int turns = 4000;
constexpr int events_a_turn = 6;

// Counts what arrives and what is lost: the cost is that of the emitter's side, and holds only while nothing is lost.
class CheckingSink : public DiscardingSink {
 public:
  Status add_loss(const Loss& loss) override {
    lost_ += loss.events;
    return {};
  }
  Status accept(std::span<const Event> events) override {
    received_ += events.size();
    return {};
  }
  bool holds(std::uint64_t events) const { return lost_ == 0 && received_ >= events; }

 private:
  std::uint64_t lost_ = 0, received_ = 0;
};

// The kinds that make up an engine's stream, one of each.
void emit(dmprof_track* track, std::uint32_t name, std::uint64_t number) {
  dmprof_phase(track, name);
  dmprof_begin(track, name);
  dmprof_end(track);
  dmprof_counter(track, name, static_cast<double>(number));
  dmprof_block_access_event access{};
  access.time = dmprof_now(track);
  access.block = number;
  dmprof_block_access(track, &access);
  dmprof_kernel_event kernel{};
  kernel.start = dmprof_now(track);
  kernel.name = name;
  dmprof_kernel(track, &kernel);
  dmprof_transfer_event transfer{};
  transfer.start = dmprof_now(track);
  dmprof_transfer(track, &transfer);
}

[[noreturn]] void emit_and_report(int result) {
  const dmprof_options options{"dmprof-event-cost", "", 0};
  if (dmprof_init(&options) != 0) _exit(1);
  const char ready = 1;
  if (write(result, &ready, 1) != 1) _exit(1);
  const Clock::time_point give_up = Clock::now() + longest_wait;
  while (dmprof_enabled() == 0) {
    if (Clock::now() > give_up) _exit(1);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  dmprof_track* track = dmprof_thread_track();
  const std::uint32_t name = dmprof_name("event_cost");
  std::array<double, rounds> costs{};
  for (double& cost : costs) {
    const Clock::time_point start = Clock::now();
    for (std::uint64_t turn = 0; turn < turns; ++turn) emit(track, name, turn);
    cost = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / (turns * events_a_turn);
  }
  dmprof_phase(track, 0);  // the last one is complete too: every event arrives
  std::nth_element(costs.begin(), costs.begin() + rounds / 2, costs.end());
  const double median = costs[rounds / 2];
  const bool sent = write(result, &median, sizeof median) == static_cast<ssize_t>(sizeof median);
  dmprof_shutdown();
  _exit(sent ? 0 : 1);
}

// Reads `size` bytes, collecting meanwhile when there is a collector.
bool receive(int from, void* target, std::size_t size, Collector* collector) {
  const Clock::time_point give_up = Clock::now() + 2 * longest_wait;
  while (Clock::now() < give_up) {
    pollfd descriptor{from, POLLIN, 0};
    const int ready = poll(&descriptor, 1, collector == nullptr ? 100 : 1);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) return read(from, target, size) == static_cast<ssize_t>(size);
    if (collector != nullptr && !collector->poll()) return false;
  }
  return false;
}

}  // namespace

Result<double> measure_event_cost(std::uint64_t ring_bytes) {
  int ends[2];
  if (pipe(ends) != 0) return fail(ErrorKind::environment, std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    ::unsetenv("DMPROF_CONTROL");  // a dmprof that is recorded itself must not show this as an engine of its command
    emit_and_report(ends[1]);
  }
  close(ends[1]);
  double cost = 0;
  bool measured = false, complete = false;
  if (child > 0) {
    char ready = 0;
    if (receive(ends[0], &ready, 1, nullptr)) {
      CheckingSink sink;
      attach::AttachOptions options;
      options.pids = {child};
      options.ring_bytes = ring_bytes;
      attach::AttachCollector collector(options);
      measured = collector.start(sink) && receive(ends[0], &cost, sizeof cost, &collector);
      measured = collector.stop() && measured;
      complete = sink.holds(std::uint64_t{rounds} * turns * events_a_turn);
    }
    kill(child, SIGKILL);  // it has ended by itself unless something went wrong
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (!measured || !(cost > 0))
    return fail(
        ErrorKind::environment,
        "the cost of an event could not be measured: no emitter could be started and attached to; see dmprof doctor");
  if (!complete)
    return fail(
        ErrorKind::environment,
        "the cost of an event could not be measured: the ring did not hold every event, so it would be the cost "
        "of dropping some");
  return cost;
}

}  // namespace dmprof::cli
