#!/usr/bin/env bash
# What tests need beside the servers, which `plimsoll doctor --install` brings.
set -euo pipefail
cd "$(dirname "$0")/.."

# need PROGRAM PACKAGE WHY
packages=() reasons=()
need() {
    if ! command -v "$1" >/dev/null; then
        packages+=("$2")
        reasons+=("$2: $3")
    fi
}
need ip iproute2 "a tier's own host is a network that iproute2 makes"
need chromium chromium "reports and the laboratory are opened in a real browser"
need node nodejs "the report's scripts have tests of their own"
need npm npm "the driver of tests in a browser is an npm package"
need xandikos xandikos "the kit caldav is held against a calendar server that nobody here wrote"
need wrk wrk "requests are counted beside wrk"
need strace strace "calls that the kernel counts are held against its count"
need perf linux-perf "time without a CPU is held against its count"
need valgrind valgrind "instructions are counted by callgrind"
need c++ g++ "libFuzzer is built from source"
need ssh openssh-client "a fleet's agents are placed by ssh"
need busybox busybox "what ssh runs on another machine is tried with the smallest programs too"
if ((${#packages[@]})); then
    why=$(printf '%s; ' "${reasons[@]}")
    scripts/install.sh "${why%; }" "${packages[@]}"
fi
# Unpacked, since installing it would start a daemon and let people in: a test has one of its own on a loopback port.
sshd=$(realpath -m "${CARGO_TARGET_DIR:-target}/tools/sshd")
if [[ ! -x $sshd/usr/sbin/sshd ]] && command -v apt-get >/dev/null; then
    echo "unpacking openssh-server into $sshd: agents are placed by ssh on a private sshd"
    mkdir -p "${sshd%/*}"
    scratch=$(mktemp -d "$sshd.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    fetch() { (cd "$scratch" && apt-get download --quiet openssh-server libwrap0 >/dev/null 2>&1); }
    # Lists that are some days old name archives that a newer version has replaced.
    if ! fetch && [[ $(id -u) -eq 0 ]]; then
        apt-get update --quiet
        fetch || true
    fi
    for archive in "$scratch"/*.deb; do
        [[ -f $archive ]] && dpkg-deb -x "$archive" "$scratch/tree"
    done
    if [[ -x $scratch/tree/usr/sbin/sshd ]]; then
        rm -rf "$sshd" && mv "$scratch/tree" "$sshd"
    else
        echo "openssh-server could not be downloaded: tests with it are skipped" >&2
    fi
fi
# Only the driver and the rules of accessibility: the browser is Debian's.
npm ci --prefix web/browser --ignore-scripts --no-audit --no-fund --loglevel=error
