// Numbers and sizes as people type them, the same for flags and variables: the product's own readers.
#pragma once

#include "dmprof/base/quantity.h"
#include "dmprof/base/suggest.h"

namespace dmengine {

using dmprof::nearest;
using dmprof::parse_real;
using dmprof::parse_size;
using dmprof::parse_whole;

}  // namespace dmengine
