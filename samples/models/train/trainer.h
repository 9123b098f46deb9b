// The training loop: one window a thread, gradients summed, one AdamW step; checkpoints that a later run goes on from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/models/train/network.h"
#include "samples/models/train/optimizer.h"
#include "samples/models/train/teacher.h"

namespace dmprof::train {

struct TrainOptions {
  Schedule schedule;
  int threads = 2;
  int windows_per_step = 2;  // a multiple of threads
  double minutes = 0;        // above 0: the decay follows the clock and ends then, whatever the number of steps
  unsigned seed = 1;
  std::string checkpoint;     // empty: none is kept
  int checkpoint_every = 25;  // steps
  int report_every = 50;      // steps
};

struct Progress {
  int step = 0;
  double loss = 0;               // nats a token, mean since the last report
  double tokens_per_second = 0;  // since this process began training
};

// Trains in place and returns when the schedule ends. With a teacher the loss is distillation over the teacher's own
// windows, else next-token cross entropy over windows at a random offset each epoch. Goes on from options.checkpoint
// when it exists.
Status train(const Shape& shape, const std::vector<Token>& stream, const Teacher* teacher, const TrainOptions& options,
             std::vector<float>& parameters, const std::function<void(const Progress&)>& report);

}  // namespace dmprof::train
