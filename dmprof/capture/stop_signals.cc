#include "dmprof/capture/stop_signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace dmprof::capture {

Result<StopSignals> StopSignals::take() {
  sigset_t stops;
  sigset_t previous;
  ::sigemptyset(&stops);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&stops, number);
  ::pthread_sigmask(SIG_BLOCK, &stops, &previous);
  const int descriptor = ::signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) {
    const std::string reason = std::strerror(errno);
    ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return fail(ErrorKind::environment, "cannot watch for Ctrl-C: " + reason);
  }
  return StopSignals(descriptor, previous);
}

StopSignals::StopSignals(StopSignals&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), previous_(other.previous_) {}

StopSignals::~StopSignals() {
  if (descriptor_ < 0) return;
  // A signal that is still pending would end the program the moment it is let through, after the recording was
  // finished.
  while (wait(0)) {
  }
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

std::optional<StopSignal> StopSignals::wait(int milliseconds) {
  pollfd ready{descriptor_, POLLIN, 0};
  if (::poll(&ready, 1, milliseconds) <= 0) return std::nullopt;
  signalfd_siginfo info{};
  if (::read(descriptor_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return StopSignal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

}  // namespace dmprof::capture
