# `make help` lists the targets.
CONFIGURATION ?= debug
# A room imports only what the manifest lets it.
ARROWS = --explicit-target-dependency-import-check error
# Debug information takes a fifth of a build. `make test DEBUG_INFO=dwarf` has it, for a debugger; a change of it builds everything again.
DEBUG_INFO ?= none
export SWIFT_FLAGS = $(ARROWS) -debug-info-format $(DEBUG_INFO)
SWIFT_BUILD = swift build --configuration $(CONFIGURATION) $(SWIFT_FLAGS)
PREFIX ?= /usr/local
# An app's manifest has the client alone; what is made here needs everything. See Package.swift.
export LATCHKEY_SHAPE ?= $(if $(filter Linux,$(shell uname)),linux,mac)
# Players have stand-ins on Linux only; elsewhere the demo plays the vendors' profiles.
DEMO = $(if $(filter Linux,$(shell uname)),latchkey-demo,latchkey demo)

# The tests are a program on Linux, and elsewhere a bundle that swift loads.
TEST_PROGRAM = $(if $(filter Linux,$(shell uname)),"$$($(SWIFT_BUILD) --show-bin-path)"/latchkeyPackageTests.xctest --testing-library swift-testing,swift \
    test --skip-build $(SWIFT_FLAGS) --disable-xctest --configuration $(CONFIGURATION))

.PHONY: help deps engines packager readers build release demo cluster test tsan lint bench docs api check-api install uninstall fuzz attack check-apple archive clean

# Seconds for each of the 17 fuzz targets, two at a time: an hour in all.
FUZZ_SECONDS ?= 420
ATTACK_SECONDS ?= 600

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

deps: ## install what is missing beside the Swift toolchain
	@Scripts/install-dependencies

engines: ## install the programs that tests start: PostgreSQL, Redis, SoftHSM, HAProxy, Prometheus, Chromium, fish, zsh, PyYAML, sqlite3, xxd, crypto_mb, Canaille, openapi-spec-validator
	@Scripts/install-dependencies --engines
	@Scripts/install-crypto-mb
	@Scripts/install-python-tools

packager: ## fetch Shaka Packager from PyPI for its test, if it can be had
	@Scripts/install-packager

build: deps ## build everything
	$(SWIFT_BUILD)

release: deps ## build all products for release
	LATCHKEY_TESTS=none swift build --configuration release $(SWIFT_FLAGS)

demo: deps ## play five protected streams through five players, and check every picture
	$(SWIFT_BUILD) --product $(firstword $(DEMO))
	"$$($(SWIFT_BUILD) --show-bin-path)"/$(DEMO)

cluster: engines ## run license servers, PostgreSQL, Redis and HAProxy here, under load; kill and hang each, and report (CLUSTER_OUTAGE=75)
	$(SWIFT_BUILD) --product latchkey-server
	$(SWIFT_BUILD) --product latchkey
	@Scripts/cluster --bin "$$($(SWIFT_BUILD) --show-bin-path)"

readers: ## fetch other programs' readers of OpenTelemetry and HAR from PyPI for tests, if they can be had
	@Scripts/install-trace-readers

test: engines packager readers ## run all tests
	@echo "Building and testing; failures and a summary follow"
	$(SWIFT_BUILD) --build-tests --quiet
	@Scripts/run-tests $(TEST_PROGRAM) --experimental-maximum-parallelization-width 8
	@Scripts/check-strangers --self-test --bin "$$($(SWIFT_BUILD) --show-bin-path)"
	@Scripts/check-strangers --bin "$$($(SWIFT_BUILD) --show-bin-path)"
	@Scripts/check-rooms --bin "$$($(SWIFT_BUILD) --show-bin-path)"
	@Scripts/check-deployment --bin "$$($(SWIFT_BUILD) --show-bin-path)"
	@Scripts/check-pages --bin "$$($(SWIFT_BUILD) --show-bin-path)"

# The rooms in which threads and tasks meet.
TSAN_TESTS ?= Core,HTTP,Client,Players,Policy
# One thread each, or the same threads as in another suite, and they take minutes.
TSAN_SKIP ?= DecisionPropertyTests|TraceSecrecyTests|VendorMatrixTests

tsan: deps ## run the tests of TSAN_TESTS with the thread sanitizer
	@echo "Building and testing with the thread sanitizer; failures and a summary follow"
	LATCHKEY_TESTS=$(TSAN_TESTS) swift build --quiet $(SWIFT_FLAGS) --product latchkeyPackageTests --sanitize thread --scratch-path .build/tsan
	@TESTS_LOG=.build/tsan/tests.log Scripts/run-tests $(if $(filter Linux,$(shell uname)),.build/tsan/debug/latchkeyPackageTests.xctest \
	    --testing-library swift-testing,swift test --skip-build --disable-xctest --sanitize thread --scratch-path .build/tsan) \
	    --skip '$(TSAN_SKIP)' --experimental-maximum-parallelization-width 4

check-apple: ## check what an app takes along for Apple's platforms, with this toolchain; see Scripts/Apple/README.md
	@Scripts/check-apple --self-test
	@Scripts/check-apple

lint: ## check the format, references, the code in documents, what an app gets, and that tests end and are silent
	swift format lint --strict --recursive Package.swift Sources StandIns Examples Tests Fuzz
	@Scripts/check-references --self-test && Scripts/check-references
	@Scripts/check-snippets --self-test && Scripts/check-snippets
	@Scripts/check-pages --self-test && Scripts/check-pages
	@Scripts/check-tests --self-test && Scripts/check-tests
	@Scripts/run-tests --self-test
	@Scripts/check-rooms --self-test && Scripts/check-rooms
	@Scripts/check-options --self-test && Scripts/check-options
	@Scripts/check-reading --self-test && Scripts/check-reading
	@Scripts/check-package --self-test && Scripts/check-package
	@Scripts/release --self-test
	@Scripts/check-deployment
	@Scripts/cluster --self-test

bench: CONFIGURATION = release
bench: deps ## measure, as ratios within one run, and draw out/bench/index.html
	$(SWIFT_BUILD) --product latchkey-bench
	"$$($(SWIFT_BUILD) --show-bin-path)/latchkey-bench" --html out/bench/index.html

fuzz: deps ## feed damaged input to every parser for an hour, or FUZZ_SECONDS each
	@Scripts/fuzz $(FUZZ_SECONDS)

attack: deps ## attack `latchkey serve` for ten minutes, or ATTACK_SECONDS, with honest clients beside
	@Scripts/attack $(ATTACK_SECONDS)

docs: build ## write the documentation of the public API to .build/docs
	@Scripts/build-documentation

api: build ## write the listing of the public API to API
	@Scripts/list-api

check-api: build ## compare the public API with its listing
	@Scripts/check-api

install: CONFIGURATION = release
install: deps ## install latchkey and latchkey-server below PREFIX (/usr/local), with manual pages and completions
	$(SWIFT_BUILD) --product latchkey $(INSTALL_FLAGS)
	$(SWIFT_BUILD) --product latchkey-server $(INSTALL_FLAGS)
	Scripts/install "$$($(SWIFT_BUILD) --show-bin-path $(INSTALL_FLAGS))" "$(DESTDIR)$(PREFIX)"

uninstall: ## remove what install put below PREFIX
	Scripts/install --remove "$(DESTDIR)$(PREFIX)"

archive: ## write the release archive of the last commit to out/release, with its SBOM and notes
	@Scripts/release

clean: ## remove everything built
	swift package clean
	rm -rf .build/docs
