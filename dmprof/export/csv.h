// The tables of a recording as comma-separated values (RFC 4180): event tables with names resolved, and the plain
// tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/base/output.h"

namespace dmprof::exporting {

// One cell: in quotes where the text has a comma, a quote or a line break.
std::string csv_cell(std::string_view text);

// Every table that can be exported.
std::vector<std::string> csv_tables();

// One table with a header line. Error: usage for a table that is not in csv_tables(), else what the store says.
Status write_csv(const std::string& recording, const std::string& table, Output& output);

}  // namespace dmprof::exporting
