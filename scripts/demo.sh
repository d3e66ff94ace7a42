#!/usr/bin/env bash
# From a checkout to a true report: builds the release binary, installs the servers' packages, runs the kit.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/release.sh
plimsoll="${CARGO_TARGET_DIR:-target}/release/plimsoll"
"$plimsoll" doctor --install --stack apache-prefork-modphp-mariadb
exec "$plimsoll" run dvdstore
