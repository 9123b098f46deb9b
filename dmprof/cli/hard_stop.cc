#include "dmprof/cli/hard_stop.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <utility>

namespace dmprof::cli {

namespace {

// What a signal handler may touch: set before the timer, never changed while it runs.
std::string last_words;
int last_status = 0;

void end_now(int) {
  if (::write(STDERR_FILENO, last_words.data(), last_words.size()) < 0) ::_exit(last_status);
  ::_exit(last_status);
}

void set_timer(double seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

HardStop::HardStop(double seconds, std::string message, int status) {
  last_words = std::move(message);
  last_status = status;
  struct sigaction action {};
  action.sa_handler = end_now;
  ::sigaction(SIGPROF, &action, nullptr);
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGPROF);
  ::sigprocmask(SIG_UNBLOCK, &ours, nullptr);  // a parent may have left it blocked
  set_timer(std::fmax(seconds, 1e-3));
}

HardStop::~HardStop() {
  set_timer(0);
  ::signal(SIGPROF, SIG_DFL);
}

}  // namespace dmprof::cli
