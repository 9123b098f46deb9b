#include "samples/simcard/node/hardware.h"

#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

namespace dmprof::simcard {
namespace {

using testing::HasSubstr;

std::string refused(const std::string& text) {
  const std::string path = testing::TempDir() + "hardware_test.yaml";
  std::ofstream(path) << text;
  const Result<Hardware> hardware = open_hardware(path);
  std::remove(path.c_str());
  EXPECT_FALSE(hardware) << text;
  return hardware ? "" : hardware.error().message;
}

const std::string card =
    "card:\n  memory: {capacity: 80GB, bandwidth: 3TB/s, achieved: 0.8}\n  compute: {peak: 100TFLOP/s, achieved: "
    "0.5}\n";
const std::string link = "link: {bandwidth: 400Gb/s}\n";

TEST(Hardware, PresetsCarryTheStatedFigures) {
  const Result<Hardware> node = open_hardware("c8-node");
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->cards, 8);
  EXPECT_EQ(node->engines, 4);
  EXPECT_DOUBLE_EQ(node->memory_capacity, 128e9);
  EXPECT_DOUBLE_EQ(node->memory_bandwidth, 3e12);
  EXPECT_DOUBLE_EQ(node->link.bandwidth, 50e9);
  EXPECT_LT(node->link.latency, 2e-6);
  const Result<Hardware> gpu = open_hardware("h100-node");
  ASSERT_TRUE(gpu) << gpu.error().message;
  EXPECT_NEAR(gpu->ridge_point(), 295, 1);  // FLOP/B of the datasheet
}

TEST(Hardware, APresetWithABaseStatesOnlyWhatDiffers) {
  const Result<Hardware> base = open_hardware("c8-node"), next = open_hardware("c8-node-next");
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->name, "c8-node-next");
  EXPECT_DOUBLE_EQ(next->memory_bandwidth, base->memory_bandwidth);
  EXPECT_DOUBLE_EQ(next->residuals.host, base->residuals.host);
  EXPECT_DOUBLE_EQ(next->link.bandwidth, 5 * base->link.bandwidth);
  EXPECT_TRUE(next->compute_in_memory);
  EXPECT_EQ(next->coarse.lookahead, 3);
}

TEST(Hardware, EveryKeptPresetOfANodeIsReadable) {
  for (const char* name : {"c8-node", "h100-node", "optical", "c8-node-cxl", "c8-node-optical", "c8-node-two-level",
                           "c8-node-in-memory", "c8-node-next", "prefill-node", "decode-node"})
    EXPECT_TRUE(open_hardware(name)) << name;
}

TEST(Hardware, ACircleOfBasesIsRefused) {
  EXPECT_THAT(refused("name: x\nbase: " + testing::TempDir() + "hardware_test.yaml\n"), HasSubstr("break the circle"));
}

TEST(Hardware, ImpossibleNodesNameFileLineAndKey) {
  EXPECT_THAT(refused("name: x\ncards: 0\n" + card + link),
              HasSubstr(".yaml:2: cards: 0 is out of range; write a number between 1 and 1024"));
  EXPECT_THAT(refused("name: x\ncards: 2000\n" + card + link), HasSubstr("cards: 2000 is out of range"));
  EXPECT_THAT(refused("name: x\ncards: 8\nspeculation: {engines: 0, draft_token: 1ms}\n" + card + link),
              HasSubstr(".yaml:3: speculation.engines: 0 is out of range"));
  EXPECT_THAT(refused("name: x\ncards: 8\n" + card + "link: {bandwidth: 3TB}\n"),
              HasSubstr(".yaml:6: link.bandwidth: \"3TB\" is a size, not a bandwidth"));
  EXPECT_THAT(refused("name: x\ncards: 8\n" + card + "link: {bandwidth: 0}\n"),
              HasSubstr("link.bandwidth: must be above 0"));
  EXPECT_THAT(refused("name: x\ncards: 8\n" + card + "link: {bandwith: 1GB/s}\n"),
              HasSubstr("link.bandwith: is not a known key (did you mean \"bandwidth\"?)"));
  EXPECT_THAT(refused("name: x\ncards: 8\n" + card), HasSubstr("link: is missing"));
}

}  // namespace
}  // namespace dmprof::simcard
