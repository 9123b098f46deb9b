#include "analyzers/registry/load.h"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dmprof/store/writer.h"

namespace dmprof {
namespace {

struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("dmprof-load-test-" + std::to_string(::getpid()) + ".dmprof"))
          .string();
  File() { std::filesystem::remove(path); }
  ~File() { std::filesystem::remove(path); }
};

Step step_on(TrackId track, std::uint64_t id, TimeNs start) {
  Step step;
  step.track = track, step.step = id, step.start = start, step.duration = 10;
  return step;
}

TEST(Load, keeps_the_engine_s_process_reads_only_what_is_wanted_and_says_so) {
  const File file;
  std::uint32_t engine = 0, helper = 0;
  {
    auto writer = Writer::create(file.path);
    ASSERT_TRUE(writer) << writer.error().message;
    Writer& out = **writer;
    helper = *out.add_process({.pid = 41, .parent_pid = 0, .name = "helper", .command = ""});
    engine = *out.add_process({.pid = 42, .parent_pid = 0, .name = "dm-engine", .command = ""});
    const std::uint32_t clock = *out.add_clock({.name = "host", .kind = ClockKind::monotonic, .quality = ""});
    const TrackId other = *out.add_track({.process = helper, .thread_id = 1, .clock = clock, .name = "other"});
    const TrackId track = *out.add_track({.process = engine, .thread_id = 2, .clock = clock, .name = "engine"});
    Capacity tier;
    tier.process = engine, tier.name = "resident", tier.kind = "tier", tier.managed = true;
    const TierId id = *out.add_capacity(tier);
    ASSERT_TRUE(out.set_environment("cpu.llc_bytes", "8388608"));
    Slice slice;
    slice.track = track, slice.start = 1, slice.name = out.intern("verification");
    BlockAccess access;
    access.track = track, access.time = 15, access.tier = id;
    const std::vector<Event> events = {step_on(track, 2, 20), step_on(track, 1, 10), step_on(other, 1, 5), slice,
                                       access};
    ASSERT_TRUE(out.accept(events));
    ASSERT_TRUE(out.add_emitted(track, 4));
    ASSERT_TRUE(out.add_loss({track, "ring_full", 0}));
    ASSERT_TRUE(out.finish());
  }
  auto reader = Reader::open(file.path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto recording = load_recording(*reader, Events::accesses);
  ASSERT_TRUE(recording) << recording.error().message;
  ASSERT_EQ(recording->steps.size(), 2u);
  EXPECT_EQ(recording->steps[0].step, 1u);  // in time order
  EXPECT_EQ(recording->accesses.size(), 1u);
  EXPECT_TRUE(recording->slices.empty());
  EXPECT_FALSE(any(recording->loaded & Events::slices));
  EXPECT_EQ(recording->tier_name(recording->accesses[0].tier), "resident");
  EXPECT_EQ(recording->environment_number("cpu.llc_bytes"), 8388608);
  EXPECT_EQ(recording->recorded, 5u);
  EXPECT_EQ(recording->note, "process 42 (dm-engine) of 2 recorded");

  const auto chosen = load_recording(*reader, Events::slices, helper);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->steps.size(), 1u);
  const auto nobody = load_recording(*reader, Events::slices, 77);
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace dmprof
