#!/usr/bin/env bash
# Builds the last commit in two fresh clones, the second without the compiler cache, and compares the wheels and the
# source packages byte by byte.
set -eu
cd "$(dirname "$0")/.."
git diff --quiet HEAD || echo "*** changes that are not committed are left out ***"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

build() {  # build NAME [VARIABLE=VALUE...]
  git clone -q . "$folder/$1"
  env "${@:2}" make --no-print-directory -C "$folder/$1" wheel
}

build first
build the-second-one CCACHE_DISABLE=1
code=0
for file in "$folder"/first/dist/backslice-*; do
  cmp "$file" "$folder/the-second-one/dist/${file##*/}" || code=1
  sha256sum "$file" | sed "s#$folder/first/##"
done
exit "$code"
