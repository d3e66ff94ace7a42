#!/usr/bin/env bash
# From a checkout to a true report: builds the binary for a short build (profile `demo`), installs what the kit needs of
# the stack, runs the kit. The run says which build it was.
set -euo pipefail
cd "$(dirname "$0")/.."

kit=dvdstore stack=apache-prefork-modphp-mariadb
# What `plimsoll doctor --install` will ask for, as a test holds against the catalogue: fetched while the compiler works.
# Nothing is installed before doctor has said what and why.
ahead=(apache2-bin libapache2-mod-php8.2 mariadb-server-core php8.2-mysql php8.2-opcache)

scripts/toolchain.sh
fetch_ahead() {
    local as_root=()
    if [[ $(id -u) -ne 0 ]]; then
        command -v sudo >/dev/null && sudo -n true 2>/dev/null || return 0
        as_root=(sudo -n)
    fi
    command -v apt-get >/dev/null || return 0
    "${as_root[@]}" apt-get update -q || return 0
    "${as_root[@]}" apt-get install --yes --download-only --no-install-recommends -q "${ahead[@]}" || return 0
}
fetch_ahead </dev/null >/dev/null 2>&1 &
fetching=$!

echo "building Plimsoll (some minutes the first time; packages of the servers are fetched meanwhile)"
cargo build --profile demo --locked -p plimsoll
plimsoll="${CARGO_TARGET_DIR:-target}/demo/plimsoll"
wait "$fetching" || true
"$plimsoll" doctor --install --kit "$kit" --stack "$stack"
exec "$plimsoll" run "$kit" --stack "$stack"
