// The reference engine, put together: models, draft, caches, scheduler and instrument for one run.
#pragma once

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "samples/engine/instrument/block_recorder.h"
#include "samples/engine/instrument/kernel_recorder.h"
#include "samples/engine/instrument/recorder.h"
#include "samples/engine/kernels/thread_pool.h"
#include "samples/engine/runtime/drafter.h"
#include "samples/engine/runtime/model_file.h"
#include "samples/engine/runtime/session.h"
#include "samples/engine/runtime/settings.h"
#include "samples/engine/streaming/streamer.h"

namespace dmengine {

// What a run leaves behind besides events.
struct RunReport {
  std::vector<RequestResult> requests;  // in the caller's order
  std::int64_t run_time = 0;            // nanoseconds, from the start to the end of the last request
  ForwardStats target;
  ForwardStats draft;
  std::string backing = "memory";         // where weights come from, for people
  std::int64_t path_prediction_time = 0;  // nanoseconds, on both threads
  std::int64_t prefetch_scheduling_time = 0;
};

// Used by one thread, which becomes the engine thread of the recording.
class Engine {
 public:
  // Opens the models and tells the SDK what can be turned and how large things are. Both arguments must outlive the
  // engine.
  static dmprof::Result<std::unique_ptr<Engine>> load(const Settings& settings, Recorder& recorder);

  // One run over all requests (see Session), after which the streamed weights are closed: prefetches that nobody waits
  // for are cancelled, so that recorder.counts() is final. The report is filled as far as the run came, also when it
  // fails. Called once.
  Status run(const std::vector<Request>& requests, Listener& listener, const volatile std::sig_atomic_t& stop,
             RunReport& report);

 private:
  Engine(const Settings& settings, Recorder& recorder, std::unique_ptr<ThreadPool> pool);

  Status open_models();
  Status open_resident();
  Status open_streamed();
  void make_model(ModelFile& file, WeightSource& weights);
  Status close(RunReport& report);
  dmprof::Result<KvCache> make_cache(const ModelFile& file, std::uint32_t positions) const;
  dmprof::Result<std::unique_ptr<Drafter>> make_drafter(std::uint32_t positions);

  const Settings& settings_;
  Recorder& recorder_;
  std::unique_ptr<ThreadPool> pool_;
  KernelRecorder target_kernels_;
  KernelRecorder draft_kernels_;
  std::unique_ptr<SdkStreamClock> clock_;  // these three only when weights are streamed
  std::unique_ptr<BlockRecorder> block_recorder_;
  std::unique_ptr<BlockStreamer> streamer_;
  std::unique_ptr<ModelFile> target_;  // after the streamer: models go first
  std::unique_ptr<ModelFile> draft_;   // null without a draft model
  ModelDrafter* model_drafter_ = nullptr;
};

}  // namespace dmengine
