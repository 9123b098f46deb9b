// A small recording is written with the store, exported, and the result is read back with a decoder that shares no code
// with the encoder.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dmprof/export/chrome.h"
#include "dmprof/export/csv.h"
#include "dmprof/export/perfetto.h"
#include "dmprof/store/writer.h"

namespace dmprof::exporting {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// One decoded protocol-buffer message: varints, and bytes of nested messages or text, by field number.
struct Message {
  std::map<std::uint32_t, std::vector<std::uint64_t>> numbers;
  std::map<std::uint32_t, std::vector<std::string>> texts;
  bool ok = true;

  static Message parse(const std::string& bytes) {
    Message message;
    std::size_t at = 0;
    const auto varint = [&] {
      std::uint64_t value = 0;
      for (int shift = 0; shift < 64; shift += 7) {
        if (at >= bytes.size()) {
          message.ok = false;
          return value;
        }
        const auto byte = static_cast<unsigned char>(bytes[at++]);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if ((byte & 0x80) == 0) break;
      }
      return value;
    };
    while (message.ok && at < bytes.size()) {
      const std::uint64_t key = varint();
      const auto field = static_cast<std::uint32_t>(key >> 3);
      if ((key & 7) == 0) {
        message.numbers[field].push_back(varint());
      } else if ((key & 7) == 1 && at + 8 <= bytes.size()) {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[at++])} << (8 * i);
        message.numbers[field].push_back(value);
      } else if ((key & 7) == 2) {
        const std::uint64_t length = varint();
        message.ok = message.ok && length <= bytes.size() - at;
        if (!message.ok) break;
        message.texts[field].push_back(bytes.substr(at, length));
        at += length;
      } else {
        message.ok = false;
      }
    }
    return message;
  }

  std::uint64_t number(std::uint32_t field) const { return numbers.contains(field) ? numbers.at(field).front() : 0; }
  bool has(std::uint32_t field) const { return numbers.contains(field) || texts.contains(field); }
  Message inner(std::uint32_t field) const {
    return texts.contains(field) ? parse(texts.at(field).front()) : Message{};
  }
  std::string text(std::uint32_t field) const { return texts.contains(field) ? texts.at(field).front() : ""; }
};

class Export : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "export-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    record();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void record() {
    auto writer = Writer::create(recording());
    ASSERT_TRUE(writer) << writer.error().message;
    Writer& sink = **writer;
    const auto process = sink.add_process({42, 1, "engine \xff", "engine --model m"}).value();
    const auto clock = sink.add_clock({"host", ClockKind::monotonic, "test"}).value();
    const auto track = sink.add_track({process, 43, clock, "main"}).value();
    const auto tier = sink.add_capacity({.process = process, .name = "dram", .kind = "tier"}).value();
    const NameId outer = sink.intern("outer \"quoted\"\n"), inner = sink.intern("inner"), depth = sink.intern("depth");
    std::vector<Event> events;
    events.push_back(Slice{.track = track, .start = 1000, .duration = 500, .name = inner, .depth = 1, .step = 1});
    events.push_back(Slice{.track = track, .start = 1000, .duration = 1000, .name = outer, .step = 1});
    events.push_back(Slice{.track = track, .start = 2000, .duration = 0, .name = inner});
    events.push_back(Transfer{.track = track, .start = 1000, .duration = 900, .from = tier, .to = tier, .bytes = 10});
    events.push_back(Transfer{.track = track, .start = 1500, .duration = 900, .from = tier, .to = tier, .bytes = 20});
    events.push_back(Instant{.track = track, .time = 1234, .name = inner, .argument = 5});
    events.push_back(Counter{.track = track, .time = 1100, .name = depth, .value = 2.5});
    events.push_back(BlockAccess{.track = track,
                                 .time = 1300,
                                 .block = 9,
                                 .tier = tier,
                                 .outcome = AccessOutcome::miss,
                                 .bytes = 64,
                                 .wait = 77});
    ASSERT_TRUE(sink.accept(events));
    ASSERT_TRUE(sink.finish());
  }

  std::string recording() const { return (folder_ / "small.dmprof").string(); }

  template <class Write>
  std::string exported(const Write& write) {
    auto reader = Reader::open(recording());
    EXPECT_TRUE(reader);
    const std::string path = (folder_ / "out").string();
    auto output = Output::open(path);
    EXPECT_TRUE(output);
    const Status written = write(*reader, **output);
    EXPECT_TRUE(written) << written.error().message;
    EXPECT_TRUE((*output)->close());
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

TEST_F(Export, perfetto_slices_open_and_close_in_pairs_and_nest_on_their_track) {
  const Message trace =
      Message::parse(exported([](const Reader& reader, Output& output) { return write_perfetto(reader, output); }));
  ASSERT_TRUE(trace.ok);
  std::map<std::uint64_t, std::string> names, tracks;
  std::map<std::uint64_t, std::vector<std::uint64_t>> open;  // per track: start times
  std::map<std::uint64_t, std::uint64_t> last;
  std::map<std::string, std::vector<std::uint64_t>> durations;
  std::map<std::uint64_t, std::vector<std::string>> open_names;
  double counter = 0;
  int instants = 0;
  bool first = true;
  for (const std::string& bytes : trace.texts.at(1)) {
    const Message packet = Message::parse(bytes);
    ASSERT_TRUE(packet.ok);
    EXPECT_EQ(packet.number(10), 1u);
    EXPECT_EQ(packet.number(13), first ? 1u : 2u) << "incremental state is cleared once, then needed";
    first = false;
    for (const std::string& entry :
         packet.inner(12).texts.contains(2) ? packet.inner(12).texts.at(2) : std::vector<std::string>{}) {
      names[Message::parse(entry).number(1)] = Message::parse(entry).text(2);
    }
    if (packet.has(60))
      tracks[packet.inner(60).number(1)] =
          packet.inner(60).has(4) ? packet.inner(60).inner(4).text(5) : packet.inner(60).text(2);
    if (!packet.has(11)) continue;
    const Message event = packet.inner(11);
    const std::uint64_t track = event.number(11), time = packet.number(8);
    ASSERT_TRUE(tracks.contains(track)) << "a track is described before its first event";
    switch (event.number(9)) {
      case 1:
        EXPECT_GE(time, last[track]);
        open[track].push_back(time);
        open_names[track].push_back(names.at(event.number(10)));
        break;
      case 2:
        ASSERT_FALSE(open[track].empty());
        durations[open_names[track].back()].push_back(time - open[track].back());
        open[track].pop_back();
        open_names[track].pop_back();
        break;
      case 3:
        ++instants;
        break;
      case 4:
        counter = std::bit_cast<double>(event.number(44));
        break;
      default:
        FAIL() << "event of no type";
    }
    if (event.number(9) == 1 || event.number(9) == 2) last[track] = time;
  }
  for (const auto& [track, starts] : open) EXPECT_TRUE(starts.empty()) << tracks[track];
  EXPECT_EQ(durations["inner"], (std::vector<std::uint64_t>{500, 0}));
  EXPECT_EQ(durations["outer \"quoted\"\n"], std::vector<std::uint64_t>{1000});
  EXPECT_EQ(durations["dram to dram"], (std::vector<std::uint64_t>{900, 900}));
  EXPECT_EQ(durations["miss"], std::vector<std::uint64_t>{77});
  EXPECT_EQ(instants, 1);
  EXPECT_EQ(counter, 2.5);
  std::vector<std::string> shown;
  for (const auto& [uuid, name] : tracks) shown.push_back(name);
  EXPECT_NE(std::find(shown.begin(), shown.end(), "main: transfers 2"), shown.end())
      << "transfers in flight together need two lanes";
}

TEST_F(Export, perfetto_text_is_valid_utf8) {
  const std::string trace =
      exported([](const Reader& reader, Output& output) { return write_perfetto(reader, output); });
  EXPECT_EQ(trace.find("engine \xff"), std::string::npos);
}

TEST_F(Export, chrome_json_is_valid_although_names_hold_quotes_newlines_and_bad_bytes) {
  const json trace =
      json::parse(exported([](const Reader& reader, Output& output) { return write_chrome(reader, output); }));
  std::map<std::string, int> phases;
  for (const json& event : trace["traceEvents"]) {
    ++phases[event["ph"].get<std::string>()];
    if (event["ph"] == "X" && event["name"] == "outer \"quoted\"\n") {
      EXPECT_DOUBLE_EQ(event["ts"].get<double>(), 1.0);
      EXPECT_DOUBLE_EQ(event["dur"].get<double>(), 1.0);
      EXPECT_EQ(event["pid"], 42);
      EXPECT_EQ(event["tid"], 43);
      EXPECT_EQ(event["args"]["step"], 1);
    }
  }
  EXPECT_EQ(phases["X"], 6);
  EXPECT_EQ(phases["i"], 1);
  EXPECT_EQ(phases["C"], 1);
  EXPECT_GE(phases["M"], 2);
}

TEST_F(Export, csv_has_a_header_and_a_line_per_event_with_names_resolved) {
  const std::string path = (folder_ / "slice.csv").string();
  auto output = Output::open(path);
  ASSERT_TRUE(output);
  const Status written = write_csv(recording(), "slice", **output);
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_TRUE((*output)->close());
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_NE(text.str().find("duration"), std::string::npos);
  EXPECT_NE(text.str().find("\"outer \"\"quoted\"\""), std::string::npos);
}

TEST_F(Export, every_table_it_names_can_be_exported) {
  for (const std::string& table : csv_tables()) {
    auto output = Output::open((folder_ / "table.csv").string());
    ASSERT_TRUE(output);
    const Status written = write_csv(recording(), table, **output);
    EXPECT_TRUE(written) << table << ": " << (written ? "" : written.error().message);
  }
}

TEST_F(Export, an_unknown_table_is_a_mistake_of_the_caller) {
  auto output = Output::open((folder_ / "table.csv").string());
  ASSERT_TRUE(output);
  const Status written = write_csv(recording(), "slice; DROP TABLE run", **output);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::usage);
}

TEST_F(Export, output_that_cannot_be_written_leaves_no_file) {
  const auto missing = Output::open((folder_ / "no" / "out").string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::environment);
  EXPECT_FALSE(Output::open(folder_.string()));
  auto full = Output::open("/dev/full");
  ASSERT_TRUE(full);
  (*full)->write(std::string(1 << 20, 'x'));
  EXPECT_FALSE((*full)->close());
}

// Every format as an exporter, to see what each of them replaces.
struct Exporter {
  const char* name;
  Status (*write)(const Reader&, Output&);
};
Status write_slices(const Reader& reader, Output& output) { return write_csv(reader.path(), "slice", output); }
Status write_steps(const Reader& reader, Output& output) { return write_csv(reader.path(), "step", output); }
constexpr Exporter exporters[] = {
    {"perfetto", write_perfetto}, {"chrome", write_chrome}, {"slices", write_slices}, {"steps", write_steps}};

TEST_F(Export, replaces_an_earlier_output_of_its_own_kind_and_no_other) {
  const auto reader = Reader::open(recording());
  ASSERT_TRUE(reader);
  const std::string path = (folder_ / "out").string();
  const auto again = [&](const Exporter& exporter, bool force) -> Status {
    auto output = Output::open(path, force);
    if (!output) return tl::unexpected(output.error());
    if (Status written = exporter.write(*reader, **output); !written) return written;
    return (*output)->close();
  };
  for (const Exporter& first : exporters) {
    for (const Exporter& second : exporters) {
      std::filesystem::remove(path);
      ASSERT_TRUE(again(first, false));
      const Status replaced = again(second, false);
      EXPECT_EQ(bool(replaced), first.write == second.write) << second.name << " over " << first.name;
      if (replaced) continue;
      EXPECT_EQ(replaced.error().kind, ErrorKind::environment);
      EXPECT_NE(replaced.error().message.find("--force"), std::string::npos) << replaced.error().message;
      EXPECT_TRUE(again(first, false)) << "the refused one left the file as it was";
      EXPECT_TRUE(again(second, true));
    }
  }
}

TEST_F(Export, keeps_whatever_else_a_name_holds_and_takes_an_empty_file) {
  const auto reader = Reader::open(recording());
  ASSERT_TRUE(reader);
  const std::string path = (folder_ / "out").string();
  for (const std::string& content :
       {std::string("precious"), std::string("\n"), std::string("{}"), std::string("\n\x05P"),
        std::string(5000, '\xff'), std::string("SQLite format 3\0", 16), std::string()}) {
    for (const Exporter& exporter : exporters) {
      std::ofstream(path, std::ios::binary) << content;
      auto output = Output::open(path);
      ASSERT_TRUE(output);
      EXPECT_EQ(bool(exporter.write(*reader, **output)), content.empty()) << exporter.name << " over " << content;
      if (content.empty()) continue;
      EXPECT_FALSE((*output)->close()) << "nothing was claimed";
      std::ostringstream kept;
      kept << std::ifstream(path, std::ios::binary).rdbuf();
      EXPECT_EQ(kept.str(), content);
    }
  }
}

}  // namespace
}  // namespace dmprof::exporting
