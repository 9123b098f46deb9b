// Fits what the published batch table (row A11) leaves free in a node's preset: a bounded coordinate search, the same
// on every machine. The table has eight figures and the search as many parameters, so that a good fit is a consistency
// check and no prediction. Bounds: FORMULAS.md's reading of the table.
#pragma once

#include <string>
#include <vector>

#include "samples/simcard/scenario/scenario.h"

namespace dmprof::simcard {

struct FittedParameter {
  std::string name, unit;
  double low = 0, high = 0;  // in the unit
  double value = 0;
};

struct TableFit {
  std::vector<FittedParameter> parameters;
  std::vector<Compared> figures;  // of the row's own run, at the values as they are printed
  double worst = 0;               // largest |residual| of them
  std::size_t evaluations = 0;    // of the whole table
};

// `row` is a scenario of the experiment "batch-table" whose claims are tokens_per_s_batch_N and p99_step_ms_batch_N.
// The search runs about `steps` steps a batch, on draws of its own: the row's own run is not what is fitted.
Result<TableFit> fit_table(const Scenario& row, double steps);

// The parameters as a preset states them, and the residuals.
std::string table_fit_text(const TableFit& fit);

}  // namespace dmprof::simcard
