#include "dmprof/cli/whatif_source.h"

#include <utility>

#include <fmt/format.h>

#include "analyzers/registry/load.h"
#include "dmprof/cli/evaluation.h"

namespace dmprof::cli {

Result<std::unique_ptr<WhatIfSource>> WhatIfSource::open(const std::filesystem::path& recording,
                                                         const std::vector<std::string>& profiles) {
  std::unique_ptr<WhatIfSource> source(new WhatIfSource);
  auto reader = Reader::open(recording.string());
  if (!reader) return tl::unexpected(reader.error());
  auto loaded = load_recording(*reader, whatif::events_needed());
  if (!loaded) return tl::unexpected(loaded.error());
  source->recording_ = std::move(*loaded);
  auto evaluated = evaluate(*reader, whatif::metrics_needed(), {});
  if (!evaluated) return tl::unexpected(evaluated.error());
  source->values_ = std::move(evaluated->values);
  std::vector<whatif::Profile> named;
  for (const std::string& profile : profiles) {
    if (profile.empty()) return fail(ErrorKind::usage, "--profile: an empty name; give a recording");
    auto other = Reader::open(profile);
    if (!other) return tl::unexpected(other.error());
    auto measured = load_recording(*other, whatif::events_needed());
    if (!measured) return tl::unexpected(measured.error());
    source->profiles_.push_back(std::make_unique<Recording>(std::move(*measured)));
    named.push_back({profile, source->profiles_.back().get()});
  }
  source->model_ = std::make_unique<whatif::Model>(source->recording_, source->values_, std::move(named));
  return source;
}

}  // namespace dmprof::cli
