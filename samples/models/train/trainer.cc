#include "samples/models/train/trainer.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "samples/models/train/checkpoint.h"
#include "samples/models/train/loss.h"

namespace dmprof::train {
namespace {

// The order in which windows are visited: a pure function of seed and position, so that a resumed run continues the
// same order.
class Order {
 public:
  Order(std::size_t stream_size, int context, const Teacher* teacher, unsigned seed)
      : stream_size_(stream_size), context_(static_cast<std::size_t>(context)), teacher_(teacher), seed_(seed) {
    // One window less than fits, so that any offset leaves the last window whole and its last target inside the stream.
    count_ = teacher != nullptr ? teacher->windows() : (stream_size - 1) / context_ - 1;
  }

  // Window index for the n-th draw of the whole training; its first token in `first`.
  std::size_t draw(std::size_t n, std::size_t& first) {
    const std::size_t epoch = n / count_;
    if (epoch != epoch_) begin(epoch);
    const std::size_t window = shuffled_[n % count_];
    first = teacher_ != nullptr ? Teacher::first_token(window, count_, stream_size_, context_)
                                : window * context_ + offset_;
    return window;
  }

 private:
  void begin(std::size_t epoch) {
    std::mt19937_64 generator(seed_ * 1000003ull + epoch);
    epoch_ = epoch;
    offset_ = generator() % context_;
    shuffled_.resize(count_);
    std::iota(shuffled_.begin(), shuffled_.end(), std::size_t{0});
    std::shuffle(shuffled_.begin(), shuffled_.end(), generator);
  }

  std::size_t stream_size_, context_;
  const Teacher* teacher_;
  std::uint64_t seed_;
  std::size_t count_ = 0;
  std::size_t epoch_ = static_cast<std::size_t>(-1);
  std::size_t offset_ = 0;
  std::vector<std::size_t> shuffled_;
};

struct Worker {
  Worker(const Shape& shape, std::size_t parameters) : network(shape, shape.context), gradients(parameters) {}
  Network<float> network;
  std::vector<float> gradients;
  double loss = 0;
  double squares = 0;
};

}  // namespace

Status train(const Shape& shape, const std::vector<Token>& stream, const Teacher* teacher, const TrainOptions& options,
             std::vector<float>& parameters, const std::function<void(const Progress&)>& report) {
  const auto context = static_cast<std::size_t>(shape.context);
  if (teacher != nullptr && teacher->windows() * context > stream.size()) {
    return fail(ErrorKind::bad_input,
                "the teacher's file covers more text than there is: make it from the same corpus");
  }
  if (stream.size() < 3 * context) {
    return fail(ErrorKind::bad_input,
                "the text has only " + std::to_string(stream.size()) + " tokens: give at least three windows");
  }
  const Layout layout(shape);
  AdamW adam(layout);
  int first_step = 0;
  if (!options.checkpoint.empty()) {
    auto resumed = load_checkpoint(options.checkpoint, parameters, adam);
    if (!resumed) return tl::unexpected(resumed.error());
    first_step = *resumed;
  }
  const int threads = options.threads;
  const int share = options.windows_per_step / threads;
  std::vector<std::unique_ptr<Worker>> workers;
  for (int t = 0; t < threads; ++t) workers.push_back(std::make_unique<Worker>(shape, layout.total));

  const auto start = std::chrono::steady_clock::now();
  double loss = 0;
  int reported = first_step;
  int step = first_step;
  Status saved;
  bool done = step >= options.schedule.steps;
  const double first_progress = options.schedule.progress(first_step);
  double progress = first_progress;
  // Runs once a step while every thread waits, after the update.
  auto finish_step = [&]() noexcept {
    for (auto& worker : workers) loss += worker->loss / threads;
    ++step;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    progress = options.schedule.progress(step);
    done = step >= options.schedule.steps;
    if (options.minutes > 0) {
      const double spent = seconds.count() / (60 * options.minutes);
      progress = first_progress + (1 - first_progress) * std::min(1.0, spent);
      done = spent >= 1;
    }
    if (step % options.report_every == 0 || done) {
      const double tokens = static_cast<double>(step - first_step) * options.windows_per_step * shape.context;
      report(Progress{step, loss / (step - reported), tokens / seconds.count()});
      loss = 0;
      reported = step;
    }
    if (!options.checkpoint.empty() && step % options.checkpoint_every == 0) {
      saved = save_checkpoint(options.checkpoint, step, parameters, adam);
    }
  };
  std::barrier computed(threads);
  std::barrier summed(threads);
  std::barrier updated(threads, finish_step);

  auto work = [&](int t) {
    Worker& self = *workers[static_cast<std::size_t>(t)];
    Order order(stream.size(), shape.context, teacher, options.seed);
    const std::size_t begin = layout.total * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads);
    const std::size_t end = layout.total * static_cast<std::size_t>(t + 1) / static_cast<std::size_t>(threads);
    const float weight = 1.0f / static_cast<float>(options.windows_per_step);
    for (int at = first_step; !done && saved; ++at) {
      std::fill(self.gradients.begin(), self.gradients.end(), 0.0f);
      self.loss = 0;
      for (int i = 0; i < share; ++i) {
        std::size_t first = 0;
        const std::size_t window =
            order.draw(static_cast<std::size_t>(at) * static_cast<std::size_t>(options.windows_per_step) +
                           static_cast<std::size_t>(i * threads + t),
                       first);
        const auto input = std::span(stream).subspan(first, context);
        self.network.forward(parameters.data(), input);
        const double window_loss = teacher != nullptr
                                       ? distillation(self.network.logits(), shape.vocab, shape.context,
                                                      teacher->distributions(window), weight)
                                       : cross_entropy(self.network.logits(), shape.vocab,
                                                       std::span(stream).subspan(first + 1, context), weight);
        self.loss += window_loss / share;
        self.network.backward(parameters.data(), input, self.gradients.data());
      }
      computed.arrive_and_wait();
      // Each thread sums its slice of all gradients into the first worker's array.
      float* sum = workers[0]->gradients.data();
      for (std::size_t w = 1; w < workers.size(); ++w) {
        const float* other = workers[w]->gradients.data();
        for (std::size_t i = begin; i < end; ++i) sum[i] += other[i];
      }
      double squares = 0;
      for (std::size_t i = begin; i < end; ++i) squares += static_cast<double>(sum[i] * sum[i]);
      self.squares = squares;
      summed.arrive_and_wait();
      double norm = 0;
      for (auto& worker : workers) norm += worker->squares;
      norm = std::sqrt(norm);
      const float scale = norm > 1.0 ? static_cast<float>(1.0 / norm) : 1.0f;
      adam.update(begin, end, at, options.schedule.rate(at, progress), scale, sum, parameters.data());
      updated.arrive_and_wait();
    }
  };
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) pool.emplace_back(work, t);
  for (std::thread& thread : pool) thread.join();
  return saved;
}

}  // namespace dmprof::train
