#!/usr/bin/env bash
# Runs a command as a named stage: reports its start, every ten seconds that it still runs, and its time. With
# STAGE_TIMES=FILE the name and the time are appended to that file; `.ci/run` prints it as a table.
# Usage: tools/stage.sh NAME COMMAND [ARGUMENT...]
name=$1
shift
unset MAKEFLAGS  # rustc would ask for make's jobs, which are not passed on
echo "== $name"
SECONDS=0
( while sleep 10; do echo "   $name: ${SECONDS} s"; done ) &
clock=$!
trap 'kill "$clock" 2>/dev/null' EXIT
"$@"
code=$?
result=done
[ "$code" -eq 0 ] || result="FAILED (exit code $code)"
echo "== $name: $result in $SECONDS s"
[ -z "${STAGE_TIMES-}" ] || printf '%-48s %6d s  %s\n' "$name" "$SECONDS" "$result" >> "$STAGE_TIMES"
exit "$code"
