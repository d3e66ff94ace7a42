#!/usr/bin/env bash
# Formatting and clippy. Each failure says how to repeat or mend it.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --all -- --check || { echo "mend it with: cargo fmt --all" >&2; exit 1; }
cargo clippy --workspace --all-targets --locked -- -D warnings
