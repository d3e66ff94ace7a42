#!/usr/bin/env bash
# The release binary, target/release/plimsoll, with the toolchain that it needs.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/toolchain.sh
echo "building the release binary (some minutes the first time)"
cargo build --release --locked -p plimsoll
