#!/usr/bin/env bash
# Which tests the gate runs, as an expression for nextest: all but those of the parts of `make test-long` below which
# nothing has changed since they passed. What is due and why goes to stderr.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/parts.sh

filter="not ($(tests_of soak))"
for part in lines servers fleet; do
    filter+=" & not ($(tests_of "$part"))"
done
for part in "${parts_of_gate[@]}"; do
    if why=$(due "$part"); then
        echo "$part is due: $why" >&2
    else
        filter+=" & not ($(tests_of "$part"))"
    fi
done
echo "$filter"
