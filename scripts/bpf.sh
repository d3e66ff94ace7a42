#!/usr/bin/env bash
# Builds the kernel's programs, those that count calls (crates/observe/bpf) and the one that makes packets cost CPU time
# (crates/testbed/bpf), with Debian's clang 14. The objects are kept in the repository, so that nobody else needs a compiler for
# them; --check builds them again and compares the bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
command -v clang-14 >/dev/null || missing+=(clang-14)
command -v llvm-strip-14 >/dev/null || missing+=(llvm-14)
[[ -e /usr/include/bpf/bpf_helpers.h ]] || missing+=(libbpf-dev)
if ((${#missing[@]})); then
    scripts/install.sh "the compiler of the kernel's programs" "${missing[@]}"
fi

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for source in crates/observe/bpf/ledger.bpf.c crates/testbed/bpf/toll.bpf.c; do
    name=$(basename "$source" .c) folder=$(dirname "$source")
    # Without the directory's name in it, so that the same source gives the same bytes everywhere. Headers of the kernel's interface
    # are in a directory of the machine's architecture, which none of the programs depends on.
    (cd "$folder" && clang-14 -g -O2 -Wall -Werror -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 "-I/usr/include/$(uname -m)-linux-gnu" \
        -ffile-prefix-map="$PWD"=. -fdebug-compilation-dir=. -c "$name.c" -o "$built/$name.o")
    # CO-RE needs the types (.BTF), nobody the rest of the debugger's.
    llvm-strip-14 --strip-debug "$built/$name.o"
    if [[ ${1:-} == --check ]]; then
        cmp "$built/$name.o" "$folder/$name.o" || {
            echo "$name.o is not what $name.c gives: run scripts/bpf.sh and commit it" >&2
            exit 1
        }
        echo "$name.o is what $name.c gives"
    else
        cp "$built/$name.o" "$folder/$name.o"
    fi
done
