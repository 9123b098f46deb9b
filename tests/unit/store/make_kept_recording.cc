// Writes the recording that later versions must still read: make_kept_recording OUT.dmprof
#include <cstdio>

#include "tests/unit/store/kept_contents.h"

int main(int argc, char** argv) {
  using namespace dmprof;
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_kept_recording OUT.dmprof\n");
    return 2;
  }
  auto created = Writer::create(argv[1], {.chunk_rows = 100});
  if (!created) {
    std::fprintf(stderr, "%s\n", created.error().message.c_str());
    return 6;
  }
  Writer& writer = **created;
  writer.intern("draft");
  writer.intern("verify");
  bool good =
      writer.add_process({.pid = 42, .parent_pid = 1, .name = "engine", .command = "engine --fast"}).has_value();
  good = good && writer.add_clock({.name = "host", .kind = ClockKind::virtual_time, .quality = "virtual"});
  for (const char* name : {"main", "prefetch"}) {
    good = good && writer.add_track({.process = 1, .thread_id = 43, .clock = 1, .name = name});
  }
  for (const char* name : {"dram", "backing"}) {
    good = good && writer.add_capacity({.process = 1, .name = name, .kind = "tier", .size_bytes = 1 << 20});
  }
  good = good && writer.add_knob({.process = 1,
                                  .name = "lookahead",
                                  .value = "4",
                                  .type = "integer",
                                  .range = "1..16",
                                  .how = "environment",
                                  .handle = "DM_LOOKAHEAD",
                                  .unit = ""});
  good = good && writer.set_environment("cpu", "kept");
  good = good && writer.add_emitted(1, 7);
  good = good && writer.add_loss({.track = 1, .cause = "ring_full", .events = 3});
  for_each_event_type([&]<class E>() {
    std::vector<Event> events;
    for (const E& event : test::kept<E>()) events.emplace_back(event);
    good = good && writer.accept(events);
  });
  good = good && writer.finish("kept");
  return good ? 0 : 1;
}
