#include "dmprof/base/description/section.h"

#include <gmock/gmock.h>

#include "dmprof/base/description/document.h"

namespace dmprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Section root(const char* text) {
  auto document = Document::parse(text, "t.yaml");
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  return document->root();
}

std::string refused(const std::string& text) {
  const auto document = Document::parse(text, "t.yaml");
  EXPECT_FALSE(document);
  return document ? "" : document.error().message;
}

TEST(Section, ReadsEveryTypeAndDefaults) {
  Section s = root("name: c8\ncards: 8\non: true\nl2: {bandwidth: 3TB/s}\nkind: b\nlist: [1ms, 2ms]\n");
  std::string name;
  std::int64_t cards = 0, missing = 0;
  bool on = false;
  double bandwidth = 0;
  s.text("name", name);
  s.integer("cards", cards, 1, 1024);
  s.integer("engines", missing, 1, 16, 4);
  s.flag("on", on);
  EXPECT_EQ(s.choice("kind", {"a", "b"}), 1u);
  EXPECT_THAT(s.quantities("list", Quantity::duration), ElementsAre(1e-3, 2e-3));
  Section l2 = s.section("l2");
  l2.quantity("bandwidth", Quantity::bandwidth, bandwidth);
  ASSERT_TRUE(l2.finish());
  ASSERT_TRUE(s.finish());
  EXPECT_EQ(name, "c8");
  EXPECT_EQ(cards, 8);
  EXPECT_EQ(missing, 4);
  EXPECT_TRUE(on);
  EXPECT_DOUBLE_EQ(bandwidth, 3e12);
}

TEST(Section, WrongUnitNamesFileLineAndKey) {
  Section s = root("name: x\nl2:\n  bandwidth: 3TB\n");
  std::string name;
  double bandwidth = 0;
  s.text("name", name);
  Section l2 = s.section("l2");
  l2.quantity("bandwidth", Quantity::bandwidth, bandwidth);
  const Status status = s.finish();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, StartsWith("t.yaml:3: l2.bandwidth: \"3TB\" is a size, not a bandwidth"));
}

TEST(Section, UnknownKeyIsRefusedWithTheNearestKnownOne) {
  Section s = root("engines: 4\nbandwith: 3TB/s\n");
  std::int64_t engines = 0;
  double bandwidth = 0;
  s.integer("engines", engines, 1, 16);
  s.quantity("bandwidth", Quantity::bandwidth, bandwidth, 1.0);
  const Status status = s.finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "t.yaml:2: bandwith: is not a known key (did you mean \"bandwidth\"?)");
}

TEST(Section, MissingOutOfRangeAndMistypedValuesSayHowToMend) {
  for (const auto& [text, expected] : std::vector<std::pair<const char*, const char*>>{
           {"a: 1", "t.yaml:1: engines: is missing; add it"},
           {"a: 1\nengins: 4", "t.yaml:2: engins: is not a known key (did you mean \"engines\"?)"},
           {"engines: 0", "t.yaml:1: engines: 0 is out of range; write a number between 1 and 16"},
           {"engines: four", "t.yaml:1: engines: \"four\" is not a whole number"},
           {"engines: 99999999999999999999", "t.yaml:1: engines: 99999999999999999999 is out of range"},
           {"engines: 4.5", "\"4.5\" is not a whole number"},
           {"engines: [4]", "t.yaml:1: engines: must be a single value"},
           {"engines:", "t.yaml:1: engines: has no value"}}) {
    Section s = root(text);
    std::int64_t engines = 0;
    s.integer("engines", engines, 1, 16);
    const Status status = s.finish();
    ASSERT_FALSE(status) << text;
    EXPECT_THAT(status.error().message, HasSubstr(expected));
  }
}

TEST(Section, FirstErrorOfASubsectionIsKeptByItsParent) {
  Section s = root("a: {x: 1, y: oops}\nb: 3TB\n");
  double x = 0, y = 0, b = 0;
  Section a = s.section("a");
  a.quantity("x", Quantity::number, x);
  a.quantity("y", Quantity::number, y);
  s.quantity("b", Quantity::bandwidth, b);
  EXPECT_THAT(s.finish().error().message, StartsWith("t.yaml:1: a.y:"));
}

TEST(Section, ListsOfMappingsCarryTheirIndex) {
  Section s = root("links:\n  - {name: a}\n  - {nam: b}\n");
  std::string name;
  Status last;
  for (Section& link : s.sections("links")) {
    link.text("name", name);
    last = link.finish();
  }
  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().message, StartsWith("t.yaml:3: links[1].nam: is not a known key (did you mean \"name\"?)"));
}

TEST(Document, BrokenYamlNamesTheLine) {
  EXPECT_THAT(refused("a: 1\nb: [1, 2\n"), StartsWith("t.yaml:"));
  EXPECT_THAT(refused("a: 1\na: 2\n"), StartsWith("t.yaml:2: a: stands here twice"));
  EXPECT_THAT(refused("- 1\n- 2\n"), HasSubstr("`key: value`"));
  EXPECT_THAT(refused(""), HasSubstr("`key: value`"));
  EXPECT_THAT(refused("a: 1\n---\nb: 2\n"), HasSubstr("documents"));
  EXPECT_THAT(refused("? {a: 1}\n: 2\n"), HasSubstr("key must be a word"));
}

TEST(Document, HostileFilesAreRefusedNotFollowed) {
  EXPECT_THAT(refused(std::string(2 << 20, 'a')), HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(refused("a: " + std::string(40, '[') + std::string(40, ']')), HasSubstr("nested deeper"));
  refused("a: " + std::string(100000, '['));
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j ? ",*a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(refused(bomb), HasSubstr("more than 100000 values"));
}

TEST(Document, MissingFileSaysSo) {
  const auto document = Document::load("/nonexistent/x.yaml");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().kind, ErrorKind::environment);
}

}  // namespace
}  // namespace dmprof
