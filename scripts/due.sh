#!/usr/bin/env bash
# Which tests the gate runs beside those that it always runs, as an expression for nextest: conformance of the kits which,
# with their services or the rooms below them, have changed since docs/test-long.md was written, and simulations where the
# mathematics have. Which and why goes to stderr.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/parts.sh

filter="none()"
for part in simulations "${kits[@]/#/conformance-}"; do
    if why=$(due "$part"); then
        echo "$part is due: $why" >&2
        filter+=" | ($(tests_of "$part"))"
    fi
done
echo "$filter"
