#!/usr/bin/env bash
# usage: tests/lint/format.sh [--check]     formats the C and C++ sources, or says which ones differ
set -eu
cd "$(dirname "$0")/../.."
command -v clang-format >/dev/null || { echo "format: clang-format is missing; apt-get install clang-format" >&2; exit 6; }
mode=-i
[ "${1:-}" = --check ] && mode='--dry-run --Werror'
git ls-files '*.c' '*.cc' '*.h' | xargs clang-format $mode
