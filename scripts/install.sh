#!/usr/bin/env bash
# Installs Debian packages: install.sh WHY PACKAGE…; says what and why first, and without root or sudo prints the line
# for an administrator and ends with 2. Servers are not installed from here: `plimsoll doctor --install` knows which.
set -euo pipefail

why=$1
shift
line=(apt-get install --yes --no-install-recommends "$@")

echo "installing $*: $why"
if ! command -v apt-get >/dev/null; then
    echo "there is no apt-get here; install by other means: $*" >&2
    exit 2
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
        echo "root is needed; ask an administrator to run: ${line[*]}" >&2
        exit 2
    fi
    as_root=(sudo)
fi
quietly=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive)
# A fresh machine has no package lists, and old lists name packages that the mirror no longer has.
if ! "${quietly[@]}" "${line[@]}" </dev/null >/dev/null 2>&1; then
    "${quietly[@]}" apt-get update --quiet
    if ! "${quietly[@]}" "${line[@]}" </dev/null; then
        echo "that failed; when it is mended, run: ${line[*]}" >&2
        exit 2
    fi
fi
