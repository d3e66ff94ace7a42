#!/usr/bin/env bash
# What it takes to build: Rust, which is never installed from here, and a C compiler and linker, which are.
set -euo pipefail
cd "$(dirname "$0")/.."

wanted=$(sed -n 's/^rust-version = "\([0-9.]*\)"$/\1/p' Cargo.toml)
how="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y && . ~/.cargo/env"

if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
    echo "Rust $wanted or newer is missing; get it with: $how" >&2
    exit 2
fi
found=$(rustc --version | cut -d ' ' -f 2)
if [[ $(printf '%s\n%s\n' "$wanted" "${found%%-*}" | sort -V | head -n 1) != "$wanted" ]]; then
    echo "Rust $found is too old, $wanted or newer is needed; get it with: $how" >&2
    exit 2
fi

if ! command -v cc >/dev/null; then
    scripts/install.sh "a C compiler, for SQLite and Lua, which are built from source" gcc libc6-dev
fi
