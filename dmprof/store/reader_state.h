// What a Reader holds; shared by reader.cc (events) and reader_tables.cc (plain tables).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dmprof/store/chunk_walk.h"
#include "dmprof/store/connection.h"
#include "dmprof/store/reader.h"

namespace dmprof {

struct Reader::State {
  std::string path;
  store::Database database;
  std::map<std::uint8_t, std::unique_ptr<store::ChunkWalk>> idle;  // declared after the connection they use: end first
  std::vector<std::string> names;                                  // grows while the recording does

  Error located(Error error) const { return {error.kind, path + ": " + error.message}; }
};

}  // namespace dmprof
