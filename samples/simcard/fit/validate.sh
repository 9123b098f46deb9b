#!/usr/bin/env bash
# How well a twin predicts dm-engine: runs a list of settings interleaved, fits a twin to one recording of each draft, predicts
# all settings, and prints measured medians, the spread of the re-runs (the noise floor), predictions and errors.
#
#   samples/simcard/fit/validate.sh [FOLDER]        recordings and table stay there (default: a temporary folder)
#   RUNS=5 BACKING=throttle:250MB/s,300us           re-runs of each setting; the link
#
# The split: the first setting of each draft is profiled (its run of median throughput is what the twin is fitted to); all
# others are held out.
set -eu
cd "$(dirname "$0")/../../.."
folder=${1:-$(mktemp -d)}
runs=${RUNS:-5}
backing=${BACKING:-throttle:250MB/s,300us}
models=samples/models
target=$models/kjv-target-q8_0.gguf
ten=kjv-draft-10-q8_0.gguf
thirty=kjv-draft-30-q8_0.gguf
mkdir -p "$folder"
head -6 "$models/prompts.jsonl" | sed 's/"max_tokens":128/"max_tokens":80/' >"$folder/prompts.jsonl"
# On a machine that others use too, runs have real-time priority where that is allowed: otherwise neighbours set the figures.
priority=()
if chrt -r 1 true 2>/dev/null; then
  priority=(chrt -r 1)
else
  echo "no real-time priority here: expect a wide spread on a machine that is not idle" >&2
fi

# draft lookahead resident cache_policy prefetch_distance batch
settings=(
  "$ten 8 2MiB 0 4 1"
  "$thirty 8 2MiB 0 4 1"
  "$ten 2 2MiB 0 4 1"
  "$ten 5 2MiB 0 4 1"
  "$ten 12 2MiB 0 4 1"
  "$ten 8 1MiB 0 4 1"
  "$ten 8 4MiB 0 4 1"
  "$ten 8 2MiB 1 4 1"
  "$ten 8 2MiB 2 4 1"
  "$ten 8 2MiB 0 1 1"
  "$ten 8 2MiB 0 8 1"
  "$ten 8 2MiB 0 16 1"
  "$ten 8 2MiB 0 4 2"
  "$ten 8 2MiB 0 4 4"
  "$ten 5 3MiB 2 8 1"
  "$thirty 5 4MiB 2 4 1"
  "$thirty 3 2MiB 1 8 2"
  "$ten 0 2MiB 0 4 1"
)

for run in $(seq "$runs"); do
  for i in "${!settings[@]}"; do
    read -r draft lookahead resident policy distance batch <<<"${settings[$i]}"
    echo "run $run of $runs, setting $((i + 1)) of ${#settings[@]}" >&2
    "${priority[@]}" build/bin/dmprof run -o "$folder/$i.$run.dmprof" -- build/bin/dm-engine --model "$target" --draft "$models/$draft" \
      --lookahead "$lookahead" --resident "$resident" --cache-policy "$policy" --prefetch-distance "$distance" --batch "$batch" \
      --backing "$backing" --prompts "$folder/prompts.jsonl" --baseline-every 16 --json >"$folder/$i.$run.json" 2>"$folder/log" ||
      { cat "$folder/log" >&2; exit 1; }
    build/bin/dmprof --metric throughput,acceptance_length,prefetch_hit_rate,step_time,itl --run "$folder/$i.$run.dmprof" --json \
      >"$folder/$i.$run.metrics.json" || [ $? -eq 3 ]   # without speculation there is no acceptance
  done
done

printf '%s\n' "${settings[@]}" >"$folder/settings"
python3 samples/simcard/fit/validate.py "$folder" "$runs" "${DM_SIMCARD:-build/bin/dm-simcard}" | tee "$folder/table"
