// Recordings: whatever bytes a file holds, opening and reading all of it ends in values or an error.
#include "dmprof/event/describe.h"
#include "dmprof/store/reader.h"
#include "tests/fuzz/scratch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto reader = dmprof::Reader::open(dmprof::fuzz::scratch_file(data, size));
  if (!reader) return 0;
  dmprof::for_each_event_type([&]<class E>() { (void)reader->all<E>(); });
  return 0;
}
