#!/usr/bin/env bash
# What the gate has no time for: test-long.sh [PART…], all parts by default. Each part's outcome goes into
# docs/test-long.md as it ends, so that a run that was cut short goes on where it was: what has passed at this commit is
# not repeated. --age says which parts are older than what they cover, and never fails.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/parts.sh

if [[ ${1:-} == --age ]]; then
    for part in "${parts[@]}"; do
        if why=$(due "$part"); then
            echo "make test-long is due: $part ($why)"
        fi
    done
    exit 0
fi

. scripts/stages.sh
target=${CARGO_TARGET_DIR:-target}
wanted=("$@")
((${#wanted[@]})) || wanted=("${parts[@]}")
for part in "${wanted[@]}"; do
    covers "$part" >/dev/null
done
if [[ -n $(git status --porcelain -- . ":!$record") ]]; then
    echo "there are changes that are not committed: an outcome is recorded with its commit; commit or stash them first" >&2
    exit 2
fi
commit=$(git log -1 --format=%h --abbrev=12 -- . ":!$record")
scratch=$(mktemp -d)
chmod 755 "$scratch"
clean_up() {
    rm -rf "$scratch"
}
export PLIMSOLL_TEST_ROOT=$scratch/tests PLIMSOLL_TEST_ENDINGS=$scratch/endings

machine() {
    local model
    model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
    echo "$(nproc) × ${model:-$(uname -m)}, $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), kernel $(uname -r)"
}

# Puts a part's row in the place of its old one, in the order of the parts.
write() {
    local of_parts one
    of_parts="^\\| ($(IFS='|'; echo "${parts[*]}")) \\|"
    {
        grep -v -E "$of_parts" "$record"
        for one in "${parts[@]}"; do
            if [[ $one == "$1" ]]; then
                echo "$2"
            else
                grep "^| $one |" "$record" || true
            fi
        done
    } >"$scratch/record"
    cp "$scratch/record" "$record"
}

nextest() {
    cargo nextest run --locked --workspace --ignore-default-filter -E "$1"
}

run() {
    case $1 in
        instructions) scripts/instructions.sh ;;
        simulations) PLIMSOLL_FULL_LENGTH=1 nextest "$(tests_of simulations)" ;;
        faults) scripts/faults.sh ;;
        cgroup2) scripts/guest.sh ;;
        bpf) scripts/bpf.sh --check ;;
        delays) scripts/delays.sh --check ;;
        fuzz) scripts/fuzz.sh 1200 ;;
        *) nextest "$(tests_of "$1")" ;;
    esac
}

scripts/toolchain.sh
scripts/nextest.sh
PATH=$PATH:$(scripts/nextest.sh --path)
scripts/packages.sh
cargo build --locked -p plimsoll
"$target/debug/plimsoll" doctor --install --stack all

failed=()
for part in "${wanted[@]}"; do
    if [[ $(recorded "$part" 3) == passed && $(recorded "$part" 5) == "$commit" ]]; then
        echo "== $part has passed at $commit already"
        continue
    fi
    stage "$part"
    part_begun=$SECONDS
    : >"$PLIMSOLL_TEST_ENDINGS"
    outcome=passed
    { run "$part" && scripts/endings.sh "$PLIMSOLL_TEST_ENDINGS"; } || { outcome=failed; failed+=("$part"); }
    write "$part" "| $part | $outcome | $(date -u +%F) | $commit | $(((SECONDS - part_begun + 59) / 60)) min | $(machine) |"
done
all_stages_done
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}" >&2
    exit 1
fi
