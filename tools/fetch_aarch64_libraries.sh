#!/usr/bin/env bash
# Unpacks the arm64 packages of the libraries that the tests need, and links FOLDER to them. Nothing is installed, and
# apt's own lists are unchanged: a second architecture would change apt for the whole machine.
# Usage: tools/fetch_aarch64_libraries.sh FOLDER
set -eu

link=$1
packages=(libhwy-dev libhwy1 libgtest-dev libgmock-dev nlohmann-json3-dev)

for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: the arm64 libraries come from Debian's packages" >&2; exit 1; }
done

# This machine's versions of the packages determine the release; a new version of one of them makes a new folder.
versions=$(dpkg-query -W -f '${Package} ${Version}\n' "${packages[@]}" 2>/dev/null || true)
key=$(echo "${packages[*]} $versions" | sha256sum | cut -c 1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/backslice/aarch64
libraries=$cache/$key

apt_arm64() {  # apt_arm64 FOLDER ARGUMENT...: apt-get with its state in the folder
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User="$(id -un)" \
    -o Dir::State="$1/state" -o Dir::State::status="$1/state/status" -o Dir::Cache="$1/cache" "${@:2}"
}

download() (  # download FOLDER: the packages, into the folder
  mkdir -p "$1/state/lists/partial" "$1/cache/archives/partial" && : > "$1/state/status" && cd "$1" &&
    apt_arm64 "$1" update && apt_arm64 "$1" download "${packages[@]}"
)

if [ ! -d "$libraries" ]; then
  mkdir -p "$cache"
  unfinished=$(mktemp -d "$cache/unfinished.XXXXXX")
  trap 'rm -rf "$unfinished"' EXIT
  echo "Fetching the arm64 packages ${packages[*]}"
  if ! download "$unfinished" > "$unfinished/log" 2>&1; then
    cat "$unfinished/log" >&2
    echo "could not fetch the arm64 packages (apt's messages are above): apt must reach a Debian archive that has arm64" >&2
    exit 1
  fi
  for package in "$unfinished"/*.deb; do dpkg-deb -x "$package" "$unfinished/root"; done
  mv "$unfinished/root" "$libraries"
fi

mkdir -p "$(dirname "$link")"
ln -sfn "$libraries" "$link"
