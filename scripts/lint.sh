#!/usr/bin/env bash
# Formatting, clippy and the house rules, without a test of the product.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/toolchain.sh
scripts/clippy.sh
# With the whole workspace's features, so that nothing is built twice.
cargo test --workspace --locked --quiet --test repository --test scripts
