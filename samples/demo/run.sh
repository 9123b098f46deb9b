#!/usr/bin/env bash
# The whole product in one go: a model decodes with speculation over an imitated slow tier, is recorded and diagnosed, and the
# first fix of the diagnosis is run against the unchanged command. Called by `make demo`.
set -eu
cd "$(dirname "$0")/../.."
dmprof=build/bin/dmprof
target=$(ls samples/models/*target*.gguf)
draft=$(ls samples/models/*draft-10*.gguf)
runs=${DEMO_RUNS:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The small model fits the last-level cache, so its weights are streamed: 2 MiB of them stay, the rest comes over a link of
# 1 GB/s with 300 us of latency. Replacement and prefetch stand where a careless setup leaves them.
common=(--prompts samples/demo/prompts.jsonl --resident 2MiB --backing "throttle:1GB/s,300us"
        --cache-policy 0 --prefetch-distance 1)
plain=(build/bin/dm-engine --model "$target" "${common[@]}")
speculating=(build/bin/dm-engine --model "$target" --draft "$draft" --lookahead 5 --baseline-every 16 "${common[@]}")

title() { printf '\n== %s\n' "$1"; }
rate() { python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["times"]["tokens_per_second"])' "$1"; }
median() { sort -g | awk '{v[NR]=$1} END {print (NR%2) ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2}'; }

title "the model's text, recorded while it decodes with speculation"
"$dmprof" run -- "${speculating[@]}"

title "tokens/s without and with speculation (median of $runs interleaved runs, nobody recording)"
for run in $(seq "$runs"); do
  "${plain[@]}" --json >"$scratch/plain.$run.json"
  "${speculating[@]}" --json >"$scratch/speculating.$run.json"
done
without=$(for run in $(seq "$runs"); do rate "$scratch/plain.$run.json"; done | median)
with=$(for run in $(seq "$runs"); do rate "$scratch/speculating.$run.json"; done | median)
awk -v a="$without" -v b="$with" 'BEGIN {printf "without  %7.1f tokens/s\nwith     %7.1f tokens/s   %.2f x\n", a, b, b/a}'

title "metrics"
"$dmprof" --metric prefetch_hit_rate,speculation_accuracy,acceptance_length,throughput,itl,bandwidth_utilization,memory_stall_share,draft_cost_ratio,verify_cost_ratio,speculation_speedup,time_budget,events_lost,recording_overhead | sed '/^$/,$d'

title "diagnosis"
"$dmprof" diagnose

title "the first fix, tried by dmprof diagnose --verify (pairs of runs, in turns)"
"$dmprof" diagnose --verify --yes >"$scratch/verified"
awk '/ fix: / { fix = $0 } / tried: / { print fix; print; found = 1 } END { exit !found }' "$scratch/verified" || { cat "$scratch/verified"; echo "no fix was tried"; exit 1; }

title "ask it yourself"
echo "build/bin/dmprof --metric prefetch_hit_rate"
echo "build/bin/dmprof --metric speculation_accuracy"
