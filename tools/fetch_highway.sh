#!/usr/bin/env bash
# Unpacks the sources of Highway, from Debian's source package, into the user's cache folder, and prints that folder.
# Nothing is installed, and apt's own lists are unchanged.
# Usage: tools/fetch_highway.sh
set -eu

cache=${XDG_CACHE_HOME:-$HOME/.cache}/backslice/highway
command -v apt-get >/dev/null || {
  echo "apt-get is missing: Highway's sources come from Debian's source package. Elsewhere, unpack them yourself and name" \
    "their folder in BACKSLICE_HIGHWAY_SOURCE" >&2
  exit 1
}
# This release of Debian has one version of Highway; another release makes another folder.
key=$(. /etc/os-release && echo "$ID-$VERSION_ID")
sources=$cache/$key

download() (  # download FOLDER: gets the source package into the folder, from the machine's own package sources
  mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial" "$1/lists" && : > "$1/state/status" && cd "$1"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" > "lists/$(basename "$file" .list).list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" > "lists/$(basename "$file")"
  done
  apt_source() {
    apt-get -q -o APT::Sandbox::User="$(id -un)" -o Dir::State="$1/state" -o Dir::State::status="$1/state/status" \
      -o Dir::Cache="$1/cache" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$1/lists" "${@:2}"
  }
  apt_source "$1" update && apt_source "$1" source --download-only highway
)

if [ ! -d "$sources" ]; then
  mkdir -p "$cache"
  unfinished=$(mktemp -d "$cache/unfinished.XXXXXX")
  trap 'rm -rf "$unfinished"' EXIT
  if ! download "$unfinished" > "$unfinished/log" 2>&1; then
    cat "$unfinished/log" >&2
    echo "could not fetch Highway's sources (apt's messages are above): apt must reach a Debian archive with sources" >&2
    exit 1
  fi
  mkdir "$unfinished/root"
  tar -xf "$unfinished"/highway_*.orig.tar.* -C "$unfinished/root" --strip-components=1
  mv -T "$unfinished/root" "$sources" 2>/dev/null || [ -d "$sources" ]  # another process may have been faster
fi
echo "$sources"
