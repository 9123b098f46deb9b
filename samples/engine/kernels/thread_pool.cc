#include "samples/engine/kernels/thread_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace dmengine {

namespace {

// A job's ticket word: which job (high 24 bits), how many pieces it has, and the next one to hand out. One atomic word,
// so that a thread that wakes late can neither miss a job nor run a piece of one that has ended.
constexpr unsigned piece_bits = 20;
constexpr uint64_t piece_mask = (uint64_t{1} << piece_bits) - 1;
constexpr uint32_t max_pieces = (1U << piece_bits) - 4096;  // room for every thread's last, failing draw

constexpr int spins = 2000;  // about 20-40 us of pauses: longer than the gaps between kernels
constexpr int yields = 16;

uint64_t ticket_of(uint64_t job, uint32_t pieces) {
  return (job << (2 * piece_bits)) | (uint64_t{pieces} << piece_bits);
}
uint32_t next_of(uint64_t ticket) { return static_cast<uint32_t>(ticket & piece_mask); }
uint32_t pieces_of(uint64_t ticket) { return static_cast<uint32_t>((ticket >> piece_bits) & piece_mask); }

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// Waits until ready() holds: spins, then gives the core away, then sleeps on `word` while it equals the value last
// seen.
template <class Word, class Ready>
void wait_until(const std::atomic<Word>& word, Ready ready) {
  for (int i = 0; i < spins; ++i) {
    if (ready(word.load(std::memory_order_acquire))) return;
    pause();
  }
  for (int i = 0; i < yields; ++i) {
    if (ready(word.load(std::memory_order_acquire))) return;
    std::this_thread::yield();
  }
  for (;;) {
    const Word seen = word.load(std::memory_order_acquire);
    if (ready(seen)) return;
    word.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace

struct ThreadPool::State {
  using Body = std::function<void(uint32_t, unsigned)>;

  alignas(64) std::atomic<uint64_t> ticket{0};
  alignas(64) std::atomic<uint32_t> finished{0};  // pieces of the current job that have ended
  alignas(64) std::atomic<uint32_t> job{0};       // counts jobs: what idle workers sleep on
  std::atomic<const Body*> body{nullptr};
  std::atomic<bool> stopping{false};
  std::vector<std::thread> workers;

  // Draws and runs pieces until there are none; true when this thread ended the job's last piece.
  bool work(unsigned thread) {
    for (;;) {
      // Looked at before drawing, so that failing draws stay few and never carry into the next field.
      const uint64_t now = ticket.load(std::memory_order_relaxed);
      if (next_of(now) >= pieces_of(now)) return false;
      const uint64_t drawn = ticket.fetch_add(1, std::memory_order_acq_rel);
      if (next_of(drawn) >= pieces_of(drawn)) return false;
      // The job cannot end before this piece does, so its body stays valid.
      (*body.load(std::memory_order_relaxed))(next_of(drawn), thread);
      if (finished.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces_of(drawn)) return true;
    }
  }

  void stop() {
    stopping.store(true, std::memory_order_release);
    job.fetch_add(1, std::memory_order_acq_rel);
    job.notify_all();
    for (std::thread& worker : workers) worker.join();
  }

  void serve(unsigned thread) {
    uint32_t seen = 0;
    for (;;) {
      wait_until(job, [seen](uint32_t now) { return now != seen; });
      seen = job.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_acquire)) return;
      if (work(thread)) finished.notify_one();
    }
  }
};

ThreadPool::ThreadPool(unsigned threads) : state_(std::make_unique<State>()) {
  const unsigned workers = std::clamp(threads, 1U, 1024U) - 1;
  state_->workers.reserve(workers);
  try {
    for (unsigned thread = 1; thread <= workers; ++thread) {
      state_->workers.emplace_back([state = state_.get(), thread] { state->serve(thread); });
    }
  } catch (...) {  // those that did start must end before what they serve goes away
    state_->stop();
    throw;
  }
}

dmprof::Result<std::unique_ptr<ThreadPool>> ThreadPool::make(unsigned threads) {
  try {
    return std::make_unique<ThreadPool>(threads);
  } catch (const std::system_error& error) {
    return dmprof::fail(dmprof::ErrorKind::environment,
                        fmt::format("cannot start {} threads: {}; lower --threads, or allow more processes (ulimit -u) "
                                    "and memory (ulimit -v)",
                                    threads, error.code().message()));
  }
}

ThreadPool::~ThreadPool() { state_->stop(); }

unsigned ThreadPool::threads() const { return static_cast<unsigned>(state_->workers.size()) + 1; }

void ThreadPool::run(uint32_t pieces, const std::function<void(uint32_t, unsigned)>& body) {
  if (pieces <= 1 || state_->workers.empty()) {
    for (uint32_t piece = 0; piece < pieces; ++piece) body(piece, 0);
    return;
  }
  for (uint32_t first = 0; first < pieces; first += max_pieces) {
    const uint32_t count = std::min(pieces - first, max_pieces);
    const std::function<void(uint32_t, unsigned)> shifted = [&body, first](uint32_t piece, unsigned thread) {
      body(first + piece, thread);
    };
    State& state = *state_;
    state.finished.store(0, std::memory_order_relaxed);
    state.body.store(first == 0 ? &body : &shifted, std::memory_order_relaxed);
    const uint64_t number = uint64_t{state.job.load(std::memory_order_relaxed)} + 1;
    state.ticket.store(ticket_of(number, count), std::memory_order_release);
    state.job.store(static_cast<uint32_t>(number), std::memory_order_release);
    state.job.notify_all();
    state.work(0);
    wait_until(state.finished, [count](uint32_t now) { return now == count; });
  }
}

}  // namespace dmengine
