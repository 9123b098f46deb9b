#!/usr/bin/env bash
# The card's two playbook scenarios: diagnose names the rule, and every fix, tried by the command it prints, moves the
# figures the way the playbook says. What a fix does not improve is asserted too, so that nobody reads it as a gain.
. "$(dirname "$0")/common.sh"
command -v dm-simcard >/dev/null || die "dm-simcard is not built"

record() { # NAME COMMAND…
  local name=$1
  shift
  dmprof run -o "$name.dmprof" -- "$@" >"$name.json" 2>"$name.err" || die "recording $name"
  balanced "$name.dmprof"
}
metric() { # RECORDING NAME [FIELD]
  dmprof --metric "$2" --run "$1.dmprof" --json |
    python3 -c 'import json,sys; print(json.load(sys.stdin)["metrics"][0][sys.argv[1]])' "${3:-value}" || die "$2 of $1"
}
summary() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1.json" "$2"; }
more() { # WHAT A B: A is above B by more than 1 %
  python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not a > b * 1.01)' "$2" "$3" || die "$1: $2 is not above $3"
}
# try RECORDING RULE KNOB: runs the printed command of the fix as it stands and records what it runs.
command_of() {
  dmprof diagnose "$1.dmprof" --json | python3 -c '
import json, sys
finding = [f for f in json.load(sys.stdin)["findings"] if f["rule"] == sys.argv[1]]
fix = [f for f in finding[0]["fixes"] if f["knob"] == sys.argv[2]]
print(fix[0]["command"]["dm-simcard"])' "$2" "$3" || die "$1: no printed command for $3 of $2"
}

record slow dm-simcard --scenario bandwidth-underused --json
for knob in draft lookahead cache_policy; do
  fix=$(command_of slow bandwidth-underused "$knob")
  record "$knob" bash -c "$fix"
  more "$knob: hit rate" "$(metric "$knob" prefetch_hit_rate)" "$(metric slow prefetch_hit_rate)"
  more "$knob: bandwidth" "$(metric "$knob" bandwidth_utilization)" "$(metric slow bandwidth_utilization)"
  more "$knob: tokens a second" "$(metric "$knob" throughput)" "$(metric slow throughput)"
  more "$knob: step time" "$(metric slow step_time)" "$(metric "$knob" step_time)"
  more "$knob: step over its roofline" "$(metric slow step_time_over_roofline)" "$(metric "$knob" step_time_over_roofline)"
  more "$knob: joules a token" "$(metric slow energy_per_token)" "$(metric "$knob" energy_per_token)"
  more "$knob: share of waiting" "$(metric slow memory_stall_share)" "$(metric "$knob" memory_stall_share)"
done

# What a draft token costs in target steps of one token: as the card's own times say, whose target is timed without drafts.
record plain env DM_DRAFT=none dm-simcard --scenario bandwidth-underused --json
python3 -c '
import sys
metric, drafting, steps, drafted, target = map(float, sys.argv[1:])
sys.exit(not abs(metric / (drafting / (drafted / steps) / target) - 1) < 0.1)' "$(metric slow draft_cost_ratio)" "$(summary slow draft_time_s)" \
  "$(summary slow steps)" "$(summary slow drafted)" "$(summary plain verify_time_s)" || die "draft_cost_ratio is not the card's own"
more "optimal lookahead" "$(metric slow optimal_lookahead)" 1

record busy dm-simcard --scenario contention --json
fix=$(command_of busy speculation-engine-contention max_concurrent)
record admission bash -c "$fix"
more "admission: time a token takes" "$(metric busy tpot)" "$(metric admission tpot)"
more "admission: wait for a place" "$(metric admission queue_wait)" "$(metric busy queue_wait)"
# What it costs is told beforehand, and dmprof measures it as the card itself does; requests come as seldom as before.
more "admission: speed while decoding" "$(metric busy decode_throughput)" "$(metric admission decode_throughput)"
for run in busy admission; do
  python3 -c 'import sys; a, b = map(float, sys.argv[1:]); sys.exit(not abs(a / b - 1) < 0.005)' \
    "$(metric "$run" decode_throughput)" "$(summary "$run" decode_tokens_per_s)" || die "$run: speed of dmprof and of the card"
done
dmprof diagnose busy.dmprof --json | python3 -c '
import json, sys
fix = [x for f in json.load(sys.stdin)["findings"] for x in f["fixes"] if x["knob"] == "max_concurrent"][0]
cost, said = float(sys.argv[2]) / float(sys.argv[1]), fix["predicted_cost"]
sys.exit(not (said and said["low"] <= cost <= said["high"] and said["mid"] < 1))' \
  "$(metric busy decode_throughput)" "$(metric admission decode_throughput)" || die "admission: its cost is not predicted"
fix=$(command_of busy speculation-engine-contention interleave_sched)
bash -c "$fix" || die "the driver's file cannot be written: $fix"
record turns dm-simcard --scenario contention --json
more "turns: time a token takes" "$(metric busy tpot)" "$(metric turns tpot)"
more "turns: P99 of a gap" "$(metric busy itl p99)" "$(metric turns itl p99)"

# Same seed, same stream: recordings differ in dates and process ids only.
record again dm-simcard --scenario contention --json
diff turns.json again.json || die "two runs of one seed differ"
for table in slice step speculation_step request_event transfer; do
  [ "$(value turns.dmprof "SELECT count(*) FROM $table")" -gt 100 ] || die "$table is empty"
  [ "$(rows_of turns.dmprof "$table")" = "$(rows_of again.dmprof "$table")" ] || die "$table of two runs of one seed differ"
done
echo "ok"
