#!/usr/bin/env bash
# What tests noted of themselves (crates/testkit/src/ending.rs): how many were skipped, asserted a refusal, or could not
# judge. A thing that was not judged is no pass: none is allowed of the tests of truth, three of all others.
set -euo pipefail

notes=$1
allowed=3

# of KIND: its lines, `TEST: WHY`.
of() {
    awk -F '\t' -v kind="$1" '$1 == kind { print "   " $2 ": " substr($3, 1, 300) }' "$notes"
}
count() {
    of "$1" | wc -l
}
truth=$(count "not judged (truth)") other=$(count "not judged")
echo "not judged: $truth of the tests of truth (0 are allowed), $other others ($allowed are allowed); skipped: $(count skipped); refusals asserted: $(count refused)"
of "not judged (truth)"
of "not judged"
of "skipped"
of "refused"
if ((truth > 0 || other > allowed)); then
    echo "the machine was too busy to judge them: repeat on a calmer one" >&2
    exit 1
fi
