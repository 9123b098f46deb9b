// exp and log that give the same bits on every machine: libm picks variants by CPU. Relative error below 1e-13.
#pragma once

namespace dmprof::workload {

double portable_exp(double x);  // 0 below -708, the largest finite double above 709
double portable_log(double x);  // natural; -inf at 0 and below

}  // namespace dmprof::workload
