#!/usr/bin/env bash
# Injects every fault of the catalogue on the real stacks and prints whether the diagnosis finds them; arguments go to
# `plimsoll faults`. Takes about 30 minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/release.sh
plimsoll="${CARGO_TARGET_DIR:-target}/release/plimsoll"
for kit in dvdstore events calendar tpcw static; do
    "$plimsoll" doctor --install --kit "$kit" --stack all
done
exec "$plimsoll" faults "$@"
