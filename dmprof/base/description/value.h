// The plain tree a YAML file becomes, with the line of every value for messages.
#pragma once

#include <string>
#include <vector>

namespace dmprof {

struct Value {
  struct Field;
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  int line = 0;               // from 1
  std::string text;           // scalar
  std::vector<Value> items;   // list
  std::vector<Field> fields;  // map, in the order of the file
};

struct Value::Field {
  std::string name;
  Value value;
};

}  // namespace dmprof
