#!/usr/bin/env bash
# usage: tests/fuzz/run.sh [SECONDS]     runs each fuzzer of build-fuzz/ that long (20), from seeds in the tree
set -eu
cd "$(dirname "$0")/../.."
seconds=${1:-20}
corpus=build-fuzz/corpus
mkdir -p "$corpus"/{gguf,prompts,decode,recording,rule}
cp samples/models/prompts.jsonl "$corpus/prompts/"
cp rules/playbook/*.yaml "$corpus/rule/"
find tests/data -name '*.dmprof' -exec cp {} "$corpus/recording/" \;
[ -x build/bin/dm-engine ] && build/bin/dm-engine synth --shape tiny --type f32 -o "$corpus/gguf/tiny.gguf" >/dev/null 2>&1 || true
for fuzzer in gguf prompts decode recording rule; do
  echo "== fuzz_$fuzzer, $seconds s"
  build-fuzz/fuzz/fuzz_$fuzzer -max_total_time="$seconds" -rss_limit_mb=2048 -max_len=262144 -print_final_stats=0 "$corpus/$fuzzer" 2>&1 | tail -n 2
done
