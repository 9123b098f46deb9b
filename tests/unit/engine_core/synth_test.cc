#include "samples/engine/synth/synth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "samples/engine/model/weights.h"
#include "samples/engine/synth/weights.h"
#include "samples/engine/tokenizer/tokenizer.h"
#include "tests/unit/engine_core/temporary_folder.h"

namespace dmengine {
namespace {

int synth(const std::vector<std::string>& args) { return synth_main(args); }

TEST(Synth, same_arguments_give_the_same_bytes_and_another_seed_others) {
  const TemporaryFolder folder;
  ASSERT_EQ(0, synth({"--shape", "tiny", "--type", "f16", "-o", folder.file("a")}));
  ASSERT_EQ(0, synth({"--shape", "tiny", "--type", "f16", "--seed", "1", "-o", folder.file("b")}));
  ASSERT_EQ(0, synth({"--shape", "tiny", "--type", "f16", "--seed", "2", "-o", folder.file("c")}));
  EXPECT_EQ(read_file(folder.file("a")), read_file(folder.file("b")));
  EXPECT_NE(read_file(folder.file("a")), read_file(folder.file("c")));
}

TEST(Synth, the_draft_is_the_first_two_layers_of_the_target) {
  const TemporaryFolder folder;
  ASSERT_EQ(0, synth({"--shape", "tiny", "-o", folder.file("target"), "--draft-out", folder.file("draft")}));
  const auto target = GgufFile::open(folder.file("target")), draft = GgufFile::open(folder.file("draft"));
  ASSERT_TRUE(target && draft);
  EXPECT_EQ(target->unsigned_value("llama.block_count"), 4U);
  EXPECT_EQ(draft->unsigned_value("llama.block_count"), 2U);
  const std::string target_bytes = read_file(folder.file("target")), draft_bytes = read_file(folder.file("draft"));
  for (const TensorInfo& tensor : draft->tensors()) {
    const TensorInfo* whole = target->find_tensor(tensor.name);
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(draft_bytes.substr(tensor.file_offset, tensor.bytes),
              target_bytes.substr(whole->file_offset, whole->bytes))
        << tensor.name;
  }
}

TEST(Synth, later_layers_of_a_damped_shape_add_little) {
  const TemporaryFolder folder;
  SynthShape shape = *find_synth_shape("tiny");
  shape.damping = find_synth_shape("m400s")->damping;
  EXPECT_EQ(shape.damping, 0.05F);
  ASSERT_TRUE(write_synthetic_model(folder.file("m"), shape, TensorType::f32, 1, 4));
  const auto file = GgufFile::open(folder.file("m"));
  ASSERT_TRUE(file);
  const std::string bytes = read_file(folder.file("m"));
  const auto deviation = [&](const std::string& name) {
    const TensorInfo* tensor = file->find_tensor(name);
    double sum = 0;
    for (uint64_t i = 0; i < tensor->rows * tensor->columns; ++i) {
      float value = 0;
      std::memcpy(&value, bytes.data() + tensor->file_offset + 4 * i, 4);
      sum += static_cast<double>(value) * static_cast<double>(value);
    }
    return std::sqrt(sum / static_cast<double>(tensor->rows * tensor->columns));
  };
  EXPECT_NEAR(deviation("blk.1.attn_output.weight"), 0.125, 0.005);
  EXPECT_NEAR(deviation("blk.2.attn_output.weight"), 0.125 * 0.05, 0.005 * 0.05);
  EXPECT_NEAR(deviation("blk.3.ffn_down.weight"), 0.05 / std::sqrt(160.0), 0.0002);
  EXPECT_NEAR(deviation("blk.3.ffn_up.weight"), 0.125, 0.005);
}

TEST(Synth, text_goes_through_its_tokenizer_and_back) {
  const TemporaryFolder folder;
  ASSERT_EQ(0, synth({"--shape", "tiny", "-o", folder.file("m")}));
  const auto file = GgufFile::open(folder.file("m"));
  ASSERT_TRUE(file);
  const auto tokenizer = Tokenizer::from_gguf(*file);
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(tokenizer->vocab_size(), 512U);
  const std::string text = "Plain text, \xC3\xA4 and \xE4\xB8\xAD.";
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, true)), text);
}

TEST(Synth, refuses_what_it_does_not_know) {
  const TemporaryFolder folder;
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  EXPECT_EQ(2, synth({"--shape", "m401", "-o", folder.file("m")}));
  EXPECT_EQ(2, synth({"--shape", "tiny", "--type", "q4_0", "-o", folder.file("m")}));
  EXPECT_EQ(2, synth({"--shape", "tiny"}));
  EXPECT_EQ(2, synth({"--shape", "tiny", "-o", folder.file("m"), "--typo"}));
  EXPECT_EQ(6, synth({"--shape", "tiny", "-o", folder.file("no/such/folder")}));
  testing::internal::GetCapturedStdout();
  const std::string errors = testing::internal::GetCapturedStderr();
  EXPECT_NE(errors.find("--shape 'm401' is unknown; use one of tiny, m110, m400, m400s"), std::string::npos) << errors;
  EXPECT_NE(errors.find("--type 'q4_0' is unknown; use f32, f16 or q8_0"), std::string::npos) << errors;
}

}  // namespace
}  // namespace dmengine
