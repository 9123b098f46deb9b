// One kept recording a format: a later version reads every one of them.
#include <gtest/gtest.h>

#include <sqlite3.h>

#include <cstdlib>

#include "dmprof/store/annotations.h"
#include "dmprof/store/query.h"
#include "dmprof/store/statement.h"
#include "tests/unit/store/kept_contents.h"

namespace dmprof {
namespace {

std::string kept_path(int format) {
  const char* source = std::getenv("DMPROF_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/data/recordings/format_" + std::to_string(format) +
         ".dmprof";
}

class KeptRecording : public testing::TestWithParam<int> {
 protected:
  const int format = GetParam();
};

// Kinds that a format does not know yet are empty in its recordings.
template <class E>
bool is_in(int format) {
  return format >= 2 || Describe<E>::kind < Describe<AggregateSample>::kind;
}

TEST_P(KeptRecording, still_holds_every_event) {
  auto reader = Reader::open(kept_path(format));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->run().value().format_version, format);
  EXPECT_EQ(reader->run().value().reason, "kept");
  for_each_event_type([&]<class E>() {
    const auto expected = is_in<E>(format) ? test::kept<E>() : std::vector<E>();
    std::size_t i = 0;
    const Status read = reader->template for_each<E>({}, [&](const E& event) {
      ASSERT_LT(i, expected.size());
      EXPECT_TRUE(test::same(event, expected[i])) << Describe<E>::table << " " << i;
      ++i;
    });
    EXPECT_TRUE(read) << read.error().message;
    EXPECT_EQ(i, expected.size()) << Describe<E>::table;
  });
  EXPECT_EQ(reader->tracks().value().size(), 2U);
  EXPECT_EQ(reader->clocks().value().at(0).kind, ClockKind::virtual_time);
  EXPECT_EQ(reader->knobs().value().at(0).handle, "DM_LOOKAHEAD");
  EXPECT_EQ(reader->environment().value().at(0).value, "kept");
  EXPECT_EQ(reader->balance().value().at(0).emitted, 7U);
  EXPECT_EQ(reader->balance().value().at(0).lost, 3U);
  EXPECT_EQ(reader->capacities().value().at(1).name, "backing");
  EXPECT_EQ(reader->capacities().value().at(1).size_bytes, 1U << 20);
  EXPECT_EQ(reader->capacities().value().at(1).measured_bandwidth, 0) << "unknown";
}

TEST_P(KeptRecording, can_still_be_annotated) {
  const test::Folder folder;
  std::filesystem::copy_file(kept_path(format), folder.file("copy.dmprof"));
  std::filesystem::permissions(folder.file("copy.dmprof"), std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  auto notes = Annotations::open(folder.file("copy.dmprof"));
  ASSERT_TRUE(notes) << notes.error().message;
  const StoredMetric metric[] = {{"throughput", "v1", "{}"}};
  EXPECT_TRUE(notes->store_metrics(metric));
  EXPECT_EQ(test::read_everything(folder.file("copy.dmprof")), "");
  // Opened for writing it has the newest form: what nobody measured is NULL, what is known is kept.
  const auto database = open_for_query(folder.file("copy.dmprof"));
  ASSERT_TRUE(database) << database.error().message;
  EXPECT_EQ(
      store::query_integer(database->get(),
                           "SELECT count(*) FROM capacity WHERE measured_bandwidth IS NULL AND size_bytes = 1048576"),
      2);
}

INSTANTIATE_TEST_SUITE_P(Formats, KeptRecording, testing::Values(1, 2));

}  // namespace
}  // namespace dmprof
