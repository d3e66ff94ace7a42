#!/usr/bin/env bash
# How the ledger of calls closes on every stack, at 1 user, at its load line and at 1.5 times it, and what counting costs:
# rows of docs/results/ledger.md. Nothing else may run meanwhile. Arguments: KIT/STACK=USERS[,cpu]…, the users at the line and
# what the web tier has of a CPU; by default the stacks of docs/results/load-lines.md that have a line. `cost` alone measures the cost only.
set -euo pipefail
cd "$(dirname "$0")/.."

page=docs/results/ledger.md
commit=$(git log -1 --format=%h --abbrev=12 -- crates catalogue Cargo.lock)
if [[ -n $(git status --porcelain -- crates catalogue Cargo.lock) ]]; then
    echo "there are changes that are not committed: a row is kept with its commit; commit or stash them first" >&2
    exit 2
fi
scripts/release.sh
cargo build --release --locked -p bench
target="${CARGO_TARGET_DIR:-target}/release"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# | kit | stack | load line N users … with the web tier held to 10 % of a CPU …: the pair, the number, whose groups are parted by
# spaces that are no ASCII, and the CPU.
lines() {
    local row='^| \([a-z0-9]*\) | \([a-z0-9-]*\) | load line \([^u]*\) users '
    sed -n -e "s/${row}.*held to \([0-9]*\) % of a CPU.*/\1\/\2=\3,0.\4/p" -e t -e "s/${row}.*/\1\/\2=\3/p" docs/results/load-lines.md |
        LC_ALL=C sed 's/[^-a-z0-9=,.\/]//g'
}

# cost: twelve pairs of runs that take turns, and as many without counting in both.
cost() {
    local kind runs number calls
    for kind in auto off; do
        runs=()
        for ((number = 1; number <= 12; number++)); do
            for calls in off "$kind"; do
                runs+=("$scratch/$kind-$number-$calls-${#runs[@]}.json")
                "$target/plimsoll" run static --stack nginx --size quick --users 400 --ramp-up 2s --steady 10s --ramp-down 0s \
                    --count-calls "$calls" --json > "${runs[-1]}" || [[ $? == 3 || $? == 99 ]]
            done
        done
        echo "off against $kind:"
        "$target/bench" ledger-cost "${runs[@]}"
    done
}

if [[ ${1:-} == cost ]]; then
    cost
    exit
fi
# The sizes of a kit's data: the one by default, which has no name here, and the larger ones that its find goes on with.
sizes() {
    echo
    sed -n '/^larger_sizes/,/\]/p' "catalogue/kits/$1/kit.toml" | grep -o '"[^"]*"' | tr -d '"'
}

pairs=("$@")
((${#pairs[@]})) || mapfile -t pairs < <(lines)
for pair in "${pairs[@]}"; do
    kit=${pair%%/*} rest=${pair#*/}
    stack=${rest%=*} line=${rest#*=}
    held=()
    [[ $line != *,* ]] || held=(--set "web.cgroup.cpu=${line#*,}")
    line=${line%,*}
    "$target/plimsoll" doctor --install --kit "$kit" --stack "$stack"
    mapfile -t sizes < <(sizes "$kit")
    # The largest load first: the others have the data that it needs.
    for load in $((line * 3 / 2)) "$line" 1; do
        case $load in
        1) name="1 user" ;;
        "$line") name="at the line" ;;
        *) name="1.5 times it" ;;
        esac
        while :; do
            echo "== $pair, $name, with data ${sizes[0]:-by default}"
            # A run that fails its targets, or is not valid above the line, has a ledger all the same.
            code=0
            "$target/plimsoll" run "$kit" --stack "$stack" ${sizes[0]:+--size "${sizes[0]}"} "${held[@]}" --users "$load" \
                --ramp-up 10s --steady 30s --json > "$scratch/run.json" || code=$?
            # Refused: there are data for fewer users.
            ((code == 2 && ${#sizes[@]} > 1)) || break
            sizes=("${sizes[@]:1}")
        done
        case $code in
        0 | 3 | 99) "$target/bench" ledger "$scratch/run.json" --load "$name" --commit "$commit" --into "$page" ;;
        *) echo "no row: the run ended with $code" >&2 ;;
        esac
    done
done
