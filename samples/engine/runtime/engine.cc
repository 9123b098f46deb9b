#include "samples/engine/runtime/engine.h"

#include <algorithm>

#include "samples/engine/instrument/facts.h"

namespace dmengine {

dmprof::Result<std::unique_ptr<Engine>> Engine::load(const Settings& settings, Recorder& recorder) {
  std::unique_ptr<Engine> engine(new Engine(settings, recorder));
  recorder.enter(Stage::load);
  DMPROF_TRY(engine->open_models());
  DMPROF_TRY(engine->open_weights());
  register_knobs(settings);
  recorder.leave();
  return engine;
}

Status Engine::open_models() {
  auto target = ModelFile::open(settings_.model);
  if (!target) return tl::unexpected(target.error());
  target_ = std::move(*target);
  if (settings_.draft.empty() || !settings_.speculates()) return {};
  auto draft = ModelFile::open(settings_.draft);
  if (!draft) return tl::unexpected(draft.error());
  draft_ = std::move(*draft);
  return same_vocabulary(*target_, *draft_);
}

Status Engine::open_weights() {
  for (ModelFile* file : {target_.get(), draft_.get()}) {
    if (file == nullptr) continue;
    auto weights = open_resident_weights(file->layout);
    if (!weights) return tl::unexpected(weights.error());
    file->weights = std::move(*weights);
    file->model = std::make_unique<Model>(file->layout, *file->weights, pool_);
    if (settings_.kernel_events) file->model->set_observer(file == target_.get() ? &target_kernels_ : &draft_kernels_);
  }
  return {};
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

Status Engine::run(const std::vector<Request>& requests, Listener& listener, const volatile std::sig_atomic_t& stop, RunReport& report) {
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
  Session session(stepper, target_->tokenizer, settings_, recorder_);
  const Status status = session.run(requests, *prepared, listener, stop);
  report.requests = session.results();
  report.run_time = session.elapsed();
  report.target = stepper.stats();
  if (model_drafter_ != nullptr) report.draft = model_drafter_->stats();
  model_drafter_ = nullptr;
  return status;
}

}  // namespace dmengine
