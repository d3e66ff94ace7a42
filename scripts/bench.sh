#!/usr/bin/env bash
# The generator beside others on the same nginx: installs what that needs, builds, measures, writes docs/performance.md.
# SECONDS_EACH and ROUNDS set how long; BENCH_TOOLS is where oha and k6 are kept.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/toolchain.sh
tools=${BENCH_TOOLS:-target/bench-tools}
missing=()
command -v wrk >/dev/null || missing+=(wrk)
command -v h2load >/dev/null || missing+=(nghttp2-client)
if ((${#missing[@]})); then
    scripts/install.sh "generators to compare with" "${missing[@]}"
fi

# Unpacked and not installed: a package's own service would be started.
nginx=/usr/sbin/nginx
if [[ ! -x $nginx ]]; then
    nginx=$(realpath -m "$tools/nginx/usr/sbin/nginx")
    if [[ ! -x $nginx ]]; then
        echo "unpacking nginx: the server that all are measured on"
        mkdir -p "$tools/nginx"
        (cd "$tools/nginx" && apt-get download nginx && dpkg -x nginx_*.deb .)
    fi
fi

# A peer that can't be installed is named as missing in the table; the others are still compared.
oha=$(command -v oha || echo "$tools/bin/oha")
if [[ ! -x $oha ]]; then
    echo "building oha 1.16.0 (some minutes, once)"
    cargo install --locked --quiet --root "$tools" --version 1.16.0 oha || echo "oha could not be built"
fi
k6=$(command -v k6 || echo "$tools/k6/k6")
if [[ ! -x $k6 ]]; then
    command -v go >/dev/null || scripts/install.sh "k6 is built from source" golang-go || true
    echo "building k6 (some minutes, once)"
    GOBIN=$(realpath -m "$tools/k6") go install go.k6.io/k6@latest || echo "k6 could not be built"
fi

echo "building the release binaries (some minutes the first time)"
cargo build --release --locked -p plimsoll -p bench
built="${CARGO_TARGET_DIR:-target}/release"
exec "$built/bench" table --rounds "${ROUNDS:-5}" --seconds "${SECONDS_EACH:-3}" --plimsoll "$built/plimsoll" \
    --nginx "$nginx" --oha "$oha" --k6 "$k6" --page docs/performance.md
