// A pool that runs one function on all its threads at once, the caller being one of them.
//
// Workers wait by spinning briefly, then by yielding, then in a futex, so that a core taken by another process costs
// its share of speed and not more. Work is handed out in small pieces from a shared counter for the same reason: a
// thread that was preempted delays only the piece it holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "dmprof/base/error.h"

namespace dmengine {

class ThreadPool {
 public:
  // `threads` counts the caller; 0 is taken as 1. Throws std::system_error when the system gives no more threads;
  // make() turns that into an error.
  explicit ThreadPool(unsigned threads);
  static dmprof::Result<std::unique_ptr<ThreadPool>> make(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned threads() const;

  // Calls body(piece, thread) for every piece in [0, pieces), each exactly once, and returns when all have ended. Which
  // thread runs which piece is not determined. One caller at a time; body must not call run.
  void run(uint32_t pieces, const std::function<void(uint32_t piece, unsigned thread)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dmengine
