// Fits and predictions as people and scripts read them.
#pragma once

#include <string>

#include "samples/simcard/fit/predict.h"

namespace dmprof::twin {

std::string fit_answer(const Fit& fit, const std::string& path);
// {"file","engine","recordings":[{"file","settings":{…},"figures":[{"name","unit","recorded","simulated","error"}]}]}
std::string fit_json(const Fit& fit, const std::string& path);
std::string prediction_answer(const Fit& fit, const Prediction& prediction);
// {"settings":{…},"status":"profiled|held_out","figures":[{"name","unit","value","low","high"}],"assumptions":[…]}
std::string prediction_json(const Fit& fit, const Prediction& prediction);

}  // namespace dmprof::twin
