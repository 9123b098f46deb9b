// exp, log and pow whose results are the same on every machine. The C library picks variants by processor (fused
// multiply-add or not), which would make two runs of one seed differ. These use only IEEE additions, multiplications
// and divisions in a fixed order; the folder is compiled with -ffp-contract=off.
//
// Relative error below 4e-16 for exp and log over their range (log: absolute near 1), about |y log x| times that for
// pow.
#pragma once

namespace dmprof::workload {

double portable_exp(double x);            // 0 below -745, infinity above 709.78, NaN for NaN
double portable_log(double x);            // NaN below 0, -infinity at 0
double portable_pow(double x, double y);  // x >= 0; pow(0, 0) = 1

}  // namespace dmprof::workload
