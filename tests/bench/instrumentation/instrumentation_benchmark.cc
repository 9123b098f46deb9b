// What an event costs the engine: one pinned thread, a live collector in another process. Every figure is taken in many
// short rounds with a round of bare rdtsc before each, and printed as a ratio too: absolute figures drift, ratios do
// not.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "collectors/attach/attach_collector.h"
#include "dmprof/event/discarding_sink.h"
#include "dmprof/sdk/dmprof.h"

#if !defined(__x86_64__)
#error "the reference is rdtsc: x86-64 only"
#endif

namespace {

using namespace dmprof;

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
}

// A collector in a process of its own, on another core.
class Recorder {
 public:
  explicit Recorder(std::uint64_t ring_bytes) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    const pid_t engine = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) {
      pin(1);
      attach::AttachOptions options;
      options.pids = {engine};
      options.ring_bytes = ring_bytes;
      options.spare_rings = 1;
      options.memory_cap = 2 * ring_bytes;
      attach::AttachCollector collector(options);
      DiscardingSink sink;
      const Status started = collector.start(sink);
      if (!started) std::fprintf(stderr, "%s\n", started.error().message.c_str());
      (void)!::write(ready[1], started ? "y" : "n", 1);
      for (;;) {
        const auto result = collector.poll();
        if (!result || result->finished) ::_exit(0);
        if (result->events == 0) std::this_thread::sleep_for(result->rest);
      }
    }
    char answer = 'n';
    (void)!::read(ready[0], &answer, 1);
    attached = answer == 'y';
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Recorder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  void stall() const { ::kill(pid_, SIGSTOP); }
  void go_on() const { ::kill(pid_, SIGCONT); }
  bool attached = false;

 private:
  pid_t pid_ = -1;
};

volatile std::uint64_t escape;

void bare_rdtsc(int count) {
  std::uint64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += __rdtsc();
  escape = sum;
}

using Work = std::function<void(int)>;
using Clock = std::chrono::steady_clock;

double nanoseconds(const Work& work, int count) {
  const auto start = Clock::now();
  work(count);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / count;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// `stamps`: time stamps the event takes; the ratio is to as many bare ones. `limit`: the target, 0 for none.
void measure(const char* name, int stamps, double limit, bool limit_is_ns, const Work& work,
             std::chrono::microseconds rest) {
  constexpr int rounds = 400, count = 5000;
  std::vector<double> own, bare, ratios;
  work(count);
  for (int round = 0; round < rounds; ++round) {
    bare.push_back(nanoseconds(bare_rdtsc, count) * stamps);
    own.push_back(nanoseconds(work, count));
    ratios.push_back(own.back() / bare.back());
    if (rest.count() != 0)
      std::this_thread::sleep_for(rest);  // lets the collector keep up: this is not about full rings
  }
  const double figure = limit_is_ns ? median(own) : median(ratios);
  std::printf("%-28s %8.2f ns  %8.2f ns bare  %6.3f x   target %5.2f %s  %s\n", name, median(own), median(bare),
              median(ratios), limit, limit_is_ns ? "ns" : "x ", figure <= limit ? "reached" : "missed");
}

void measure_all() {
  dmprof_track* track = dmprof_thread_track();
  const std::uint32_t a = dmprof_name("a"), b = dmprof_name("b");
  // A pointer of the loop's own, as an engine would keep it.
  const Work instants = [=](int count) {
    dmprof_track* const t = track;
    for (int i = 0; i < count; ++i) dmprof_instant(t, a, static_cast<std::uint64_t>(i));
  };
  const Work scopes = [=](int count) {
    dmprof_track* const t = track;
    for (int i = 0; i < count; ++i) {
      dmprof_begin(t, a);
      dmprof_end(t);
    }
  };
  const Work phases = [=](int count) {
    dmprof_track* const t = track;
    for (int i = 0; i < count; i += 2) {
      dmprof_phase(t, a);
      dmprof_phase(t, b);
    }
  };
  const auto none = std::chrono::microseconds(0), some = std::chrono::microseconds(300);
  measure("nobody attached: instant", 1, 1.0, true, instants, none);
  measure(
      "nobody attached: begin, end", 1, 1.0, true, [&](int count) { scopes(count / 2); }, none);
  measure("nobody attached: phase", 1, 1.0, true, phases, none);
  {
    const Recorder recorder(1 << 20);
    if (!recorder.attached) return;
    measure("instant", 1, 1.15, false, instants, some);
    measure("scope", 2, 1.10, false, scopes, some);
    measure("phase", 1, 1.10, false, phases, some);
    dmprof_phase(track, 0);
    recorder.stall();
    instants(1 << 16);
    measure("ring full: instant", 1, 1.15, false, instants, none);
    measure("ring full: scope", 2, 1.10, false, scopes, none);
    measure("ring full: phase", 1, 1.10, false, phases, none);
  }
  measure("collector dead: instant", 1, 1.15, false, instants, none);
}

double cpu_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void measure_stall() {
  dmprof_track* track = dmprof_thread_track();
  const Recorder recorder(64u << 20);
  if (!recorder.attached) return;
  for (int lap = 0; lap < 40; ++lap) {  // touch the whole ring once: the first lap pays page faults
    for (int i = 0; i < (1 << 16); ++i) dmprof_instant(track, 0, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::uint64_t lost_before = dmprof_emitted(track).lost;
  recorder.stall();
  std::uint64_t scopes = 0;
  // 50 ms of the thread's own time: what other processes take from it does not fill the ring.
  const auto start = cpu_time();
  while (cpu_time() - start < 50e6) {
    for (int i = 0; i < 2000; ++i, ++scopes) {
      dmprof_begin(track, 1);
      dmprof_end(track);
    }
  }
  recorder.go_on();
  std::printf("collector stalled for 50 ms  %.1f M scopes/s, 64 MiB ring: %llu lost\n",
              static_cast<double>(scopes) / 50e3,
              static_cast<unsigned long long>(dmprof_emitted(track).lost - lost_before));
}

void measure_decoder() {
  decode::Decoder decoder;
  const decode::ClockMap clock(1, 1, .4);
  decoder.add_name(1);
  decoder.bind(0, 1, clock);
  std::vector<dmprof_slot> slots;
  for (std::uint64_t i = 0; i < 1024; ++i) {  // a step: a span, three phases, an instant, a block access
    for (const int kind : {DMPROF_KIND_SPAN, DMPROF_KIND_SPAN, DMPROF_KIND_SPAN, DMPROF_KIND_INSTANT,
                           DMPROF_KIND_BLOCK_ACCESS, DMPROF_KIND_SPAN}) {
      slots.push_back({{i, 1, 0, static_cast<std::uint8_t>(kind), 1}, i, i});
      if (kind == DMPROF_KIND_BLOCK_ACCESS) slots.push_back({});
    }
  }
  std::vector<Event> events;
  std::vector<double> rates;
  for (int round = 0; round < 200; ++round) {
    events.clear();
    const auto start = Clock::now();
    (void)decoder.decode(slots, true, events);
    rates.push_back(static_cast<double>(events.size()) /
                    std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::printf("decoder                      %.1f M events/s on one core   target 10\n", median(rates));
}

}  // namespace

int main() {
  pin(0);
  const dmprof_options options = {"instrumentation_benchmark", "1", 0};
  if (const int error = dmprof_init(&options)) {
    std::fprintf(stderr, "no control page: %s\n", std::strerror(error));
    return 6;
  }
  measure_all();
  measure_stall();
  measure_decoder();
  return 0;
}
