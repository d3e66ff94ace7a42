#!/usr/bin/env bash
# Coverage-guided fuzzing of the reader of responses and of flash's reader of requests: scripts/fuzz.sh [SECONDS [TARGET]],
# 300 for each by default. libFuzzer comes as a crate and is built with the C++ compiler; the coverage is that of the stable
# compiler. A fault leaves its input in target/fuzz/artifacts/, and what was learnt is in target/fuzz/corpus/ for the next time.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-300}
targets=("${2:-response}")
[[ $# -ge 2 ]] || targets+=(request)
host=$(rustc -vV | sed -n 's/^host: //p')

# Where it can't run it is not run, and says so; the gate must not go on as if it had.
cannot() {
    echo "fuzzing is left out: $1" >&2
    [[ ${CI:-} != true ]] || exit 1
    exit 0
}
[[ $host == *-linux-gnu ]] || cannot "libFuzzer is built here for Linux only, and this is $host"
if ! command -v c++ >/dev/null; then
    scripts/install.sh "libFuzzer is built from source" g++ || cannot "there is no C++ compiler"
fi

out=${CARGO_TARGET_DIR:-target}/fuzz
coverage=(--cfg fuzzing -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares)
# With a target named, build scripts and macros are built without these flags.
RUSTFLAGS="${coverage[*]}" CARGO_TARGET_DIR=$out \
    cargo build --manifest-path fuzz/Cargo.toml --locked --release --target "$host"

for target in "${targets[@]}"; do
    mkdir -p "$out/corpus/$target" "$out/artifacts"
    "$out/$host/release/$target" "$out/corpus/$target" "fuzz/corpus/$target" \
        -max_total_time="$seconds" -max_len=4096 -timeout=5 -rss_limit_mb=512 -malloc_limit_mb=8 \
        -use_value_profile=1 -print_final_stats=1 -verbosity=1 -artifact_prefix="$out/artifacts/$target-"
done
