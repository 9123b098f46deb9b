#include "samples/engine/runtime/engine.h"

#include <algorithm>

#include "samples/engine/instrument/facts.h"

namespace dmengine {

Engine::Engine(const Settings& settings, Recorder& recorder, std::unique_ptr<ThreadPool> pool)
    : settings_(settings),
      recorder_(recorder),
      pool_(std::move(pool)),
      target_kernels_(recorder, ""),
      draft_kernels_(recorder, "draft.") {}

dmprof::Result<std::unique_ptr<Engine>> Engine::load(const Settings& settings, Recorder& recorder) {
  auto pool = ThreadPool::make(settings.threads);
  if (!pool) return tl::unexpected(pool.error());
  std::unique_ptr<Engine> engine(new Engine(settings, recorder, std::move(*pool)));
  recorder.enter(Stage::load);
  DMPROF_TRY(engine->open_models());
  recorder.calibrate();
  register_knobs(settings);
  register_model(*engine->target_->layout, settings);
  register_machine(settings);
  DMPROF_TRY(settings.resident > 0 ? engine->open_streamed() : engine->open_resident());
  recorder.leave();
  return engine;
}

Status Engine::open_models() {
  auto target = ModelFile::open(settings_.model);
  if (!target) return tl::unexpected(target.error());
  target_ = std::move(*target);
  if (settings_.draft.empty() || !settings_.speculates()) return {};
  // Whoever did not type the draft needs to hear where it came from.
  const auto named = [this](dmprof::Error error) {
    if (!settings_.draft_variable.empty()) error.message = settings_.draft_variable + ": " + error.message;
    return tl::unexpected(std::move(error));
  };
  auto draft = ModelFile::open(settings_.draft);
  if (!draft) return named(draft.error());
  draft_ = std::move(*draft);
  const Status shared = same_vocabulary(*target_, *draft_);
  if (!shared) return named(shared.error());
  return {};
}

Status Engine::open_resident() {
  for (ModelFile* file : {target_.get(), draft_.get()}) {
    if (file == nullptr) continue;
    auto weights = open_resident_weights(file->layout);
    if (!weights) return tl::unexpected(weights.error());
    file->resident = std::move(*weights);
    make_model(*file, *file->resident);
  }
  return {};
}

// One streamer for both models: one budget, one link, one matrix.
Status Engine::open_streamed() {
  StreamingOptions options;
  options.resident_bytes = settings_.resident;
  options.policy =
      dmprof::cachemodel::policy_from(settings_.cache_policy).value_or(dmprof::cachemodel::PolicyKind::prediction);
  options.prefetch_distance = settings_.prefetch_distance;
  options.load_transitions = settings_.load_transitions;
  auto backing = parse_backing(settings_.backing);
  if (!backing) return tl::unexpected(backing.error());
  options.backing = *backing;
  std::vector<std::shared_ptr<const ModelLayout>> layouts{target_->layout};
  if (draft_ != nullptr) layouts.push_back(draft_->layout);
  std::uint64_t bytes = 0;
  for (const auto& layout : layouts) bytes += layout->parameter_bytes();

  clock_ = std::make_unique<SdkStreamClock>(recorder_);
  block_recorder_ = std::make_unique<BlockRecorder>(recorder_, *clock_);
  const double bandwidth = backing->throttled ? backing->throttle.bytes_per_second : 0;
  block_recorder_->set_tiers(register_stream_tiers(settings_.resident, bytes, bandwidth));
  auto streamer = BlockStreamer::open(std::move(layouts), options, block_recorder_.get(), *clock_);
  if (!streamer) return tl::unexpected(streamer.error());
  streamer_ = std::move(*streamer);
  make_model(*target_, streamer_->weights(0));
  if (draft_ != nullptr) make_model(*draft_, streamer_->weights(1));
  return {};
}

void Engine::make_model(ModelFile& file, WeightSource& weights) {
  file.model = std::make_unique<Model>(file.layout, weights, *pool_);
  if (settings_.kernel_events) file.model->set_observer(&file == target_.get() ? &target_kernels_ : &draft_kernels_);
}

dmprof::Result<KvCache> Engine::make_cache(const ModelFile& file, std::uint32_t positions) const {
  return KvCache::create(file.layout->config, settings_.batch, positions, settings_.kv_f32 ? KvType::f32 : KvType::f16);
}

dmprof::Result<std::unique_ptr<Drafter>> Engine::make_drafter(std::uint32_t positions) {
  const auto end_of_text = target_->tokenizer.eos();
  if (!settings_.speculates()) return std::unique_ptr<Drafter>();
  if (draft_ == nullptr) return std::unique_ptr<Drafter>(std::make_unique<NgramDrafter>(settings_.batch, end_of_text));
  auto cache = make_cache(*draft_, positions);
  if (!cache) return tl::unexpected(cache.error());
  auto drafter = std::make_unique<ModelDrafter>(*draft_->model, std::move(*cache), settings_.sampling, end_of_text);
  model_drafter_ = drafter.get();
  return std::unique_ptr<Drafter>(std::move(drafter));
}

Status Engine::run(const std::vector<Request>& requests, Listener& listener, const volatile std::sig_atomic_t& stop,
                   RunReport& report) {
  const std::uint32_t context = settings_.context > 0 ? settings_.context : target_->layout->config.context;
  auto prepared = prepare(requests, target_->tokenizer, context, settings_);
  if (!prepared) return tl::unexpected(prepared.error());
  std::uint32_t positions = 1;  // a slot holds the longest sequence of the run
  for (const PreparedRequest& p : *prepared) positions = std::max(positions, p.limit);
  auto cache = make_cache(*target_, positions);
  if (!cache) return tl::unexpected(cache.error());
  auto drafter = make_drafter(positions);
  if (!drafter) return tl::unexpected(drafter.error());

  Stepper stepper(*target_->model, std::move(*cache), drafter->get(), settings_, target_->tokenizer.eos(), recorder_);
  Session session(stepper, target_->tokenizer, settings_, recorder_, streamer_.get());
  const Status status = session.run(requests, *prepared, listener, stop);
  report.requests = session.results();
  report.run_time = session.elapsed();
  report.target = stepper.stats();
  if (model_drafter_ != nullptr) report.draft = model_drafter_->stats();
  const Status closed = close(report);
  return status ? closed : status;
}

Status Engine::close(RunReport& report) {
  if (streamer_ == nullptr) return {};
  Status saved;
  if (!settings_.save_transitions.empty()) saved = streamer_->save_transitions(settings_.save_transitions);
  report.backing = streamer_->describe_backing();
  target_->model.reset();
  if (draft_ != nullptr) draft_->model.reset();
  streamer_.reset();
  recorder_.counts().blocks = block_recorder_->counts();
  report.path_prediction_time = block_recorder_->path_prediction_time();
  report.prefetch_scheduling_time = block_recorder_->prefetch_scheduling_time();
  return saved;
}

}  // namespace dmengine
