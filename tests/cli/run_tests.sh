#!/usr/bin/env bash
# Runs command-line tests written as text.   usage: run_tests.sh BIN_DIR FILE.test…
#
# A file holds tests; each begins with a line "test: SENTENCE". Lines of a test:
#   needs: SHELL # WHY     first of all; when it fails the test is skipped, and why is said (without it the SHELL)
#   setup: SHELL     before the command; must succeed
#   run: SHELL       the command; its standard output, standard error and exit status are kept
#   exit: N          its exit status (0 when left out)
#   out: REGEX       some line of standard output matches (extended regular expression)    not-out: none does
#   err: REGEX       the same for standard error                                          not-err: none does
#   one-error-line   standard error is exactly one line that begins with "dmprof: "
#   no-out  no-err   standard output (error) is empty
#   check: SHELL     after the command; must succeed. $OUT and $ERR are the files with its output
# Every test starts in an empty folder, with a data directory of its own and BIN_DIR in front of PATH.
set -u

bin_dir=$1
shift
work=$(mktemp -d)
trap 'chmod -R u+rwX "$work" 2>/dev/null; rm -rf "$work"' EXIT
export PATH="$bin_dir:$PATH" LC_ALL=C NO_COLOR=1
unset DMPROF_CONTROL XDG_RUNTIME_DIR 2>/dev/null
for variable in $(compgen -e | grep '^DM_'); do unset "$variable"; done

name="" ran=0 failed=0 skipped=0 wrong="" skip=""

begin() {
  name=$1 wrong="" status="" skip=""
  rm -rf "$work/home" "$work/data" "$work/run"
  mkdir -p "$work/home" "$work/data"
  mkdir -m 700 -p "$work/run"
  export HOME="$work/home" XDG_DATA_HOME="$work/data" XDG_RUNTIME_DIR="$work/run" OUT="$work/out" ERR="$work/err"
  : >"$OUT"
  : >"$ERR"
}

complain() { wrong+="    $1"$'\n'; }

finish() {
  [ -n "$name" ] || return 0
  if [ -n "$skip" ]; then
    skipped=$((skipped + 1))
    printf 'skipped %s: %s: %s\n' "$file" "$name" "$skip"
    name="" expected=0
    return 0
  fi
  if [ -z "$status" ]; then
    complain "it runs nothing: a test has a line \"run: COMMAND\""
  elif [ "$status" != "${expected:-0}" ]; then
    complain "exit status $status, not ${expected:-0}"
  fi
  ran=$((ran + 1))
  if [ -n "$wrong" ]; then
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n%s' "$file" "$name" "$wrong"
    sed 's/^/    stdout: /' "$OUT" | head -n 20
    sed 's/^/    stderr: /' "$ERR" | head -n 20
  fi
  name="" expected=0
}

for file in "$@"; do
  expected=0
  while IFS= read -r line || [ -n "$line" ]; do
    value=${line#*: }
    case $line in
      '' | '#'*) ;;
      'test: '*) finish; begin "$value" ;;
      *) [ -z "$skip" ] || continue ;;
    esac
    case $line in
      '' | '#'* | 'test: '*) ;;
      'needs: '*) (cd "$work/home" && eval "$value") >"$work/setup" 2>&1 || skip="not the case here: ${value##* # }" ;;
      'setup: '*) (cd "$work/home" && eval "$value") >"$work/setup" 2>&1 || complain "setup failed: $value: $(tail -n 2 "$work/setup")" ;;
      'run: '*) (cd "$work/home" && eval "$value") >"$OUT" 2>"$ERR" </dev/null; status=$? ;;
      'exit: '*) expected=$value ;;
      'out: '*) grep -Eq -e "$value" "$OUT" || complain "standard output has no line like: $value" ;;
      'err: '*) grep -Eq -e "$value" "$ERR" || complain "standard error has no line like: $value" ;;
      'not-out: '*) ! grep -Eq -e "$value" "$OUT" || complain "standard output must not have: $value" ;;
      'not-err: '*) ! grep -Eq -e "$value" "$ERR" || complain "standard error must not have: $value" ;;
      'one-error-line')
        [ "$(wc -l <"$ERR")" = 1 ] || complain "standard error is not one line"
        grep -q '^dmprof: ' "$ERR" || complain 'standard error does not begin with "dmprof: "' ;;
      'no-out') [ ! -s "$OUT" ] || complain "standard output is not empty" ;;
      'no-err') [ ! -s "$ERR" ] || complain "standard error is not empty" ;;
      'check: '*) (cd "$work/home" && eval "$value") >"$work/setup" 2>&1 || complain "check failed: $value: $(tail -n 2 "$work/setup")" ;;
      *) complain "the test file has a line that means nothing: $line" ;;
    esac
  done <"$file"
  finish
done
echo "$ran tests, $failed failed, $skipped skipped"
[ "$ran" -gt 0 ] && [ "$failed" -eq 0 ]
