#!/usr/bin/env bash
# The whole gate, on a clean checkout as on a developer's machine. The dev profile, because it is built once for lint and
# tests together and carries the checks of overflow; what is hot is optimised (Cargo.toml), and no test asserts an
# absolute speed. What takes longer is in scripts/test-long.sh; the last lines say how old its outcome is.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh

target=${CARGO_TARGET_DIR:-target}
scratch=$(mktemp -d)
# Servers run as a user of their own and must be able to enter.
chmod 755 "$scratch"
clean_up() {
    rm -rf "$scratch"
}
# What is built once is built quicker so: for rustls and the tests of the engine a third of the time.
[[ ${CI:-} != true ]] || export CARGO_INCREMENTAL=0
export PLIMSOLL_TEST_ROOT=$scratch/tests PLIMSOLL_TEST_ENDINGS=$scratch/endings
touch "$PLIMSOLL_TEST_ENDINGS"

stage "toolchain"
scripts/toolchain.sh
scripts/nextest.sh
PATH=$PATH:$(scripts/nextest.sh --path)

# Packages are fetched while the compiler works.
scripts/packages.sh </dev/null >"$scratch/packages.log" 2>&1 &
packages=$!

stage "lint" "format and clippy; with the house rules alone: make lint"
scripts/clippy.sh

stage "build" "cargo build --workspace --all-targets"
cargo build --workspace --all-targets --locked

stage "packages" "servers of all stacks, Chromium and Node.js for the report's tests"
wait "$packages" || { cat "$scratch/packages.log" >&2; exit 2; }
cat "$scratch/packages.log"
"$target/debug/plimsoll" doctor --install --stack all

shopt -s nullglob globstar
# Not those below node_modules: what others wrote.
web_tests=(web/*.test.mjs web/laboratory/*.test.mjs)
if ((${#web_tests[@]})); then
    stage "web" "node --test web/"
    node --test "${web_tests[@]}"
fi

stage "servers" "cargo test in servers/flash: a stack builds it from its sources"
cargo test --manifest-path servers/flash/Cargo.toml --target-dir "$target/servers" --locked --quiet

. scripts/parts.sh
if why=$(due fuzz); then
    stage "fuzz" "the readers of answers and of requests for 20 s each: $why; alone and longer: make fuzz"
    scripts/fuzz.sh 20
fi
if why=$(due instructions); then
    stage "instructions" "of the generator for one request: $why; of the release build: make instructions"
    "$target/debug/bench" instructions --hotpath "$target/debug/hotpath" --budgets benches/instructions.toml --profile dev
fi

stage "tests" "cargo nextest run --workspace, without what passed in make test-long and covers nothing that changed since"
cargo nextest run --workspace --locked --ignore-default-filter -E "$(scripts/due.sh)"

all_stages_done
scripts/endings.sh "$PLIMSOLL_TEST_ENDINGS"
scripts/test-long.sh --age
