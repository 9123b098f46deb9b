#!/usr/bin/env bash
# usage: tests/fuzz/run.sh [SECONDS [FUZZER…]]     runs each fuzzer of build-fuzz/ that long (20), from seeds in the tree
# What it finds is kept in build-fuzz/corpus; an input that breaks something is named, kept beside it, and ends the run with 1.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-20}
shift || true
fuzzers=("$@")
[ $# -gt 0 ] || fuzzers=(gguf prompts decode recording rule)
corpus=build-fuzz/corpus
mkdir -p "$corpus"/{gguf,prompts,decode,recording,rule}
head -n 3 samples/models/prompts.jsonl >"$corpus/prompts/samples.jsonl"
cp rules/playbook/*.yaml "$corpus/rule/"
find tests/data -name '*.dmprof' -exec cp {} "$corpus/recording/" \;
build-fuzz/bin/dm-engine synth --shape tiny --type f32 -o "$corpus/gguf/tiny.gguf" >/dev/null
# A slot of each kind on track 1, with room for the longest: time, name, track, kind, code, then payload (dmprof/sdk/abi.h).
for kind in 01 04 05 06 07 08 09 0a 0b 0c 0d; do
  printf "\\x10\\0\\0\\0\\0\\0\\0\\0\\x01\\0\\0\\0\\x01\\0\\x$kind\\0" >"$corpus/decode/kind_$kind"
  for _ in 1 2 3 4 5 6 7 8 9 10; do printf '\x02\0\0\0\0\0\0\0' >>"$corpus/decode/kind_$kind"; done
done
for fuzzer in "${fuzzers[@]}"; do
  echo "== fuzz_$fuzzer, $seconds s"
  log=build-fuzz/fuzz_$fuzzer.log
  if ! build-fuzz/fuzz/fuzz_"$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=262144 \
    -artifact_prefix="$corpus/$fuzzer-" "$corpus/$fuzzer" >"$log" 2>&1; then
    grep -E 'ERROR|runtime error|Test unit|^    #[0-4] ' "$log" | head -n 12
    echo "fuzz_$fuzzer found something: $log" >&2
    exit 1
  fi
  grep -E '^Done ' "$log"
done
