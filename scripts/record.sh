#!/usr/bin/env bash
# Records the runs of crates/testkit/recorded anew, on real servers: by hand, when what a run keeps has changed. Takes five
# minutes; look at the pages of `cargo run -p report --example samples` before they are checked in. With NAME…: these alone.
set -euo pipefail
cd "$(dirname "$0")/.."

recorded=crates/testkit/recorded
# Stands in what is recorded.
export PLIMSOLL_HOME=/srv/plimsoll
cargo build --package plimsoll
PATH="$(realpath "${CARGO_TARGET_DIR:-target}")/debug:$PATH"
plimsoll doctor --install --stack all
names=" $* "
short=(--ramp-up 6s --steady 20s --ramp-down 2s)
slow=(--ramp-up 15s --steady 20s --ramp-down 2s)

# keep NAME COMMAND…: what the command's run kept. That a run misses its targets or is ended is wanted here.
keep() {
    local name=$1
    shift
    [[ $names == "  " || $names == *" $name "* ]] || return 0
    echo "== $name: $*"
    "$@" || echo "   exit code $?"
    local last
    last=$(find "$PLIMSOLL_HOME/runs" -mindepth 1 -maxdepth 1 -type d | sort | tail -n 1)
    # What a killed tool has not yet put into its database stands beside it.
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA wal_checkpoint(TRUNCATE)")' "$last/run.sqlite"
    mkdir -p "$recorded/$name"
    cp "$last/run.json" "$last/run.sqlite" "$recorded/$name/"
}

# with_its_database_killed COMMAND…: in the middle of what it measures.
with_its_database_killed() {
    (
        until database=$(pgrep -f "^[^ ]*mariadbd .*$PLIMSOLL_HOME/instances/.*-dvdstore-"); do sleep 0.2; done
        sleep 18
        kill -9 "$database"
    ) &
    "$@"
}

keep passed plimsoll run dvdstore --users 20 "${short[@]}"
keep failed plimsoll run dvdstore --fault db-hot-row --qos 'p95 < 3s' --qos 'p99 < 250ms' --qos 'errors < 0.1%' \
    --qos 'Browse p99 < 400ms' "${slow[@]}"
keep invalid plimsoll run dvdstore --fault generator-starved "${slow[@]}"
keep killed with_its_database_killed plimsoll run dvdstore --users 20 "${short[@]}"
keep interrupted timeout --signal=INT 20s plimsoll run dvdstore --users 20 "${short[@]}"
keep unfinished timeout --signal=KILL 20s plimsoll run dvdstore --users 20 "${short[@]}"
keep by-rate plimsoll run static --rate 40/s "${short[@]}"
keep many-operations plimsoll run tpcw --users 20 --param think_time=0.3 --qos 'p90 < 3s' "${short[@]}"
du -sh "$recorded"/*
