#include "analyzers/plan/hardware.h"

#include <algorithm>

namespace dmprof::plan {

Precision Hardware::computed_in(Precision wanted) const {
  for (auto index = static_cast<std::size_t>(wanted) + 1; index-- > 0;) {
    if (peak_flops[index] > 0) return static_cast<Precision>(index);
  }
  for (std::size_t index = peak_flops.size(); index-- > 0;) {
    if (peak_flops[index] > 0) return static_cast<Precision>(index);
  }
  return wanted;
}

Result<Hardware> read_hardware(const Document& document) {
  Section root = document.root();
  Hardware machine;
  const std::vector<std::string> bases = {"datasheet", "measured", "article", "configured"};
  root.text("name", machine.name);
  machine.basis = bases[root.choice("basis", bases)];
  root.text("source", machine.source);
  Section memory = root.section("memory");
  memory.quantity("capacity", Quantity::size, machine.memory_bytes);
  memory.quantity("bandwidth", Quantity::bandwidth, machine.bandwidth);
  for (const auto& [key, value] : {std::pair("capacity", machine.memory_bytes), {"bandwidth", machine.bandwidth}}) {
    if (memory.ok() && value <= 0) memory.complain(key, "must be above 0; write what the machine has");
  }
  (void)memory.finish();
  Section compute = root.section("compute");
  for (std::size_t index = 0; index < precision_names.size(); ++index) {
    const std::string_view key = precision_names[index];
    compute.quantity(key, Quantity::compute, machine.peak_flops[index], 0.0);
    if (compute.ok() && compute.has(key) && machine.peak_flops[index] <= 0)
      compute.complain(key, "must be above 0; leave the key out where the machine has no such arithmetic");
  }
  if (compute.ok() &&
      std::all_of(machine.peak_flops.begin(), machine.peak_flops.end(), [](double x) { return x == 0; }))
    compute.complain("", "holds no peak; add one, such as fp16: 990TFLOP/s");
  (void)compute.finish();
  std::int64_t tile = 0;
  root.integer("tile", tile, 1, 4096, 0);
  machine.tile = static_cast<std::uint64_t>(tile);
  DMPROF_TRY(root.finish());
  return machine;
}

}  // namespace dmprof::plan
