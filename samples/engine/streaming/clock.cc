#include "samples/engine/streaming/clock.h"

#include <sys/prctl.h>
#include <time.h>

#include <cerrno>

namespace dmengine {
namespace {

constexpr std::int64_t kSpin = 40'000;  // about what a sleep oversleeps on a busy virtual machine
constexpr std::int64_t kSecond = 1'000'000'000;

class MonotonicClock final : public StreamClock {
 public:
  std::int64_t now() override {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
  }

  void wait_until(std::int64_t time) override {
    if (time - now() > kSpin) sleep_until(time - kSpin);
    while (now() < time) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
  }

  void sleep_until(std::int64_t time) override {
    // The kernel rounds sleeps up by 50 us unless told otherwise, once per thread.
    thread_local const bool precise = prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL) == 0;
    static_cast<void>(precise);
    const timespec until{time / kSecond, time % kSecond};
    while (time > now() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
};

}  // namespace

StreamClock& monotonic_clock() {
  static MonotonicClock clock;
  return clock;
}

}  // namespace dmengine
