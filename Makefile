# Bare `make` lists the targets. Swift is taken from PATH, or from where toolchains are commonly unpacked.
export PATH := $(PATH):/opt/swift/usr/bin:/usr/share/swift/usr/bin:$(HOME)/.local/share/swiftly/bin

SWIFT ?= swift
# One file to copy: Swift's runtime is linked in, C libraries stay Debian's, which patches them.
RELEASE = -c release --static-swift-stdlib
STRICT_IMPORTS = --explicit-target-dependency-import-check error
# Targets whose rules and hand-overs between threads the thread sanitizer watches.
SANITIZED = MartletModelTests MartletHTTPTests MartletOpenAPITests MartletCoreTests MartletCryptoTests \
	MartletPushTests MartletNetworkTests MartletStorageTests MartletHubAPITests MartletBackendTests MartletClientTests \
	MartletSimulatorTests
UNSANITIZED = aServiceThatCouldDoMoreHasAllThatTheStreamsTake
# How many tests run at a time. All at once, each of them takes as long as all of them, and time limits are exceeded.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 32
# How long each fuzz target runs.
FUZZ_SECONDS ?= 60
# How long the soak lasts, and where chance begins in it and in the fault sweep.
MINUTES ?= 60
SEED ?= 1
PEERS = .build/python/bin/python3 -B
SWIFT_CODE = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources/LoadGenerator Examples

.PHONY: help setup build demo nodes tour run test built-tests judged-peers run-tests spare-ceilings lint format checks peers ceilings sanitize bench durability rolling-upgrade older-binary soak faults mass-jobs console-matrix console-films fuzz bare-debian deb image package-test clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what building needs (named Debian packages)
	@Scripts/setup build

build: setup ## build the release binary, .build/release/martlet
	$(SWIFT) build $(RELEASE) --product martlet
	@Scripts/check-linkage .build/release/martlet
	@SWIFT=$(SWIFT) Scripts/stamp-build .build/release/martlet

demo: build ## build, then send a notification through a real server and simulator
	@Scripts/demo

nodes: build ## build, then two nodes at a PostgreSQL with a standby: one is killed in the middle of a broadcast, the database fails over
	@Scripts/setup test
	@Scripts/nodes

tour: build ## build, then run the commands of the README and of Docs/Tour.md and compare what they print
	@Scripts/check-commands --self-test && Scripts/check-commands

run: build ## build, then serve http://127.0.0.1:8080 and https://127.0.0.1:8443 with the simulator, data in ./data
	.build/release/martlet serve --data data --listen 127.0.0.1:8080 \
		--tls-listen 127.0.0.1:8443 --tls-self-signed --simulator

test: ## install what testing needs, then lint, check the walls, run every test and count what a push costs
	@Scripts/setup test
	@mkdir -p .build
	@$(MAKE) --no-print-directory --jobs=3 built-tests judged-peers
	@$(MAKE) --no-print-directory --jobs=2 run-tests spare-ceilings

# The steps of `test`. The peers mostly wait, and so do the judges among the tests: builds run beside them, with what the
# processors have left (`nice`), so that nothing is late because of them.
built-tests: checks
	nice $(SWIFT) build --build-tests $(STRICT_IMPORTS)
	@Scripts/check-layers --self-test && Scripts/check-layers
	@Scripts/check-fuzz --self-test && Scripts/check-fuzz

judged-peers:
	@$(MAKE) --no-print-directory --output-sync=target lint peers

# Not by `swift test`, which would keep the release build from starting until the last test has ended.
run-tests:
	@bash -o pipefail -c '.build/debug/martletPackageTests.xctest --testing-library swift-testing 2>&1 | tee .build/test.log' || \
		{ echo 'What failed:'; grep -E '✘|error:' .build/test.log; exit 1; }

spare-ceilings:
	@nice -n 19 $(MAKE) --no-print-directory --output-sync=target ceilings

lint: ## check formatting
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_CODE)

format: ## format the code in place
	$(SWIFT) format --in-place --recursive --parallel $(SWIFT_CODE)

checks: ## check the walls: imports, platform names, words, the compatibility table, citations, links; the SDK's interface, documentation and examples; the console's pages
	@Scripts/check-imports --self-test && Scripts/check-imports
	@Scripts/check-schema --self-test && Scripts/check-schema
	@Scripts/console-files --self-test && Scripts/console-files --check
	@Scripts/check-platforms --self-test && Scripts/check-platforms
	@Scripts/check-words --self-test && Scripts/check-words
	@Scripts/check-compatibility --self-test && Scripts/check-compatibility
	@Scripts/check-citations --self-test && Scripts/check-citations
	@Scripts/check-links --self-test && Scripts/check-links
	@Scripts/check-apple-syntax --self-test && Scripts/check-apple-syntax
	@Scripts/check-sdk-interface --self-test && Scripts/check-sdk-interface
	@Scripts/check-documentation --self-test && Scripts/check-documentation
	@Scripts/check-examples --self-test && Scripts/check-examples
	@Scripts/check-console --self-test && Scripts/check-console

peers: ## judge the independent peers that the tests rely on
	@Scripts/setup test
	cd Tests/Peers && ls *_test.py | xargs -P 4 -n 1 ../../$(PEERS) -m unittest

ceilings: build ## count instructions and allocations of a broadcast's pushes: no more than Benchmarks/ceilings.json says
	@Scripts/setup test
	@Benchmarks/ceilings

sanitize: ## run the unit tests under the thread sanitizer
	@Scripts/setup test
	@mkdir -p .build/sanitize
	clang -D_GNU_SOURCE -Wall -Wextra -O1 -shared -fPIC Tests/Sanitizer/mutex.c -o .build/sanitize/mutex.so
	@echo "sanitize: left out, since they measure speed and the sanitizer makes them take hours: $(UNSANITIZED)"
	LD_PRELOAD=$(CURDIR)/.build/sanitize/mutex.so $(SWIFT) test --sanitize=thread --no-parallel --scratch-path .build/sanitize $(addprefix --filter ,$(SANITIZED)) $(addprefix --skip ,$(UNSANITIZED))

bench: build ## measure against yardsticks on this machine and say which targets are met; GROWTH=1: with ten million devices
	@Scripts/setup bench
	@Benchmarks/run $(if $(GROWTH),--growth)

# A wait after a failure doubles up to an hour, which is silence in the third.
durability: build ## kill the server 4 x 500 times under load and count what is missing, about two hours
	@Scripts/setup test
	$(PEERS) Tests/Peers/durability.py .build/release/martlet --rounds 500 --broadcasts 0.01 --throttle 500 --refuse 50 --settle 300
	$(PEERS) Tests/Peers/durability.py .build/release/martlet --rounds 500 --broadcasts 0.01 --forgetful
	$(PEERS) Tests/Peers/durability.py .build/release/martlet --rounds 500 --broadcasts 0.01 --simulator --long-waits --stalls 3 --settle 2000
	$(PEERS) Tests/Peers/durability.py .build/release/martlet --rounds 500 --broadcasts 0.01 --simulator --stalls 3 --clock --settle 300

rolling-upgrade: older-binary build ## upgrade three nodes at a PostgreSQL, one after the other under load, from the older binary OLD to this version
	@Scripts/setup test
	$(PEERS) Tests/Peers/rolling_upgrade.py $(OLD) .build/release/martlet --rounds 4

older-binary:
	@[ -x "$(OLD)" ] || { echo 'Name the binary of the version before: make rolling-upgrade OLD=path' >&2; exit 64; }

soak: build ## a steady load for MINUTES while the push services fail in turn: losses, latency, growth of the memory
	@Scripts/setup test
	$(PEERS) Tests/Peers/soak.py .build/release/martlet --minutes $(MINUTES) --seed $(SEED) --slope-limit 20000 --latency-limit 2

faults: build ## every fault of the simulator, alone and together, while 100,000 pushes run: the final state of each device
	@Scripts/setup test
	$(PEERS) Tests/Peers/fault_sweep.py .build/release/martlet --devices 180 --combinations 20 --seed $(SEED)

mass-jobs: build ## import, list and export a million registrations: times and peak memory
	@Scripts/setup test
	$(PEERS) Tests/Peers/mass_jobs.py .build/release/martlet

console-matrix: build ## every screen of the console in every state, theme, language and width, in Chromium and Firefox; pictures into Docs/Console
	@Scripts/setup test
	$(PEERS) Tests/Peers/console_pages.py .build/release/martlet --matrix --pictures Docs/Console

console-films: build ## the jobs of the console in a real browser by mouse and by keyboard: seconds, actions, and films into Docs/Console
	@Scripts/setup test
	$(PEERS) Tests/Peers/console_films.py .build/release/martlet --folder Docs/Console

fuzz: ## feed the parsers of strangers' bytes with mutations for FUZZ_SECONDS each
	@Scripts/setup build
	SWIFT=$(SWIFT) FUZZ_SECONDS=$(FUZZ_SECONDS) Fuzz/run

bare-debian: ## run demo and test in a bare Debian 12 (root; needs debootstrap)
	@Scripts/bare-debian

deb: build ## build, then make the Debian package, .build/dist/martlet_*.deb
	@Scripts/setup package
	@Scripts/deb

image: ## make a container image of the Debian package that is there, .build/dist/martlet-image.tar (root)
	@Scripts/setup package
	@Scripts/image

package-test: deb ## install, reload, upgrade, remove and purge the Debian package in a booted Debian 12 (root; about three minutes beside the build)
	@Scripts/package-test

clean: ## remove everything built; data stays
	rm -rf .build Fuzz/.build Benchmarks/.build Examples/Pager/.build
