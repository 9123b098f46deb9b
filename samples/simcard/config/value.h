// The plain tree a YAML file becomes, with the line of every value for messages.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace dmprof::simcard {

struct Value {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  int line = 0;                                       // from 1
  std::string text;                                   // scalar
  std::vector<Value> items;                           // list
  std::vector<std::pair<std::string, Value>> fields;  // map, in the order of the file
};

}  // namespace dmprof::simcard
