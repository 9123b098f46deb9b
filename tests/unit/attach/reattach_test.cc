#include <sys/mman.h>

#include "tests/unit/attach/child_engine.h"

namespace dmprof::attach {
namespace {

// The moment "dmprof_end has begun" is held by a clock whose reading faults: the handler lets the test attach anew, and
// then makes the clock readable.
const ChildEngine::Child* fault_child = nullptr;
void* clock_page = nullptr;
constexpr std::size_t page_bytes = 4096;

void on_fault(int) {
  fault_child->ready();
  fault_child->wait();
  ::mprotect(clock_page, page_bytes, PROT_READ | PROT_WRITE);
}

class EndDuringReattach : public AttachTest, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(EndDuringReattach, leaves_nothing_unfinished_in_the_new_recording) {
  const std::uint64_t argument = GetParam();
  ChildEngine engine([argument](const ChildEngine::Child& child) {
    const std::uint32_t clock = dmprof_clock_register("card", DMPROF_CLOCK_VIRTUAL);
    dmprof_track* track = dmprof_track_create("card", clock, 0);
    fault_child = &child;
    clock_page = ::mmap(nullptr, page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action {};
    action.sa_handler = on_fault;
    ::sigaction(SIGSEGV, &action, nullptr);
    child.ready();
    child.wait();
    dmprof_begin(track, dmprof_name("outer"));
    dmprof_begin_arg(track, dmprof_name("inner"), argument);
    const std::uint64_t* own_clock = track->clock;
    track->clock = static_cast<const std::uint64_t*>(clock_page);
    dmprof_end(track);
    track->clock = own_clock;
    dmprof_end(track);
    dmprof_begin(track, dmprof_name("later"));
    dmprof_end(track);
  });
  ASSERT_TRUE(engine.wait_ready());
  test::VectorSink before, after;
  AttachCollector first(options_for(engine.pid())), second(options_for(engine.pid()));
  ASSERT_TRUE(first.start(before));
  engine.go();
  ASSERT_TRUE(engine.wait_ready());  // inside dmprof_end
  ASSERT_TRUE(first.stop());
  ASSERT_TRUE(second.start(after));
  engine.go();
  poll_to_the_end(second);
  ASSERT_EQ(after.of<Slice>().size(), 1u);
  EXPECT_EQ(after.name(after.of<Slice>()[0].name), "later");
  EXPECT_EQ(after.of<Slice>()[0].depth, 0u);
  EXPECT_TRUE(after.losses.empty());
  expect_balance(before);
  expect_balance(after);
}

INSTANTIATE_TEST_SUITE_P(without_and_with_an_argument, EndDuringReattach, testing::Values(0, 42));

}  // namespace
}  // namespace dmprof::attach
