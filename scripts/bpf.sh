#!/usr/bin/env bash
# Builds the programs that count calls in the kernel (crates/observe/bpf), with Debian's clang 14. The object is kept in
# the repository, so that nobody else needs a compiler for it; --check builds it again and compares the bytes.
set -euo pipefail
cd "$(dirname "$0")/../crates/observe/bpf"

missing=()
command -v clang-14 >/dev/null || missing+=(clang-14)
command -v llvm-strip-14 >/dev/null || missing+=(llvm-14)
[[ -e /usr/include/bpf/bpf_helpers.h ]] || missing+=(libbpf-dev)
if ((${#missing[@]})); then
    ../../../scripts/install.sh "the compiler of the kernel's programs" "${missing[@]}"
fi

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
# Without the directory's name in it, so that the same source gives the same bytes everywhere.
clang-14 -g -O2 -Wall -Werror -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 -ffile-prefix-map="$PWD"=. \
    -fdebug-compilation-dir=. -c ledger.bpf.c -o "$built/ledger.bpf.o"
# CO-RE needs the types (.BTF), nobody the rest of the debugger's.
llvm-strip-14 --strip-debug "$built/ledger.bpf.o"

if [[ ${1:-} == --check ]]; then
    cmp "$built/ledger.bpf.o" ledger.bpf.o || {
        echo "ledger.bpf.o is not what ledger.bpf.c gives: run scripts/bpf.sh and commit it" >&2
        exit 1
    }
    echo "ledger.bpf.o is what ledger.bpf.c gives"
else
    cp "$built/ledger.bpf.o" ledger.bpf.o
fi
