#!/usr/bin/env bash
# The load line of every kit on every stack that it runs on, each found with nothing else said: load-lines.sh [KIT/STACK…]. A
# find's row goes into docs/results/load-lines.md as it ends; where no pair is named, those that have no row yet are found.
# Up to a quarter of an hour each; nothing else may run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/.."

page=docs/results/load-lines.md
commit=$(git log -1 --format=%h --abbrev=12 -- crates catalogue Cargo.lock)
if [[ -n $(git status --porcelain -- crates catalogue Cargo.lock) ]]; then
    echo "there are changes that are not committed: a line is kept with its commit; commit or stash them first" >&2
    exit 2
fi

# Stacks with all that the kit needs, without a cache that nobody asks.
pairs() {
    local kit needs stack provides need
    for kit in catalogue/kits/*/kit.toml; do
        needs=$(sed -n 's/^needs = //p' "$kit")
        for stack in catalogue/stacks/*.toml; do
            provides=$(sed -n 's/^provides = //p' "$stack")
            [[ $provides == *'"cache"'* && $needs != *'"cache"'* ]] && continue
            for need in $(tr -d '[],' <<<"$needs"); do
                # Extensions of PHP come with it.
                [[ $need != '"php+'* ]] || need='"web+php"'
                [[ $provides == *"$need"* ]] || continue 2
            done
            echo "$(basename "$(dirname "$kit")")/$(basename "$stack" .toml)"
        done
    done
}

all=$(pairs)
for pair in "$@"; do
    grep -qxF "$pair" <<<"$all" || {
        echo "$pair is no kit with a stack that it runs on; there are:" $all >&2
        exit 2
    }
done
scripts/release.sh
cargo build --release --locked -p bench
target="${CARGO_TARGET_DIR:-target}/release"
"$target/plimsoll" doctor --install --stack all
wanted=("$@")
((${#wanted[@]})) || mapfile -t wanted < <(while read -r pair; do
    grep -qF "| ${pair%/*} | ${pair#*/} | " "$page" || echo "$pair"
done <<<"$all")
study=$(mktemp)
trap 'rm -f "$study"' EXIT
for pair in "${wanted[@]}"; do
    echo "== $pair"
    code=0
    "$target/plimsoll" find "${pair%/*}" --stack "${pair#*/}" --json >"$study" || code=$?
    # 0: a line, 3: none that can be stood behind; a row is made of both.
    [[ $code == 0 || $code == 3 ]] || exit "$code"
    "$target/bench" load-line "$study" --commit "$commit" --into "$page"
done
