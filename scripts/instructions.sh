#!/usr/bin/env bash
# Instructions a request of the generator's hot path, counted by callgrind, beside their budgets.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/toolchain.sh
if ! command -v valgrind >/dev/null; then
    scripts/install.sh "instructions are counted by callgrind" valgrind
fi
cargo build --release --locked -p bench
built="${CARGO_TARGET_DIR:-target}/release"
exec "$built/bench" instructions --hotpath "$built/hotpath" --budgets benches/instructions.toml
