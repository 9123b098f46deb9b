#!/usr/bin/env bash
# The twin from end to end: a short run of dm-engine is recorded, fitted, and predicted at the settings it was recorded with and
# at others. What the machine's load decides is only checked for sanity; how well the twin predicts is measured by
# samples/simcard/fit/validate.sh.
. "$(dirname "$0")/common.sh"
command -v dm-simcard >/dev/null || die "dm-simcard is not built"

head -3 "$source_dir/samples/models/prompts.jsonl" | sed -E 's/"max_tokens": ?[0-9]+/"max_tokens":24/' >prompts.jsonl
dmprof run -o base.dmprof -- dm-engine --model "$target" --draft "$draft" --lookahead 4 --resident 2MiB --cache-policy 0 \
  --prefetch-distance 4 --backing throttle:250MB/s,300us --threads 1 --prompts prompts.jsonl --json >base.json 2>base.err ||
  die "the recording failed"
balanced base.dmprof
dmprof --metric acceptance_length,prefetch_hit_rate --run base.dmprof --json >recorded.json 2>recorded.err || die "no metrics"

dm-simcard fit base.dmprof -o twin.yaml --json >fit.json 2>fit.err || die "no fit"
dm-simcard fit base.dmprof -o twin.json >fit.txt 2>fit.err || die "no fit as JSON"
grep -q 'next: dm-simcard predict twin.json' fit.txt || die "the answer names no next command"
predict() { # NAME [SETTINGS]
  dm-simcard predict twin.yaml ${2:+--set "$2"} --json >"$1.json" 2>"$1.err" || die "no prediction of ${2:-the base}"
}
predict profiled
predict ahead lookahead=2
predict alone lookahead=0
predict memory resident=4MiB,cache_policy=2
predict batch batch=2,max_concurrent=2
predict distance prefetch_distance=0
dm-simcard predict twin.json --json >same.json 2>same.err || die "no prediction from the JSON form"
cmp -s profiled.json same.json || die "YAML and JSON forms of a fit predict differently"

python3 - <<'PYTHON' || die "a prediction is not sane"
import json, math
def figures(name):
    answer = json.load(open(name + ".json"))
    return answer, {f["name"]: f for f in answer["figures"]}
recorded = {m["name"]: m["value"] for m in json.load(open("recorded.json"))["metrics"]}
fit = json.load(open("fit.json"))
assert len(fit["recordings"]) == 1 and fit["recordings"][0]["settings"]["lookahead"] == 4, fit
for name in "profiled ahead alone memory batch distance".split():
    answer, found = figures(name)
    assert answer["status"] == ("profiled" if name == "profiled" else "held_out"), answer
    assert answer["assumptions"], name
    assert {"throughput", "step_time_p50", "step_time_p95", "step_time_p99"} <= set(found), sorted(found)
    for f in found.values():
        assert all(math.isfinite(f[k]) and f[k] >= 0 for k in ("value", "low", "high")), (name, f)
        assert f["low"] <= f["value"] <= f["high"], (name, f)
        if f["unit"] == "ratio":
            assert f["value"] <= 1 and f["high"] <= 1, (name, f)
    for kind in {n[:-4] for n in found if n.endswith("_p50")}:
        p50, p95, p99 = (found[f"{kind}_p{p}"]["value"] for p in (50, 95, 99))
        assert p50 <= p95 <= p99, (name, kind, p50, p95, p99)
    assert found["throughput"]["value"] > 0, name
    if name == "alone":
        assert "acceptance_length" not in found or found["acceptance_length"]["value"] in (0, 1), found
    else:
        assert 1 <= found["acceptance_length"]["value"] <= answer["settings"]["lookahead"] + 1, found
# Greedy text: the verdicts are those of the recording, whatever the machine does. When a block arrives depends on it a little.
_, base = figures("profiled")
length, hits = base["acceptance_length"]["value"], base["prefetch_hit_rate"]["value"]
assert abs(length / recorded["acceptance_length"] - 1) < 0.01, (length, recorded)
assert abs(hits - recorded["prefetch_hit_rate"]) < 0.04, (hits, recorded)
_, shorter = figures("ahead")
assert shorter["acceptance_length"]["value"] < length, (shorter, base)
PYTHON

# refused EXIT_STATUS WORDS COMMAND…: one line that holds the words, and that status.
refused() {
  local expected=$1 words=$2 status
  shift 2
  "$@" >refused.txt 2>refused.err
  status=$?
  [ "$status" = "$expected" ] || die "$*: exit status $status instead of $expected"
  [ "$(wc -l <refused.err)" = 1 ] || die "$*: not one line"
  grep -q -- "$words" refused.err || die "$*: says nothing about $words"
}
printf 'not a recording\n' >foreign.dmprof
dd if=base.dmprof of=short.dmprof bs=1000 count=3 2>/dev/null
refused 4 foreign.dmprof dm-simcard fit foreign.dmprof -o x.yaml
refused 4 short.dmprof dm-simcard fit short.dmprof -o x.yaml
refused 2 'named twice' dm-simcard fit base.dmprof ./base.dmprof -o x.yaml
refused 6 missing.dmprof dm-simcard fit missing.dmprof -o x.yaml
refused 6 nowhere dm-simcard fit base.dmprof -o nowhere/x.yaml
dmprof run -o card.dmprof -- dm-simcard --scenario bandwidth-underused --duration 20ms --json >card.json 2>card.err || die "no card"
refused 3 card.dmprof dm-simcard fit card.dmprof -o x.yaml
[ ! -e x.yaml ] || die "a refused fit left a file"
head -c 5000 twin.yaml >cut.yaml
refused 4 cut.yaml dm-simcard predict cut.yaml
edited() { sed -E "$1" twin.yaml >edited.yaml && ! cmp -s twin.yaml edited.yaml || die "the edit $1 changed nothing"; }
edited 's/^format: 1/format: 99/'
refused 4 edited.yaml dm-simcard predict edited.yaml
edited 's/bytes_per_second: [0-9.e+]+/bytes_per_second: -5/'
refused 4 edited.yaml dm-simcard predict edited.yaml
edited 's/lookahead: 4/lookahead: many/'
refused 4 edited.yaml dm-simcard predict edited.yaml
edited 's/^drafts:/drifts:/'
refused 4 edited.yaml dm-simcard predict edited.yaml
refused 2 lookahead dm-simcard predict twin.yaml --set lokahead=2
refused 2 resident dm-simcard predict twin.yaml --set resident=2miles
refused 3 threads dm-simcard predict twin.yaml --set threads=2
refused 3 'distances above 16' dm-simcard predict twin.yaml --set prefetch_distance=128
