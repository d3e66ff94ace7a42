#!/usr/bin/env bash
# Comparisons whose right answer is known, on the real default stack of DVD Store: nothing planted, and pages that
# compute for about 5 or 15 % of an operation's time more. Each answer's row goes into docs/results/comparisons.md as it ends;
# those that have a row are left out. The studies are kept below $PLIMSOLL_HOME, and `bench resample STUDY/study.json...` says
# how often such blocks are judged rightly. Takes up to a quarter of an hour for each, and nothing else may run meanwhile;
# arguments: how many of each (4), and which (same 5% 15%).
set -euo pipefail
cd "$(dirname "$0")/.."

count="${1:-4}"
shift || true
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(same 5% 15%)

# Of each nanosecond planted in a page the mean operation becomes so many longer: it has two pages, and what one computes others
# wait for. Seven blocks with 184 µs gave 3.9, twelve with 61 µs 3.5; with CPUs twice as fast 2.0 was measured.
longer_by="${LONGER_BY:-3.8}"
page=docs/results/comparisons.md
commit=$(git log -1 --format=%h --abbrev=12 -- crates catalogue Cargo.lock)
if [[ -n $(git status --porcelain -- crates catalogue Cargo.lock) ]]; then
    echo "there are changes that are not committed: an answer is kept with its commit; commit or stash them first" >&2
    exit 2
fi

scripts/release.sh
cargo build --release --locked -p bench
target="${CARGO_TARGET_DIR:-target}/release"
plimsoll="$target/plimsoll"
"$plimsoll" doctor --install --kit dvdstore
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT

# What a mean operation takes as things are, in seconds: a machine that shares its host is half as fast on another day.
"$plimsoll" run dvdstore --users 20 --steady 60 --json > "$planted/run.json"
mean_s=$(sed -n 's/^ *"response_s": \([0-9.e-]*\),*$/\1/p' "$planted/run.json" | head -n 1)

# Every page begins with computing, for so long that the mean operation becomes about that share longer.
plant() { # percent
    local file=kits/dvdstore/app/ds2/store.php nanoseconds
    nanoseconds=$(awk -v mean="$mean_s" -v percent="$1" -v longer="$longer_by" \
        'BEGIN { printf "%d", mean * 1e9 * percent / 100 / longer }')
    mkdir -p "$planted/$1/$(dirname $file)"
    awk -v ns="$nanoseconds" '{ print } /^declare\(strict_types=1\);/ {
        print "for ($until = hrtime(true) + " ns "; hrtime(true) < $until;) {\n}"
    }' "catalogue/$file" > "$planted/$1/$file"
    echo "B's pages compute for $nanoseconds ns more, of operations that take $mean_s s" >&2
}

for ((number = 1; number <= count; number++)); do
    for kind in "${kinds[@]}"; do
        grep -qF "| $kind | $number | " "$page" && continue
        case $kind in
        same) arguments=(default --band 5%) ;;
        *)
            plant "${kind%\%}"
            arguments=("catalogue:$planted/${kind%\%}")
            ;;
        esac
        echo "== $kind, $number of $count"
        "$plimsoll" compare default "${arguments[@]}" --kit dvdstore --seed "$number" --json > "$planted/study.json"
        "$target/bench" comparison "$planted/study.json" --planted "$kind" --commit "$commit" --into "$page"
    done
done
