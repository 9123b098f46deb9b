// AdamW with warm-up and cosine decay, over slices of the flat parameter array so that threads can share the work.
#pragma once

#include <cstddef>
#include <vector>

#include "samples/models/train/shape.h"

namespace dmprof::train {

struct Schedule {
  float peak = 3e-3f;
  int warmup = 200;
  int steps = 1000;
  // Share of the decay that is behind at a step: 0 until the warm-up ends, 1 at the last step. Steps count from 0.
  double progress(int step) const;
  // Linear to the peak during warm-up, then a cosine over the progress down to 5 % of it.
  float rate(int step, double progress) const;
};

class AdamW {
 public:
  explicit AdamW(const Layout& layout);

  // Updates parameters [begin, end) with gradients * gradient_scale; `step` counts from 0.
  void update(std::size_t begin, std::size_t end, int step, float rate, float gradient_scale, const float* gradients,
              float* parameters);

  std::vector<float> mean, square;

 private:
  std::vector<float> decay_;
};

}  // namespace dmprof::train
