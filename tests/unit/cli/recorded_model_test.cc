// The shape of a model out of a recording's environment, which comes from a stranger's engine.
#include "dmprof/cli/recorded_model.h"

#include <gmock/gmock.h>

namespace dmprof::cli {
namespace {

using testing::HasSubstr;

Recording told() {
  Recording recording;
  recording.environment = {{"model.layers", "80"},      {"model.hidden", "8192"},      {"model.feed_forward", "28672"},
                           {"model.vocabulary", "100"}, {"model.weight_bytes", "1.5"}, {"model.kv_bytes", "2"},
                           {"model.attention", "gqa"},  {"model.heads", "64"},         {"model.kv_heads", "8"},
                           {"model.head_size", "128"}};
  return recording;
}

TEST(RecordedModel, is_as_the_engine_told_it) {
  const auto shape = recorded_model(told());
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->attention.attention, plan::Attention::gqa);
  EXPECT_EQ(shape->attention.layers, 80u);
  EXPECT_EQ(shape->attention.kv_heads, 8u);
  EXPECT_EQ(shape->weight_bytes, 1.5);
  EXPECT_EQ(shape->matrices, 3u);
}

TEST(RecordedModel, as_many_heads_of_keys_as_of_queries_are_mha) {
  Recording recording = told();
  recording.environment["model.kv_heads"] = "64";
  EXPECT_EQ(recorded_model(recording)->attention.attention, plan::Attention::mha);
}

TEST(RecordedModel, a_latent_needs_no_heads_of_keys) {
  Recording recording = told();
  recording.environment["model.attention"] = "mla";
  EXPECT_THAT(recorded_model(recording).error().message, HasSubstr("model.latent"));
  recording.environment["model.latent"] = "512";
  recording.environment.erase("model.kv_heads");
  const auto shape = recorded_model(recording);
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->attention.latent, 512u);
  EXPECT_EQ(shape->attention.rope, 0u);
}

TEST(RecordedModel, every_part_that_is_missing_is_named_with_what_to_do) {
  for (const char* key : {"layers", "hidden", "feed_forward", "weight_bytes", "kv_bytes", "heads", "head_size",
                          "kv_heads", "attention"}) {
    Recording recording = told();
    recording.environment.erase(std::string("model.") + key);
    const auto shape = recorded_model(recording);
    ASSERT_FALSE(shape) << key;
    EXPECT_EQ(shape.error().kind, ErrorKind::cannot_answer);
    EXPECT_THAT(shape.error().message, HasSubstr(std::string("(model.") + key + "); name one with --model"));
  }
}

TEST(RecordedModel, values_that_no_model_has_are_refused_whatever_they_are) {
  for (const char* key : {"layers", "hidden", "feed_forward", "weight_bytes", "kv_bytes", "heads", "head_size",
                          "kv_heads", "vocabulary", "matrices", "tied"}) {
    for (const char* value :
         {"-1", "nan", "inf", "1e300", "18446744073709551616", "0x10", "", "12 layers", "\x1b[31m"}) {
      Recording recording = told();
      recording.environment[std::string("model.") + key] = value;
      const auto shape = recorded_model(recording);
      ASSERT_FALSE(shape) << key << " = " << value;
      EXPECT_EQ(shape.error().kind, ErrorKind::bad_input) << key << " = " << value;
      EXPECT_THAT(shape.error().message, HasSubstr(std::string("model.") + key));
      EXPECT_EQ(shape.error().message.find('\x1b'), std::string::npos);
    }
  }
}

TEST(RecordedModel, an_attention_nobody_knows_is_refused) {
  Recording recording = told();
  recording.environment["model.attention"] = "linear";
  EXPECT_THAT(recorded_model(recording).error().message, HasSubstr("none of mha, gqa and mla"));
}

}  // namespace
}  // namespace dmprof::cli
