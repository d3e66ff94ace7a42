#!/usr/bin/env bash
# Draws bottlenecks that nobody has looked at, puts each into its stack, and prints whether the diagnosis finds it: about 45 s each.
# Arguments go to `bench blind`: --seed N to tune on; without it they are drawn from the commit that is checked out, which is what is
# reported. The faults and the table are kept in target/blind.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/release.sh
cargo build --release --locked -p bench
target="${CARGO_TARGET_DIR:-target}/release"
folder="$(dirname "$target")/blind"
rm -rf "$folder"
mapfile -t plants < <("$target/bench" blind --into "$folder" "$@")
((${#plants[@]})) || exit 2
for kit in dvdstore events calendar tpcw static; do
    "$target/plimsoll" doctor --install --kit "$kit" --stack all
done
# 99: the marks are not met. The table is printed all the same.
code=0
"$target/plimsoll" faults --catalogue "$folder" "${plants[@]}" --json > "$folder/table.json" || code=$?
case $code in
0 | 99) "$target/bench" blind-table "$folder" ;;
*) exit "$code" ;;
esac
