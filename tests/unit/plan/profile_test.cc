// Profiles of hardware and shapes of models as people write them: what is wrong is named with its line and key.
#include <gmock/gmock.h>

#include <string>

#include "analyzers/plan/hardware.h"
#include "analyzers/plan/shape.h"

namespace dmprof::plan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string profile =
    "name: one\nbasis: datasheet\nsource: its datasheet\nmemory: {capacity: 80GB, bandwidth: 3.35TB/s}\n"
    "compute: {fp16: 989.5TFLOP/s}\n";
const std::string shape =
    "name: one\nlayers: 2\nhidden: 64\nfeed_forward: 128\nattention: {kind: gqa, heads: 4, kv_heads: 2}\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

template <class T>
std::string refused(Result<T> (*read)(const Document&), const std::string& text) {
  const auto document = Document::parse(text, "p.yaml");
  if (!document) return document.error().message;
  const auto value = read(*document);
  EXPECT_FALSE(value) << text;
  return value ? "" : value.error().message;
}

TEST(Profile, figures_are_read_with_their_units) {
  const auto hardware = read_hardware(*Document::parse(profile + "tile: 64\n", "p.yaml"));
  ASSERT_TRUE(hardware) << hardware.error().message;
  EXPECT_EQ(hardware->memory_bytes, 80e9);
  EXPECT_EQ(hardware->bandwidth, 3.35e12);
  EXPECT_EQ(hardware->peak(Precision::fp16), 989.5e12);
  EXPECT_EQ(hardware->tile, 64u);
}

TEST(Profile, what_is_wrong_is_named_with_line_and_key) {
  EXPECT_THAT(refused(read_hardware, profile + "tiel: 64\n"),
              StartsWith("p.yaml:6: tiel: is not a known key (did you mean \"tile\"?)"));
  EXPECT_THAT(refused(read_hardware, with(profile, "bandwidth: 3.35TB/s", "bandwith: 3.35TB/s")),
              StartsWith("p.yaml:4: memory.bandwith: is not a known key (did you mean \"bandwidth\"?)"));
  EXPECT_THAT(refused(read_hardware, with(profile, "3.35TB/s", "3.35TB")), StartsWith("p.yaml:4: memory.bandwidth: "));
  EXPECT_THAT(refused(read_hardware, with(profile, "3.35TB/s", "0TB/s")), HasSubstr("must be above 0"));
  EXPECT_THAT(refused(read_hardware, with(profile, "989.5TFLOP/s", "0TFLOP/s")),
              StartsWith("p.yaml:5: compute.fp16: "));
  EXPECT_THAT(refused(read_hardware, with(profile, "fp16: 989.5TFLOP/s", "")), HasSubstr("holds no peak"));
  EXPECT_THAT(refused(read_hardware, with(profile, "989.5TFLOP/s", "1e40TFLOP/s")),
              StartsWith("p.yaml:5: compute.fp16: "));
  EXPECT_THAT(refused(read_hardware, with(profile, "basis: datasheet", "basis: rumour")), HasSubstr("not one of"));
  EXPECT_THAT(refused(read_hardware, profile + "tile: 5000\n"), HasSubstr("out of range"));
  EXPECT_THAT(refused(read_hardware, with(profile, "memory: {capacity: 80GB, bandwidth: 3.35TB/s}", "memory: 80GB")),
              StartsWith("p.yaml:4: memory: must be a mapping"));
}

TEST(ShapeFile, widths_are_read_and_a_head_is_its_share_of_hidden) {
  const auto model = read_shape(*Document::parse(shape, "p.yaml"));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->attention.head_size, 16u);
  EXPECT_EQ(model->attention.kv_heads, 2u);
  EXPECT_EQ(model->weight_bytes, 2);
  EXPECT_FALSE(model->tied);
}

TEST(ShapeFile, what_is_wrong_is_named_with_line_and_key) {
  EXPECT_THAT(refused(read_shape, shape + "layer: 3\n"), HasSubstr("did you mean \"layers\"?"));
  EXPECT_THAT(refused(read_shape, with(shape, "layers: 2", "layers: 0")), StartsWith("p.yaml:2: layers: "));
  EXPECT_THAT(refused(read_shape, with(shape, "kv_heads: 2", "kv_heads: 3")), HasSubstr("must divide heads"));
  EXPECT_THAT(refused(read_shape, with(shape, "hidden: 64", "hidden: 99999999999999999999")),
              HasSubstr("out of range"));
  EXPECT_THAT(refused(read_shape, shape + "weight_bytes: 0\n"), StartsWith("p.yaml:6: weight_bytes: "));
  EXPECT_THAT(refused(read_shape, shape + "kv_bytes: nan\n"), StartsWith("p.yaml:6: kv_bytes: "));
  EXPECT_THAT(refused(read_shape, with(shape, "kind: gqa", "kind: gqs")), HasSubstr("did you mean \"gqa\""));
}

TEST(ShapeFile, a_mixture_of_experts_is_refused_with_the_reason) {
  EXPECT_THAT(refused(read_shape, shape + "experts: {count: 8, active: 2, feed_forward: 64}\n"),
              HasSubstr("dense models"));
}

TEST(ShapeFile, more_heads_than_hidden_elements_is_no_division_by_zero) {
  const auto model =
      read_shape(*Document::parse(with(shape, "heads: 4, kv_heads: 2", "heads: 128, kv_heads: 2"), "p.yaml"));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->attention.head_size, 1u);
}

}  // namespace
}  // namespace dmprof::plan
