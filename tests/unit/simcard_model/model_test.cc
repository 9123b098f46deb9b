#include "samples/simcard/model/model.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

#include "samples/simcard/config/embedded.h"

namespace dmprof::simcard {
namespace {

using testing::HasSubstr;

constexpr double gib = 1024.0 * 1024 * 1024;

Model open(const std::string& name) {
  const Result<Model> model = open_model(name);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return model.value_or(Model{});
}

TEST(Model, EveryKeptDescriptionIsReadable) {
  int models = 0;
  for (const EmbeddedDescription& entry : embedded_descriptions()) {
    if (entry.kind != "models") continue;
    EXPECT_EQ(open(std::string(entry.name)).name, entry.name);
    ++models;
  }
  EXPECT_GE(models, 9);
}

TEST(Model, ParametersMatchTheNames) {
  for (const auto& [name, billions] : std::vector<std::pair<const char*, double>>{{"dense-7b", 6.74},
                                                                                  {"dense-70b", 69},
                                                                                  {"dense-120b", 121.5},
                                                                                  {"dense-175b", 175},
                                                                                  {"dense-300b", 300},
                                                                                  {"dense-530b", 530},
                                                                                  {"dense-1t", 1000},
                                                                                  {"moe-400b", 403}}) {
    EXPECT_NEAR(parameters(open(name)) / 1e9 / billions, 1, 0.06) << name;
  }
}

TEST(Model, HeadOfThe120BModelIsOnePointThreeMillion) {
  EXPECT_DOUBLE_EQ(head_parameters(open("dense-120b")), 10240 * 128);  // FACTS.md A12: about 1.2 MB at one byte
}

TEST(Model, KvCacheOfTheCapacityExample) {  // FACTS.md B3: d = 4096, 48 layers, 100K tokens, FP16: 78.6 GB = 73.2 GiB
  Model m;
  m.layers = 48;
  m.hidden = 4096;
  m.heads = m.kv_heads = 32;
  m.head_size = 128;
  EXPECT_DOUBLE_EQ(kv_bytes_per_token(m) * 100'000, 78'643'200'000);
}

TEST(Model, KvCacheOfTheAttentionVariants) {  // FACTS.md B4, GiB at 128K and 1M tokens
  EXPECT_DOUBLE_EQ(kv_bytes_per_token(open("attention-mha")) * 131072 / gib, 48);
  EXPECT_DOUBLE_EQ(kv_bytes_per_token(open("attention-mha")) * 1048576 / gib, 384);
  EXPECT_DOUBLE_EQ(kv_bytes_per_token(open("attention-gqa")) * 131072 / gib, 12);
  EXPECT_DOUBLE_EQ(kv_bytes_per_token(open("attention-mla")) * 131072 / gib, 0.75);
  EXPECT_DOUBLE_EQ(kv_bytes_per_token(open("attention-mla")) * 1048576 / gib, 6);
}

TEST(Model, APassReadsWeightsOnceAndTheCacheOncePerSequence) {
  const Model m = open("dense-70b");
  const Pass one = pass(m, 1, 1, 1000), eight = pass(m, 8, 6, 1000);
  EXPECT_DOUBLE_EQ(one.weight_bytes, eight.weight_bytes);
  EXPECT_DOUBLE_EQ(eight.kv_bytes, 8 * one.kv_bytes);
  EXPECT_DOUBLE_EQ(eight.flops(), 48 * one.flops());
  EXPECT_DOUBLE_EQ(one.linear_flops, 2 * active_parameters(m));
}

TEST(Model, ManyTokensMeetEveryExpertOneMeetsItsOwn) {
  const Model m = open("moe-400b");
  EXPECT_DOUBLE_EQ(experts_met(m, 1), 2);
  EXPECT_NEAR(experts_met(m, 1e5), 64, 1e-9);
  EXPECT_LT(pass(m, 1, 1, 0).weight_bytes, 0.08 * parameters(m) * m.weight_bytes);
  EXPECT_LE(pass(m, 1e4, 1, 0).weight_bytes, parameters(m) * m.weight_bytes);
  EXPECT_EQ(experts_met(open("dense-7b"), 5), 0);
}

std::string refused(const std::string& text) {
  const std::string path = testing::TempDir() + "model_test.yaml";
  std::ofstream(path) << text;
  const Result<Model> model = open_model(path);
  std::remove(path.c_str());
  EXPECT_FALSE(model) << text;
  return model ? "" : model.error().message;
}

TEST(Model, ImpossibleDescriptionsNameFileLineAndKey) {
  const std::string good = "name: x\nlayers: 2\nhidden: 8\n";
  EXPECT_THAT(refused(good + "attention: {kind: mha, heads: 0}\nfeed_forward: 8\n"),
              HasSubstr(".yaml:4: attention.heads: 0 is out of range"));
  EXPECT_THAT(refused(good + "attention: {kind: gqa, heads: 4, kv_heads: 3}\nfeed_forward: 8\n"),
              HasSubstr("must divide heads"));
  EXPECT_THAT(refused(good + "attention: {kind: gpa, heads: 4}\nfeed_forward: 8\n"), HasSubstr("did you mean"));
  EXPECT_THAT(refused(good + "attention: {kind: mha, heads: 4}\n"), HasSubstr("feed_forward: is missing"));
  EXPECT_THAT(refused(good + "attention: {kind: mha, heads: 4, latent: 3}\nfeed_forward: 8\n"),
              HasSubstr("attention.latent: is not a known key"));
  EXPECT_THAT(refused(good + "attention: {kind: mha, heads: 4}\nexperts: {count: 2, active: 3, feed_forward: 4}\n"),
              HasSubstr("experts.active: is more than there are experts"));
}

TEST(Model, AnUnknownNameSuggestsTheNearest) {
  const Result<Model> model = open_model("dense-120");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("did you mean dense-120b?"));
}

}  // namespace
}  // namespace dmprof::simcard
