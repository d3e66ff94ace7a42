#!/usr/bin/env bash
# Builds what makes a server's waits longer (crates/testbed/delays), with Debian's clang 14. The library is kept in the repository, so
# that nobody else needs a compiler for it; --check builds it again and compares the bytes.
set -euo pipefail
cd "$(dirname "$0")/../crates/testbed/delays"

command -v clang-14 >/dev/null || ../../../scripts/install.sh "the compiler of what is preloaded" clang-14

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
# As old a C library as it can do with: nothing in it is newer than 2.34.
clang-14 -O2 -Wall -Werror -fPIC -shared -s -Wl,--build-id=none -ffile-prefix-map="$PWD"=. delays.c -o "$built/delays.so"

if [[ ${1:-} == --check ]]; then
    cmp "$built/delays.so" delays.so || {
        echo "delays.so is not what delays.c gives: run scripts/delays.sh and commit it" >&2
        exit 1
    }
    echo "delays.so is what delays.c gives"
else
    install -m 644 "$built/delays.so" delays.so
fi
