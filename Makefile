# What people type. CI types the same: .ci/run is `make test` on a clean checkout.
SHELL := /bin/bash
# Where rustup puts cargo, for shells that don't have it on their path yet.
export PATH := $(PATH):$(HOME)/.cargo/bin

.DEFAULT_GOAL := help
.PHONY: help demo test test-long results lint faults fuzz bench instructions build clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: ## install what is missing, build quickly, run the DVD Store on Apache, PHP and MariaDB, say where the report is
	@scripts/demo.sh

test: ## install what tests need and run all of them: house rules, unit, end to end on real servers
	@scripts/test.sh

test-long: ## what the gate has no time for, up to 3 hours; goes on where it was cut short, writes docs/test-long.md
	@scripts/test-long.sh

results: ## run the catalogue's studies in their short forms, at most 3 hours, and write their pages in docs/results; goes on where it was
	@scripts/results.sh

lint: ## formatting, clippy and the house rules, without a test of the product
	@scripts/lint.sh

bench: ## install wrk, h2load, oha, k6 and nginx, measure the generator beside them, write docs/performance.md
	@scripts/bench.sh

instructions: ## count the generator's instructions a request and compare them with benches/instructions.toml
	@scripts/instructions.sh

faults: ## inject known bottlenecks and print whether the diagnosis finds them, about 30 minutes
	@scripts/faults.sh

fuzz: ## fuzz the readers of answers and of requests for 5 minutes each; longer: scripts/fuzz.sh SECONDS
	@scripts/fuzz.sh

build: ## the release binary, target/release/plimsoll
	@scripts/release.sh

clean: ## remove what cargo built; `plimsoll clean` removes what runs left behind
	cargo clean
