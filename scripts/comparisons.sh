#!/usr/bin/env bash
# Comparisons whose right answer is known, on the real default stack of DVD Store: nothing planted, and pages that
# compute for about 5 or 15 % of an operation's time more. Prints each answer; the studies are kept below
# $PLIMSOLL_HOME, and `bench resample STUDY/study.json...` says how often such blocks are judged rightly. Takes up to
# a quarter of an hour for each; arguments: how many of each (4), and which (same 5% 15%).
set -euo pipefail
cd "$(dirname "$0")/.."

count="${1:-4}"
shift || true
kinds=("$@")
[ ${#kinds[@]} -gt 0 ] || kinds=(same 5% 15%)
# Half of what an operation takes here by itself, in µs: of 142 µs planted into each page the mean grew by 290.
mean_us="${MEAN_US:-470}"

scripts/release.sh
plimsoll="${CARGO_TARGET_DIR:-target}/release/plimsoll"
"$plimsoll" doctor --install --kit dvdstore
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT

# Every page begins with this much computing.
plant() { # percent
    local file=kits/dvdstore/app/ds2/store.php nanoseconds=$(("$1" * mean_us * 10))
    mkdir -p "$planted/$1/$(dirname $file)"
    awk -v ns="$nanoseconds" '{ print } /^declare\(strict_types=1\);/ {
        print "for ($until = hrtime(true) + " ns "; hrtime(true) < $until;) {\n}"
    }' "catalogue/$file" > "$planted/$1/$file"
}

for ((number = 1; number <= count; number++)); do
    for kind in "${kinds[@]}"; do
        case $kind in
        same) arguments=(default --band 5%) ;;
        *) plant "${kind%\%}" && arguments=("catalogue:$planted/${kind%\%}") ;;
        esac
        echo "== $kind, $number of $count"
        "$plimsoll" compare default "${arguments[@]}" --kit dvdstore --seed "$number" > "$planted/answer"
        head -4 "$planted/answer"
    done
done
