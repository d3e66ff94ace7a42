#!/usr/bin/env bash
# From a checkout to a true report: builds the release binary, installs the servers' packages, runs the kit.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/toolchain.sh
echo "building the release binary (some minutes the first time)"
cargo build --release --locked -p plimsoll

plimsoll="${CARGO_TARGET_DIR:-target}/release/plimsoll"
"$plimsoll" doctor --install --stack apache-prefork-modphp-mariadb
exec "$plimsoll" run dvdstore
