#!/usr/bin/env bash
# The whole gate, on a clean checkout as on a developer's machine. The debug profile, because it is built once for lint
# and tests together and carries the checks of overflow; dependencies are optimised (Cargo.toml), and no test asserts
# an absolute speed.
set -euo pipefail
cd "$(dirname "$0")/.."

begun=$SECONDS
stage_begun=$SECONDS
stage() {
    echo "== $1 (${2:-})" | sed 's/ ()$//'
    stage_begun=$SECONDS
}
done_in() {
    echo "== took $((SECONDS - stage_begun)) s, $((SECONDS - begun)) s in all"
}

stage "toolchain"
scripts/toolchain.sh
done_in

stage "lint" "format, clippy, house rules; alone: make lint"
scripts/lint.sh
done_in

stage "build" "cargo build --workspace --all-targets"
cargo build --workspace --all-targets --locked
done_in

stage "packages" "servers of all stacks, Chromium and Node.js for the report's tests"
stacks=()
for stack in catalogue/stacks/*.toml; do
    stacks+=(--stack "$(basename "$stack" .toml)")
done
"${CARGO_TARGET_DIR:-target}/debug/plimsoll" doctor --install "${stacks[@]}"
if ! command -v ip >/dev/null; then
    scripts/install.sh "a tier's own host is a network that iproute2 makes" iproute2
fi
if ! command -v chromium >/dev/null; then
    scripts/install.sh "the report is opened in a real browser" chromium
fi
if ! command -v node >/dev/null; then
    scripts/install.sh "the report's scripts have tests of their own" nodejs
fi
if ! command -v npm >/dev/null; then
    scripts/install.sh "the driver of the report's tests in a browser is an npm package" npm
fi
# Only the driver: the browser is Debian's.
npm ci --prefix crates/report/tests/browser --ignore-scripts --no-audit --no-fund --loglevel=error
peers=()
command -v wrk >/dev/null || peers+=(wrk)
command -v valgrind >/dev/null || peers+=(valgrind)
if ((${#peers[@]})); then
    scripts/install.sh "requests are counted beside wrk, instructions by callgrind" "${peers[@]}"
fi
done_in

shopt -s nullglob globstar
web_tests=(web/**/*.test.mjs)
if ((${#web_tests[@]})); then
    stage "web" "node --test web/"
    node --test "${web_tests[@]}"
    done_in
fi

stage "fuzz" "the reader of answers for 60 s; alone and longer: make fuzz"
scripts/fuzz.sh 60
done_in

stage "instructions" "of the generator for one request, beside their budgets; alone: make instructions"
scripts/instructions.sh
done_in

# Last, so that cargo's own closing lines close the gate.
stage "tests" "cargo test --workspace --locked"
exec cargo test --workspace --locked --no-fail-fast
