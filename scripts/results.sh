#!/usr/bin/env bash
# The studies of the catalogue in their short forms, each into its page of docs/results: results.sh [--hours N] [STUDY…], all by
# default. Those whose page is missing or oldest come first; what takes longer than is left of the hours (3), by its plan and a
# quarter of it, is left for another time. A study that was cut short goes on where it was, and one that has its page from this
# commit is not repeated. Pages without marks are by hand and left alone. Nothing else may run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

hours=3
if [[ ${1:-} == --hours ]]; then
    hours=${2:-}
    shift 2 || true
fi
if ! [[ $hours =~ ^[0-9]+([.][0-9]+)?$ ]]; then
    echo "--hours takes a number of hours, such as 3 or 0.5" >&2
    exit 2
fi
budget_s=$(awk -v hours="$hours" 'BEGIN { printf "%d", hours * 3600 }')
pages=${PLIMSOLL_RESULTS:-docs/results}
all=(catalogue/studies/*.toml)
all=("${all[@]#catalogue/studies/}")
all=("${all[@]%.toml}")
wanted=("$@")
((${#wanted[@]})) || wanted=("${all[@]}")
for study in "${wanted[@]}"; do
    if [[ " ${all[*]} " != *" $study "* ]]; then
        echo "the catalogue has no study $study; studies: ${all[*]}" >&2
        exit 2
    fi
done
made_of=(crates catalogue servers Cargo.lock)
if [[ -n $(git status --porcelain -- "${made_of[@]}") ]]; then
    echo "there are changes that are not committed: a page says with which commit it was made; commit or stash them first" >&2
    exit 2
fi
commit=$(git log -1 --format=%h --abbrev=12 -- "${made_of[@]}")

scripts/toolchain.sh
echo "building the release binary (some minutes the first time)"
# Both at once: each by itself would have other features of what they share, and all of that is built twice.
cargo build --release --locked -p plimsoll -p bench
target=${CARGO_TARGET_DIR:-target}
plimsoll=$target/release/plimsoll
"$plimsoll" doctor --install --stack all || echo "not all servers are there: studies that need others are refused" >&2
# What was begun at this commit: what each study tells while it is measured, its id among it.
begun=$target/results/$commit
mkdir -p "$begun"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# day_of STUDY: when its page was made; nothing where there is none.
day_of() {
    [[ ! -e $pages/$1.md ]] || sed -n 's/^`plimsoll sweep .*, on \([0-9-]*\): .*/\1/p' "$pages/$1.md"
}

# id_of STUDY: that of the one that was begun at this commit.
id_of() {
    [[ ! -e $begun/$1.jsonl ]] || sed -n '/"kind":"study"/{s/.*"study":"\([^"]*\)".*/\1/p;q}' "$begun/$1.jsonl"
}

# field NAME: of the record or plan in $scratch/shown.json, where it stands by itself.
field() {
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$scratch/shown.json"
}

# show STUDY: its record, where it was begun at this commit and is still kept.
show() {
    local id
    id=$(id_of "$1")
    [[ -n $id ]] && "$plimsoll" show "$id" --json >"$scratch/shown.json" 2>/dev/null
}

# measure STUDY: to its end, with the tool's exit code.
measure() {
    if ! show "$1"; then
        "$plimsoll" sweep "$1" --progress-file "$begun/$1.jsonl"
    elif [[ $(field outcome) != completed ]]; then
        "$plimsoll" sweep --resume "$(id_of "$1")"
    fi
}

# left_s STUDY: seconds that it takes by its plan, without those that it took already; nothing where the tool refuses it, and
# why is in $scratch/why.
left_s() {
    local takes_s
    "$plimsoll" queue check --json sweep "$1" >"$scratch/shown.json" 2>/dev/null || true
    takes_s=$(field takes_s)
    sed -n 's/^ *"what": "\(.*\)",\{0,1\}$/\1/p' "$scratch/shown.json" >"$scratch/why"
    [[ ! -s $scratch/why && -n $takes_s ]] || return 0
    takes_s=${takes_s%.*}
    if show "$1"; then
        takes_s=$((takes_s - $(field spent_s | cut -d . -f 1)))
        [[ $(field outcome) != completed ]] || takes_s=0
    fi
    echo $((takes_s > 0 ? takes_s : 0))
}

mapfile -t wanted < <(for study in "${wanted[@]}"; do echo "$(day_of "$study") $study"; done | sort | sed 's/.* //')
outcomes=()
failed=0
for study in "${wanted[@]}"; do
    page=$pages/$study.md
    if [[ -e $page ]] && ! grep -qxF '<!-- measured: begin -->' "$page"; then
        outcomes+=("$study: its page is by hand")
        continue
    elif [[ -e $page ]] && grep -q "^\`plimsoll sweep .* of $commit, on " "$page"; then
        outcomes+=("$study: has its page from $commit already")
        continue
    fi
    takes_s=$(left_s "$study")
    if [[ -z $takes_s ]]; then
        outcomes+=("$study: refused: $(cat "$scratch/why")")
        continue
    # A plan has neither the trials that are measured again nor the stacks that are slow to settle.
    elif ((SECONDS + takes_s * 5 / 4 > budget_s)); then
        outcomes+=("$study: no time left for its $((takes_s / 60)) min")
        continue
    fi
    echo "== $study, about $((takes_s / 60)) min; $(((budget_s - SECONDS) / 60)) min are left"
    code=0
    measure "$study" || code=$?
    case $code in
    # 3: a cell has no result, and the page says so.
    0 | 3)
        if show "$study" && "$target/release/bench" study-page "$scratch/shown.json" --commit "$commit" --into "$page"; then
            outcomes+=("$study: written: $page")
        else
            outcomes+=("$study: measured, but its page could not be written")
            failed=1
        fi
        ;;
    105)
        echo "interrupted: the same command goes on with $study" >&2
        exit 105
        ;;
    *)
        outcomes+=("$study: failed with $code")
        failed=1
        ;;
    esac
done
echo "== results"
printf '   %s\n' "${outcomes[@]}"
exit "$failed"
