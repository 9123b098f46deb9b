// The writer's own thread: takes closed chunks and small changes in order, and commits them in one transaction a turn.
// A failure is final: the transaction is rolled back, later work is dropped, and every later call returns the error.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "dmprof/store/chunk_table.h"

namespace dmprof::store {

class CommitQueue {
 public:
  using Change = std::function<Status(sqlite3*)>;

  // The connection belongs to the queue's thread until stop().
  CommitQueue(sqlite3* database, ChunkTable table, std::size_t queue_bytes);
  ~CommitQueue() { stop(); }
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  Status push(ClosedChunk chunk);  // waits while the queue is full
  Status push(Change change);      // kept until the next chunk, commit() or stop()
  Status commit();                 // starts a commit of everything pushed; does not wait
  Status wait();                   // until everything pushed is committed
  void stop();                     // commits and ends the thread
  std::uint64_t bytes_written() const;
  std::uint64_t events_committed() const;

 private:
  using Job = std::variant<ClosedChunk, Change>;

  void loop();
  Status perform(std::vector<Job>& jobs);

  sqlite3* database_;
  ChunkTable table_;
  const std::size_t queue_bytes_;

  mutable std::mutex mutex_;
  std::condition_variable work_;  // the thread waits here
  std::condition_variable done_;  // callers wait here
  std::vector<Job> jobs_;
  std::size_t waiting_bytes_ = 0;  // of chunks pushed and not yet committed
  std::uint64_t bytes_written_ = 0;
  std::uint64_t events_committed_ = 0;
  bool wanted_ = false;  // somebody wants a commit
  bool busy_ = false;
  bool stopping_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace dmprof::store
