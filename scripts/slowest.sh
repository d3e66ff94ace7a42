#!/usr/bin/env bash
# The slowest tests of the last `cargo nextest run`, in seconds: slowest.sh [HOW MANY], 40 by default.
set -euo pipefail
cd "$(dirname "$0")/.."

# Where nextest keeps it, whatever the target directory.
report=target/nextest/default/junit.xml
if [[ ! -f $report ]]; then
    echo "there is no $report: run make test first" >&2
    exit 2
fi
sed -n 's/.*<testcase name="\([^"]*\)" classname="\([^"]*\)".* time="\([0-9.]*\)".*/\3 \2 \1/p' "$report" |
    sort -rn | awk -v most="${1:-40}" 'NR <= most { printf "%7.1f  %s %s\n", $1, $2, $3 }'
