#!/usr/bin/env bash
# The scorecard end to end on the quick part of its grid, which runs in virtual time. usage: quick_test.sh BIN
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
die() {
  echo "FAILED: $*" >&2
  exit 1
}

"$here/scorecard.py" "$1" --quick --keep "$scratch/kept" --json >"$scratch/first.json" 2>"$scratch/err" || die "$(tail -n 3 "$scratch/err")"
python3 - "$scratch/first.json" <<'EOF' || die "the quick scorecard is not what its scenarios give"
import json, sys
answer = json.load(open(sys.argv[1]))
card = answer["parts"]["card"]
assert answer["failures"] == [] and card["runs"] == 3, card["runs"]
pairs = card["pairs"]
assert card["all"]["predicted"] + card["all"]["unavailable"] + card["all"]["untried"] == card["all"]["pairs"] == len(pairs) >= 6
assert {"lookahead", "cache_policy", "draft", "max_concurrent", "interleave_sched"} <= {pair["knob"] for pair in pairs}
for pair in pairs:
    # The card repeats exactly and every fix of these runs can be typed for it.
    assert pair["exact"] and pair["measured"] and pair["verdict"], pair
    assert pair["status"] == "predicted" or pair["reason"], pair
    assert pair["knob"] != "draft" or pair["status"] == "unavailable", "no recording of the 1b draft knows the 3b draft"
assert card["all"]["predicted"] >= 5 and card["all"]["error"]["median"] <= 0.10 and card["all"]["coverage"] >= 0.75, card["all"]
EOF

# What was measured is kept: the second call measures nothing, even where the programs could no longer run.
"$here/scorecard.py" "$1" --quick --keep "$scratch/kept" --json >"$scratch/second.json" 2>/dev/null || die "a second call"
cmp -s "$scratch/first.json" "$scratch/second.json" || die "kept results print other figures"
[ "$(ls "$scratch/kept" | wc -l)" = 3 ] || die "not one kept file a run"

# A line that cannot run is reported and costs only itself.
cat >"$scratch/grid.txt" <<'EOF'
[card quick]
1 dm-simcard --scenario no-such-scenario
1 dm-simcard --scenario bandwidth-underused --duration 100ms
EOF
"$here/scorecard.py" "$1" --quick --grid "$scratch/grid.txt" --keep "$scratch/kept" --json >"$scratch/third.json" 2>/dev/null
[ $? = 1 ] || die "a failed line should end with 1"
python3 -c 'import json,sys; a=json.load(open(sys.argv[1])); assert a["parts"]["card"]["runs"]==1 and "no-such-scenario" in a["failures"][0]["line"], a' \
  "$scratch/third.json" || die "a failed line"
printf '1 dm-simcard\n' >"$scratch/grid.txt"
"$here/scorecard.py" "$1" --grid "$scratch/grid.txt" 2>&1 | grep -q 'grid.txt:1: a line is SEEDS' || die "a line above every part"
echo ok
