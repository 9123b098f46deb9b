#include "samples/models/train/teacher.h"

#include <algorithm>
#include <thread>

#include "samples/models/train/loss.h"

namespace dmprof::train {

Teacher::Teacher(const Shape& shape, const std::vector<float>& parameters, const std::vector<Token>& stream, int max_windows,
                 int threads)
    : context_(shape.context), vocab_(shape.vocab), windows_(std::min(max_windows, static_cast<int>(stream.size()) / shape.context)) {
  probabilities_.resize(first_token(windows_) * static_cast<std::size_t>(vocab_));
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      Network<float> network(shape, context_);
      for (int w = t; w < windows_; w += threads) {
        network.forward(parameters.data(), std::span(stream).subspan(first_token(w), static_cast<std::size_t>(context_)));
        softmax_to_half(network.logits(), vocab_, context_,
                        probabilities_.data() + first_token(w) * static_cast<std::size_t>(vocab_));
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace dmprof::train
