#include "dmprof/capture/child.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

extern char** environ;

namespace dmprof::capture {

namespace {

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto replaced = std::any_of(variables.begin(), variables.end(), [&](const auto& variable) {
      return text.starts_with(variable.first) && text.size() > variable.first.size() &&
             text[variable.first.size()] == '=';
    });
    if (!replaced) entries.emplace_back(text);
  }
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::string ChildEnd::text() const {
  if (signal == 0) return fmt::format("exit status {}", exit_status);
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("killed by SIG{}", name) : fmt::format("killed by signal {}", signal);
}

Status check_program(const std::string& name) {
  const auto runnable = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
  };
  std::string_view folders;
  if (name.find('/') == std::string::npos) {
    const char* path = std::getenv("PATH");
    folders = path != nullptr ? path : "/bin:/usr/bin";
  } else if (runnable(name)) {
    return {};
  }
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    const std::string_view folder = colon == 0 ? "." : folders.substr(0, colon);
    if (runnable(std::filesystem::path(folder) / name)) return {};
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored))
    return fail(ErrorKind::environment, fmt::format("cannot start {}: it is a directory; name a program", name));
  return fail(
      ErrorKind::environment,
      fmt::format("cannot start {}: there is no such program; check the name, the path and its permissions", name));
}

Result<Child> Child::start(const std::vector<std::string>& command,
                           const std::vector<std::pair<std::string, std::string>>& variables) {
  if (command.empty()) return fail(ErrorKind::usage, "no command to record; type it after --");
  std::vector<std::string> words = command;
  std::vector<std::string> entries = environment_with(variables);
  std::vector<char*> argv = pointers_to(words);
  std::vector<char*> envp = pointers_to(entries);

  // This process blocks the signals that stop a recording and ignores SIGPIPE and SIGXFSZ; the command must see
  // neither.
  posix_spawnattr_t attributes;
  if (::posix_spawnattr_init(&attributes) != 0)
    return fail(ErrorKind::environment, "cannot start a command: out of memory");
  sigset_t none;
  sigset_t ignored;
  ::sigemptyset(&none);
  ::sigemptyset(&ignored);
  ::sigaddset(&ignored, SIGPIPE);
  ::sigaddset(&ignored, SIGXFSZ);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &ignored);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], nullptr, &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return fail(ErrorKind::environment, fmt::format("cannot start {}: {}; check the name, the path and its permissions",
                                                    command.front(), ::strerror(error)));
  }
  return Child(pid);
}

std::optional<ChildEnd> Child::ended() {
  if (end_) return end_;
  int status = 0;
  const pid_t done = ::waitpid(pid_, &status, WNOHANG);
  const bool gone = done < 0 && errno == ECHILD;  // somebody else reaped it: its status is unknown, its end is not
  if (done != pid_ && !gone) return std::nullopt;
  end_ = ChildEnd{};
  if (gone) return end_;
  if (WIFEXITED(status)) end_->exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end_->signal = WTERMSIG(status);
  return end_;
}

void Child::send(int signal) {
  if (!end_) ::kill(pid_, signal);  // not reaped yet, so the pid is still its own
}

}  // namespace dmprof::capture
