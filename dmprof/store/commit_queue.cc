#include "dmprof/store/commit_queue.h"

namespace dmprof::store {

CommitQueue::CommitQueue(sqlite3* database, ChunkTable table, std::size_t queue_bytes)
    : database_(database), table_(std::move(table)), queue_bytes_(queue_bytes), thread_([this] { loop(); }) {}

Status CommitQueue::push(ClosedChunk chunk) {
  std::unique_lock lock(mutex_);
  // A chunk larger than the whole queue still passes when the queue is empty.
  done_.wait(lock, [&] { return !status_ || waiting_bytes_ == 0 || waiting_bytes_ < queue_bytes_; });
  if (!status_) return status_;
  waiting_bytes_ += chunk.bytes();
  jobs_.emplace_back(std::move(chunk));
  wanted_ = true;
  work_.notify_one();
  return {};
}

Status CommitQueue::push(Change change) {
  const std::lock_guard lock(mutex_);
  if (!status_) return status_;
  jobs_.emplace_back(std::move(change));
  return {};
}

Status CommitQueue::commit() {
  const std::lock_guard lock(mutex_);
  if (!status_) return status_;
  if (!jobs_.empty()) {
    wanted_ = true;
    work_.notify_one();
  }
  return {};
}

Status CommitQueue::wait() {
  std::unique_lock lock(mutex_);
  wanted_ = true;
  work_.notify_one();
  done_.wait(lock, [&] { return !status_ || (jobs_.empty() && !busy_); });
  return status_;
}

void CommitQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t CommitQueue::bytes_written() const {
  const std::lock_guard lock(mutex_);
  return bytes_written_;
}

std::uint64_t CommitQueue::events_committed() const {
  const std::lock_guard lock(mutex_);
  return events_committed_;
}

void CommitQueue::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return stopping_ || (wanted_ && !jobs_.empty()); });
    if (jobs_.empty()) return;  // only when stopping
    std::vector<Job> jobs = std::exchange(jobs_, {});
    wanted_ = false;
    busy_ = true;
    lock.unlock();
    std::size_t bytes = 0;
    std::uint64_t events = 0;
    for (const Job& job : jobs) {
      const auto* chunk = std::get_if<ClosedChunk>(&job);
      if (chunk == nullptr) continue;
      bytes += chunk->bytes();
      events += chunk->rows;
    }
    Status done = perform(jobs);
    jobs.clear();
    lock.lock();
    busy_ = false;
    waiting_bytes_ -= bytes;
    bytes_written_ = table_.bytes_written();
    if (done) {
      events_committed_ += events;
    } else {
      status_ = std::move(done);
      jobs_.clear();
      waiting_bytes_ = 0;
    }
    done_.notify_all();
  }
}

Status CommitQueue::perform(std::vector<Job>& jobs) {
  Status done = execute(database_, "BEGIN");
  for (Job& job : jobs) {
    if (!done) break;
    if (auto* chunk = std::get_if<ClosedChunk>(&job)) {
      done = table_.insert(*chunk);
    } else {
      done = std::get<Change>(job)(database_);
    }
  }
  if (done) done = execute(database_, "COMMIT");
  if (!done) sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  return done;
}

}  // namespace dmprof::store
