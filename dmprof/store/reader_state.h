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
  std::uint64_t missing_bytes = 0;
  store::Database database;
  std::map<std::uint8_t, std::unique_ptr<store::ChunkWalk>> idle;  // declared after the connection they use: end first
  std::vector<std::string> names;                                  // grows while the recording does

  Error located(Error error) const {
    if (missing_bytes > 0 && error.kind == ErrorKind::bad_input)
      return {error.kind, path + ": cut off, and what is asked for lies in the " + std::to_string(missing_bytes) +
                              " bytes that are missing at its end; use a whole copy"};
    return {error.kind, path + ": " + error.message};
  }
};

}  // namespace dmprof
