// A small synthetic model with everything needed to run it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "samples/engine/model/model.h"
#include "samples/engine/synth/synth.h"
#include "tests/unit/engine_core/temporary_folder.h"

namespace dmengine {

inline SynthShape small_shape() {
  SynthShape shape = *find_synth_shape("tiny");
  shape.vocab = 300;
  shape.layers = 3;
  return shape;
}

// The model in one file with its own weights, pool and cache; a failure to load is a failed test.
struct LoadedModel {
  explicit LoadedModel(const std::string& path, unsigned threads = 2, uint64_t block_bytes = 4096,
                       KvType kv = KvType::f16)
      : pool(threads) {
    auto file = GgufFile::open(path);
    if (!file) throw std::runtime_error(file.error().message);
    layout = ModelLayout::read(*file, block_bytes).value();
    weights = open_resident_weights(layout).value();
    model = std::make_unique<Model>(layout, *weights, pool);
    cache = std::make_unique<KvCache>(KvCache::create(layout->config, 4, 256, kv).value());
  }

  // Appends tokens to a slot; the logits of all of them.
  std::vector<float> append(uint32_t slot, std::vector<int32_t> tokens, ForwardStats* stats = nullptr) {
    Batch batch;
    batch.sequences.push_back({slot, cache->length(slot), tokens, LogitRows::all});
    return run(batch, stats);
  }
  std::vector<float> run(const Batch& batch, ForwardStats* stats = nullptr) {
    std::vector<float> logits(size_t{batch.logit_rows()} * layout->config.vocab);
    const auto status = model->forward(*cache, batch, logits, stats);
    EXPECT_TRUE(status) << status.error().message;
    return logits;
  }

  ThreadPool pool;
  std::shared_ptr<const ModelLayout> layout;
  std::unique_ptr<WeightSource> weights;
  std::unique_ptr<Model> model;
  std::unique_ptr<KvCache> cache;
};

inline std::vector<int32_t> some_tokens(size_t count, int32_t vocab = 300) {
  std::vector<int32_t> out;
  for (size_t i = 0; i < count; ++i) out.push_back(static_cast<int32_t>((i * 97 + 13) % static_cast<size_t>(vocab)));
  return out;
}

}  // namespace dmengine
