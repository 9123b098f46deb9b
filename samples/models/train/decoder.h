// Token-by-token generation with a key/value cache, for measuring models. One sequence at a time, one thread.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "samples/models/train/gguf.h"
#include "samples/models/train/network.h"

namespace dmprof::train {

class Decoder {
 public:
  // The model must outlive the decoder.
  Decoder(const Model& model, int max_positions);

  void reset() { used_ = 0; }

  // Appends tokens (together with those before, at most max_positions) and returns the logits after the last one.
  std::span<const float> append(std::span<const Token> tokens);

 private:
  void attend(std::size_t layer, int rows);

  const Model& model_;
  Layout layout_;
  RopeTable<float> rope_;
  int used_ = 0;
  std::vector<std::vector<float>> keys_, values_;
  std::vector<float> stream_, normed_, rms_, qkv_, mixed_, gate_up_, activated_, logits_;
};

struct Generated {
  std::vector<Token> tokens;
  std::vector<double> probabilities;  // of each token at the temperature; 1 for greedy
};

// The probability of a token at a temperature above 0.
double probability(std::span<const float> logits, Token token, double temperature);

// Continues the prompt by `count` tokens: the most likely one at temperature 0 (ties: lowest id), else sampled.
Generated generate(Decoder& decoder, const std::vector<Token>& prompt, int count, double temperature,
                   std::mt19937_64& random);

}  // namespace dmprof::train
