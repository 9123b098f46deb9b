#include "samples/engine/kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace dmengine {
namespace {

TEST(ThreadPool, runs_every_piece_exactly_once) {
  for (const unsigned threads : {0U, 1U, 2U, 5U}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), std::max(threads, 1U));
    for (const uint32_t pieces : {0U, 1U, 2U, 3U, 100U, 1000U}) {
      std::vector<std::atomic<int>> counts(pieces);
      pool.run(pieces, [&](uint32_t piece, unsigned thread) {
        EXPECT_LT(thread, pool.threads());
        ++counts[piece];
      });
      for (const auto& count : counts) ASSERT_EQ(count.load(), 1);
    }
  }
}

TEST(ThreadPool, splits_jobs_of_more_pieces_than_a_ticket_holds) {
  ThreadPool pool(2);
  constexpr uint32_t pieces = (1U << 20) + 17;
  std::vector<uint8_t> seen(pieces, 0);
  pool.run(pieces, [&](uint32_t piece, unsigned) { ++seen[piece]; });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(pieces));
}

TEST(ThreadPool, keeps_the_results_of_thousands_of_short_jobs_apart) {
  ThreadPool pool(3);
  std::vector<uint32_t> out(7);
  for (uint32_t job = 0; job < 5000; ++job) {
    pool.run(7, [&](uint32_t piece, unsigned) { out[piece] = job * 10 + piece; });
    for (uint32_t piece = 0; piece < 7; ++piece) ASSERT_EQ(out[piece], job * 10 + piece);
  }
}

TEST(ThreadPool, wakes_workers_that_went_to_sleep) {
  ThreadPool pool(2);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<bool> other{false};
    // The caller's piece waits for the worker's: this ends only if the worker wakes.
    pool.run(2, [&](uint32_t, unsigned thread) {
      if (thread != 0) other = true;
      while (!other) std::this_thread::yield();
    });
    EXPECT_TRUE(other);
  }
}

TEST(ThreadPool, ends_while_its_workers_sleep_or_spin) {
  for (int i = 0; i < 50; ++i) {
    ThreadPool pool(3);
    if (i % 2 == 0) pool.run(5, [](uint32_t, unsigned) {});
  }
}

}  // namespace
}  // namespace dmengine
