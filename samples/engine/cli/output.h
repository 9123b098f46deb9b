// Generated text on its way to standard output.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "dmprof/base/exit_status.h"
#include "samples/engine/runtime/session.h"

namespace dmengine {

// One request: its text as it appears, and a newline. Several: one after the other in the caller's order, each as it
// appears once those before it have ended.
class TextOutput : public Listener {
 public:
  TextOutput(std::FILE* out, std::size_t requests) : out_(out), held_(requests), done_(requests, false) {}

  void text(std::size_t request, std::string_view piece) override;
  void ended(std::size_t request) override;
  // Writes what is still held back; environment when anything could not be written.
  Status finish();

 private:
  void write(std::string_view text);

  std::FILE* out_;
  std::vector<std::string> held_;
  std::vector<bool> done_;
  std::size_t current_ = 0;
  bool failed_ = false;
};

// For --json: the text waits for the object, a terminal sees how far the run is (at most ten times a second).
class ProgressOutput : public Listener {
 public:
  ProgressOutput(bool visible, std::size_t requests) : visible_(visible), requests_(requests) {}
  ~ProgressOutput() override { erase(); }

  void text(std::size_t, std::string_view piece) override;
  void ended(std::size_t) override { ++ended_; }

 private:
  void erase();

  bool visible_;
  std::size_t requests_;
  std::size_t ended_ = 0;
  std::size_t bytes_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

using dmprof::write_all;

}  // namespace dmengine
