#!/usr/bin/env bash
# Prints the figures of the README's benchmark section. Every ratio is taken inside one interleaved run; quote those, absolute
# values drift with the machine. usage: tests/bench/run.sh [FILTER]
# FILTER: instrumentation, recording, metrics, simcard, beside or engine
set -eu
cd "$(dirname "$0")/../.."
only=${1:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
part() { [ -z "$only" ] || [ "$only" = "$1" ]; }

if part instrumentation; then
  echo "== instrumentation: cost of an event beside bare time-stamp reads"
  build/bench/instrumentation_benchmark
fi
if part recording; then
  echo "== recording and queries, 10 M events"
  TMPDIR="$scratch" build/bench/bench_store
fi
if part beside; then
  echo "== reference engine under full recording, and beside one CPU hog"
  build/bin/dm-engine synth --shape m110 --type q8_0 --seed 1 -o "$scratch/m110.gguf" >/dev/null
  tests/bench/engine_beside.sh build/bin "$scratch/m110.gguf"
  rm "$scratch/m110.gguf"
fi
if part engine; then
  echo "== reference engine: decode rate beside read bandwidth, cost of verifying n tokens"
  for type in q8_0 f16 f32; do
    build/bin/dm-engine synth --shape m400 --type "$type" --seed 1 -o "$scratch/m400.gguf" >/dev/null
    build/bin/dm-engine bench --model "$scratch/m400.gguf"
    rm "$scratch/m400.gguf"
  done
fi
if part simcard; then
  echo "== simulated card: events a second with recording off, 1 to 1,024 cards"
  build/bench/bench_simcard
fi
if part metrics; then
  echo "== metrics computed from 10 M events"
  TMPDIR="$scratch" build/bench/bench_metrics
fi
