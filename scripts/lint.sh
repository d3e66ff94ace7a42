#!/usr/bin/env bash
# Formatting, clippy and the house rules. Each failure says how to repeat or mend it.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/toolchain.sh
cargo fmt --all -- --check || { echo "mend it with: cargo fmt --all" >&2; exit 1; }
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo test --locked --quiet -p tidy
