#include "samples/engine/gguf/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>

#include "samples/engine/gguf/writer.h"
#include "samples/engine/synth/synth.h"
#include "tests/unit/engine_core/gguf_bytes.h"
#include "tests/unit/engine_core/temporary_folder.h"

namespace dmengine {
namespace {

using testing::HasSubstr;

class Gguf : public testing::Test {
 protected:
  // Every refusal is one line that names the file.
  std::string refusal(const std::string& bytes) {
    const std::string path = folder_.write("model.gguf", bytes);
    const auto file = GgufFile::open(path);
    if (file) return "(accepted)";
    EXPECT_THAT(file.error().message, HasSubstr(path));
    EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(file.error().kind, ErrorKind::bad_input);
    return file.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(Gguf, reads_back_what_the_writer_wrote) {
  const std::string path = folder_.file("model.gguf");
  GgufWriter writer(path);
  writer.add("a.number", uint32_t{7});
  writer.add("a.real", 1.5F);
  writer.add("a.flag", true);
  writer.add("a.text", std::string_view("word"));
  const std::vector<std::string> words = {"x", "", "y z"};
  writer.add("a.words", std::span<const std::string>(words));
  const std::vector<float> reals = {0.5F, -2.0F};
  writer.add("a.reals", std::span<const float>(reals));
  const uint64_t dims[] = {3, 2};
  writer.declare("first", TensorType::f32, dims);
  writer.declare("second", TensorType::f16, dims);
  ASSERT_TRUE(writer.begin());
  const std::vector<std::byte> data(24 + 12, std::byte{9});
  ASSERT_TRUE(writer.write(data));
  ASSERT_TRUE(writer.finish());

  const auto file = GgufFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->unsigned_value("a.number"), 7U);
  EXPECT_EQ(file->real_value("a.real", 0), 1.5);
  EXPECT_EQ(file->bool_value("a.flag", false), true);
  EXPECT_EQ(file->string_value("a.text"), "word");
  EXPECT_EQ(**file->string_array("a.words"), words);
  EXPECT_EQ(**file->real_array("a.reals"), (std::vector<double>{0.5, -2.0}));
  ASSERT_EQ(file->tensors().size(), 2U);
  const TensorInfo* second = file->find_tensor("second");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->columns, 3U);
  EXPECT_EQ(second->rows, 2U);
  EXPECT_EQ(second->bytes, 12U);
  EXPECT_EQ(second->file_offset % 32, 0U);
  EXPECT_EQ(read_file(path).substr(second->file_offset, 12), std::string(12, '\x09'));
}

TEST_F(Gguf, leaves_no_file_behind_when_writing_is_given_up) {
  const std::string path = folder_.file("model.gguf");
  {
    GgufWriter writer(path);
    const uint64_t dims[] = {8};
    writer.declare("t", TensorType::f32, dims);
    ASSERT_TRUE(writer.begin());
    EXPECT_FALSE(writer.finish());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
}

TEST_F(Gguf, says_so_when_the_output_cannot_be_written) {
  GgufWriter writer(folder_.file("no/such/folder/model.gguf"));
  const auto status = writer.begin();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::environment);
  EXPECT_THAT(status.error().message, HasSubstr("choose another place"));
}

TEST_F(Gguf, reads_version_2) {
  const std::string path = folder_.write("v2.gguf", GgufBytes(0, 1, 2).key("k", u8).number<uint8_t>(3).bytes());
  const auto file = GgufFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->unsigned_value("k"), 3U);
}

TEST_F(Gguf, tells_a_missing_file_a_directory_and_an_empty_file_apart) {
  const auto missing = GgufFile::open(folder_.file("none"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::environment);
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
  const auto directory = GgufFile::open(folder_.file(""));
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message, HasSubstr("is a directory"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
}

TEST_F(Gguf, does_not_hang_on_a_pipe_nobody_writes_to) {
  const std::string path = folder_.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto file = GgufFile::open(path);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("not a regular file"));
}

TEST_F(Gguf, refuses_another_format_or_version) {
  EXPECT_THAT(refusal("GG"), HasSubstr("not a GGUF file"));
  EXPECT_THAT(refusal("\x7f"
                      "ELF............"),
              HasSubstr("not a GGUF file"));
  EXPECT_THAT(refusal(GgufBytes(0, 0, 1).bytes()), HasSubstr("version 1"));
  EXPECT_THAT(refusal(GgufBytes(0, 0, 0x03000000).bytes()), HasSubstr("version 50331648"));
}

TEST_F(Gguf, refuses_huge_counts_before_allocating_for_them) {
  constexpr uint64_t huge = 0xFFFFFFFFFFFFFFFF;
  EXPECT_THAT(refusal(GgufBytes(huge, 0).bytes()), HasSubstr("tensors"));
  EXPECT_THAT(refusal(GgufBytes(0, huge).bytes()), HasSubstr("metadata keys"));
  EXPECT_THAT(refusal(GgufBytes(0, 1).number(huge).bytes()), HasSubstr("a metadata key claims"));
  EXPECT_THAT(refusal(GgufBytes(0, 1).key("k", text).number(huge).bytes()), HasSubstr("a string claims"));
  EXPECT_THAT(refusal(GgufBytes(0, 1).key("k", array).number(u64).number(huge).bytes()),
              HasSubstr("more than the file can hold"));
  EXPECT_THAT(refusal(GgufBytes(0, 1).key("k", array).number(text).number(uint64_t{1} << 61).bytes()),
              HasSubstr("more than the file can hold"));
}

TEST_F(Gguf, refuses_unknown_types_and_impossible_truth_values) {
  EXPECT_THAT(refusal(GgufBytes(0, 1).key("k", 13).bytes()), HasSubstr("unknown type 13"));
  EXPECT_THAT(refusal(GgufBytes(0, 1).key("k", array).number(uint32_t{99}).number(uint64_t{1}).bytes()),
              HasSubstr("unknown type 99"));
  EXPECT_THAT(refusal(GgufBytes(0, 1).key("k", boolean).number<uint8_t>(2).bytes()), HasSubstr("truth value is 2"));
}

TEST_F(Gguf, skips_arrays_of_arrays_but_not_without_end) {
  GgufBytes nested(0, 1);
  nested.key("k", array).number(array).number(uint64_t{2});
  for (int i = 0; i < 2; ++i) nested.number(u8).number(uint64_t{1}).number<uint8_t>(5);
  EXPECT_EQ(refusal(nested.bytes()), "(accepted)");
  GgufBytes deep(0, 1);
  deep.key("k", array);
  for (int i = 0; i < 1000; ++i) deep.number(array).number(uint64_t{1});
  EXPECT_THAT(refusal(deep.bytes()), HasSubstr("nested too deep"));
}

TEST_F(Gguf, refuses_impossible_shapes) {
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {}, 0, 0).bytes()), HasSubstr("0 dimensions"));
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {1, 1, 1, 1, 1}, 0, 0).bytes()), HasSubstr("5 dimensions"));
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {4, 0}, 0, 0).bytes()), HasSubstr("impossible shape"));
  constexpr uint64_t half = uint64_t{1} << 32;
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {half, half}, 0, 0).bytes()), HasSubstr("impossible shape"));
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {33, 1}, 8, 0).bytes()), HasSubstr("multiple of 32"));
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {32, 1}, 12, 0).bytes()), HasSubstr("stored as type 12"));
}

TEST_F(Gguf, refuses_tensors_outside_the_file_or_out_of_alignment) {
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {8}, 0, 0).pad(8).bytes()), HasSubstr("outside the file"));
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {8}, 0, 0xFFFFFFFFFFFFFFE0).pad(256).bytes()),
              HasSubstr("outside the file"));
  EXPECT_THAT(refusal(GgufBytes(1, 0).tensor("t", {8}, 0, 4).pad(256).bytes()), HasSubstr("alignment"));
  EXPECT_EQ(refusal(GgufBytes(1, 0).tensor("t", {8}, 0, 0).pad(256).bytes()), "(accepted)");
  for (const uint32_t alignment : {0U, 3U, 1U << 20}) {
    EXPECT_THAT(refusal(GgufBytes(0, 1).key("general.alignment", u32).number(alignment).bytes()),
                HasSubstr("power of two"));
  }
}

TEST_F(Gguf, refuses_the_same_name_twice) {
  EXPECT_THAT(refusal(GgufBytes(0, 2).key("k", u8).number<uint8_t>(1).key("k", u8).number<uint8_t>(1).bytes()),
              HasSubstr("twice"));
  EXPECT_THAT(refusal(GgufBytes(2, 0).tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).pad(256).bytes()),
              HasSubstr("twice"));
}

TEST_F(Gguf, keeps_control_characters_of_names_out_of_messages) {
  const std::string message = refusal(GgufBytes(0, 1).key("evil\n\x1b[31m", 77).bytes());
  EXPECT_THAT(message, HasSubstr("evil??[31m"));
}

TEST_F(Gguf, refuses_every_truncation_of_a_real_model) {
  const std::string path = folder_.file("whole.gguf");
  SynthShape shape = *find_synth_shape("tiny");
  shape.vocab = 260;
  shape.layers = 1;
  ASSERT_TRUE(write_synthetic_model(path, shape, TensorType::q8_0, 1, 1));
  const std::string whole = read_file(path);
  for (size_t length = 0; length < whole.size(); length += length < 12000 ? 7 : 997) {
    ASSERT_NE(refusal(whole.substr(0, length)), "(accepted)") << "cut to " << length << " of " << whole.size();
  }
}

TEST_F(Gguf, survives_any_byte_being_changed) {
  const std::string path = folder_.file("whole.gguf");
  SynthShape shape = *find_synth_shape("tiny");
  shape.vocab = 260;
  shape.layers = 1;
  ASSERT_TRUE(write_synthetic_model(path, shape, TensorType::q8_0, 1, 1));
  const std::string whole = read_file(path);
  const auto opened = GgufFile::open(path);
  ASSERT_TRUE(opened);
  const size_t header = opened->tensors().front().file_offset;
  int refused = 0;
  for (size_t at = 0; at < header; at += 3) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0xFF);
    const auto file = GgufFile::open(folder_.write("changed.gguf", changed));
    if (file) continue;
    ++refused;
    EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Gguf, names_the_key_that_is_missing_or_of_another_type) {
  const std::string path =
      folder_.write("m.gguf", GgufBytes(0, 2).key("n", i32).number<int32_t>(-4).key("s", text).string("x").bytes());
  const auto file = GgufFile::open(path);
  ASSERT_TRUE(file);
  EXPECT_THAT(file->unsigned_value("n").error().message, HasSubstr("'n' is not a whole number >= 0"));
  EXPECT_THAT(file->unsigned_value("gone").error().message, HasSubstr("lacks the metadata key 'gone'"));
  EXPECT_THAT(file->string_value("n").error().message, HasSubstr("'n' is not a string"));
  EXPECT_THAT(file->string_array("s").error().message, HasSubstr("'s' is not an array of strings"));
  EXPECT_THAT(file->bool_value("s", false).error().message, HasSubstr("'s' is not true or false"));
  EXPECT_EQ(*file->string_array("gone"), nullptr);
}

}  // namespace
}  // namespace dmengine
