#!/usr/bin/env bash
# Formatting and clippy. Each failure says how to repeat or mend it.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fmt --all -- --check || { echo "mend it with: cargo fmt --all" >&2; exit 1; }
cargo clippy --workspace --all-targets --locked -- -D warnings

# A server that a stack builds from its sources is a workspace of its own.
flash=(--manifest-path servers/flash/Cargo.toml)
cargo fmt "${flash[@]}" -- --check || { echo "mend it with: cargo fmt ${flash[*]}" >&2; exit 1; }
cargo clippy "${flash[@]}" --target-dir "${CARGO_TARGET_DIR:-target}/servers" --all-targets --locked -- -D warnings
