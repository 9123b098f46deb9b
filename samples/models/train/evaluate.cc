#include "samples/models/train/evaluate.h"

#include <algorithm>
#include <numeric>
#include <thread>

#include "samples/models/train/loss.h"

namespace dmprof::train {

double evaluate(const Shape& shape, const std::vector<float>& parameters, const std::vector<Token>& stream,
                int max_windows, int threads) {
  const auto context = static_cast<std::size_t>(shape.context);
  const auto available = (stream.size() - 1) / context;
  const auto used = std::min(available, static_cast<std::size_t>(max_windows));
  std::vector<double> sums(static_cast<std::size_t>(threads));
  std::vector<std::thread> pool;
  for (std::size_t t = 0; t < sums.size(); ++t) {
    pool.emplace_back([&, t] {
      Network<float> network(shape, shape.context);
      for (std::size_t w = t; w < used; w += sums.size()) {
        const std::size_t first = w * available / used * context;
        network.forward(parameters.data(), std::span(stream).subspan(first, context));
        sums[t] += cross_entropy_only(network.logits(), shape.vocab, std::span(stream).subspan(first + 1, context));
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(used);
}

std::vector<std::pair<int, double>> loss_by_position(const Shape& shape, const std::vector<float>& parameters,
                                                     const std::vector<Token>& stream, int window, int bucket) {
  const auto size = static_cast<std::size_t>(window);
  const auto windows = (stream.size() - 1) / size;
  Network<float> network(shape, window);
  std::vector<std::pair<int, double>> losses;
  for (int first = 0; first < window; first += bucket) losses.emplace_back(first, 0.0);
  for (std::size_t w = 0; w < windows; ++w) {
    network.forward(parameters.data(), std::span(stream).subspan(w * size, size));
    for (auto& [first, mean] : losses) {
      const auto targets =
          std::span(stream).subspan(w * size + static_cast<std::size_t>(first) + 1, static_cast<std::size_t>(bucket));
      const float* logits = network.logits() + static_cast<std::ptrdiff_t>(first) * shape.vocab;
      mean += cross_entropy_only(logits, shape.vocab, targets) / static_cast<double>(windows);
    }
  }
  return losses;
}

}  // namespace dmprof::train
