# `make help` lists the targets.
CONFIGURATION ?= debug
# A room imports only the modules that the manifest allows.
ARROWS = --explicit-target-dependency-import-check error
# Debug information takes a fifth of a build. `make test DEBUG_INFO=dwarf` has it, for a debugger; a change of it builds everything again.
DEBUG_INFO ?= none
# Whatever is built for release has Swift's libraries linked in. See Documentation/Decisions/0015-one-build.md.
RELEASE_FLAGS = $(if $(filter Linux,$(shell uname)),--static-swift-stdlib)
# OPTIMIZED=1 builds, tests and checks optimized sources, as CI does; test targets stay unoptimized. See Documentation/Decisions/0013-compiler-bugs.md.
ifdef OPTIMIZED
CONFIGURATION = release
export LATCHKEY_OPTIMIZED = 1
OPTIMIZED_FLAGS = --scratch-path .build/optimized -Xswiftc -enable-testing
ifneq ($(RELEASE_FLAGS),)
# Testing and XCTest exist as shared libraries only. The test program finds their modules here, and links Swift's shared libraries with them.
RUNTIME := $(shell swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
$(shell mkdir -p .build/testing && ln -sfn $(wildcard $(RUNTIME)/linux/*Test*.swift*) .build/testing)
OPTIMIZED_FLAGS += -Xswiftc -I$(CURDIR)/.build/testing -Xlinker -L$(RUNTIME)_static/linux
endif
endif
export SWIFT_FLAGS = --configuration $(CONFIGURATION) $(if $(filter release,$(CONFIGURATION)),$(RELEASE_FLAGS)) $(ARROWS) \
    -debug-info-format $(DEBUG_INFO) $(OPTIMIZED_FLAGS)
SWIFT_BUILD = swift build $(SWIFT_FLAGS)
BIN = "$$($(SWIFT_BUILD) --show-bin-path)"
PREFIX ?= /usr/local
# An app's manifest has only the client; the targets below need everything. See Package.swift.
export LATCHKEY_SHAPE ?= $(if $(filter Linux,$(shell uname)),linux,mac)
# Players have stand-ins on Linux only; elsewhere the demo plays the vendors' profiles.
DEMO = $(if $(filter Linux,$(shell uname)),latchkey-demo,latchkey demo)

# The tests are a program on Linux, and elsewhere a bundle that swift loads.
TEST_PROGRAM = $(if $(filter Linux,$(shell uname)),$(BIN)/latchkeyPackageTests.xctest --testing-library swift-testing,swift \
    test --skip-build $(SWIFT_FLAGS) --disable-xctest)

.PHONY: help deps engines packager readers build release demo cluster test test-all mutants commands trials work tsan lint texts deployment bench docs api check-api install uninstall deb fuzz attack check-apple archive clean

# Seconds for each of the 23 fuzz targets, and how many run at a time: an hour in all.
FUZZ_SECONDS ?= 315
FUZZ_JOBS ?= 2
ATTACK_SECONDS ?= 600

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

deps: ## install everything missing except the Swift toolchain
	@Scripts/install-dependencies

engines: ## install the programs that tests start: PostgreSQL, PgBouncer, Redis, SoftHSM, HAProxy, Chromium and others of Scripts/install-dependencies
	@Scripts/install-dependencies --engines
	@Scripts/install-crypto-mb
	@Scripts/install-python-tools

packager: ## fetch Shaka Packager from PyPI for its test, if it can be had
	@Scripts/install-packager

build: deps ## build everything
	$(SWIFT_BUILD)

release: CONFIGURATION = release
release: deps ## build all products for release
	LATCHKEY_TESTS=none $(SWIFT_BUILD)

demo: deps ## play five protected streams through five players, and check every picture
	$(SWIFT_BUILD) --product $(firstword $(DEMO))
	$(BIN)/$(DEMO)

cluster: engines ## run license servers, PostgreSQL, Redis and HAProxy here, under load; kill and hang each, and report (CLUSTER_OUTAGE=75)
	$(SWIFT_BUILD) --product latchkey-server
	$(SWIFT_BUILD) --product latchkey
	@Scripts/cluster --bin $(BIN) $(CLUSTER_FLAGS)

readers: ## fetch other programs' readers of OpenTelemetry and HAR from PyPI for tests, if they can be had
	@Scripts/install-trace-readers

# What takes longest to build and to run. `make test-all` runs these, too, as CI does.
LONG_TESTS = Bench Browser CommandLine Demo EndToEnd Players ServerTool Services StandIn Stores
comma := ,
blank := $(subst x,,x x)
TESTS ?= $(or $(LATCHKEY_TESTS),$(subst $(blank),$(comma),$(filter-out $(LONG_TESTS),$(sort $(patsubst Tests/%Tests,%,$(wildcard Tests/*Tests))))))

# The tests, and the test programs that they start.
TEST_PRODUCTS = latchkeyPackageTests StoreCrash $(if $(findstring Stores,$(ROOMS)),StoreEngines)

test: ROOMS = $(TESTS)
test: deps ## run the tests of most rooms, in a few minutes; TESTS=Core,HLS names others
	@echo "Building and testing; failures and a summary follow"
	set -e; for product in $(TEST_PRODUCTS); do LATCHKEY_TESTS=$(ROOMS) $(SWIFT_BUILD) --quiet --product $$product; done
	@Scripts/run-tests $(TEST_PROGRAM) --experimental-maximum-parallelization-width 8

# The sequences of playback pass time step by step. In the same run they would take as long as all other tests.
test-all: engines packager readers ## run all tests, start all programs, and follow the pages of Documentation/Server
	@echo "Building and testing; failures and a summary follow"
	$(SWIFT_BUILD) --build-tests --quiet
	@Scripts/run-tests $(TEST_PROGRAM) --experimental-maximum-parallelization-width 8 --skip SequenceTests
	@TESTS_LOG=.build/sequences.log Scripts/run-tests $(TEST_PROGRAM) --filter SequenceTests
	@Scripts/check-strangers --self-test --bin $(BIN)
	@Scripts/check-strangers --bin $(BIN)
	@Scripts/check-rooms --bin $(BIN)
	@Scripts/check-deployment --bin $(BIN)
	@Scripts/check-pages --bin $(BIN)

# The rooms in which threads and tasks meet.
TSAN_TESTS ?= Core,HTTP,Client,Players,Policy,Record,Operation,Tokens,Vault,Stores,Server
# One thread each, or the same threads as in another suite, and they take minutes. SDKs but AVFoundation stay on the main thread.
TSAN_PLAYERS = Bitmovin|Conformance|JWPlayer|OpenTV|ReactNative|THEOplayer|TVSDK|Tutorial
TSAN_SKIP ?= DecisionPropertyTests|RecordReporterConformanceTests|TraceSecrecyTests|VendorMatrixTests|SequenceTests|^PlayersTests[.]($(TSAN_PLAYERS))

tsan: ROOMS = $(TSAN_TESTS)
tsan: deps ## run the tests of TSAN_TESTS with the thread sanitizer
	@echo "Building and testing with the thread sanitizer; failures and a summary follow"
	set -e; for product in $(TEST_PRODUCTS); do \
	    LATCHKEY_TESTS=$(ROOMS) $(SWIFT_BUILD) --quiet --product $$product --sanitize thread --scratch-path .build/tsan; done
	@TESTS_LOG=.build/tsan/tests.log Scripts/run-tests $(if $(filter Linux,$(shell uname)),.build/tsan/debug/latchkeyPackageTests.xctest \
	    --testing-library swift-testing,swift test --skip-build --disable-xctest --sanitize thread --scratch-path .build/tsan) \
	    --skip '$(TSAN_SKIP)' --experimental-maximum-parallelization-width 4

# Where licenses are decided. The tests that guard it start no program.
MUTATED = Sources/LatchkeyDecision,Sources/LatchkeyVault/Contract,Sources/LatchkeyVault/Keys,Sources/LatchkeyVault/Stores
MUTANTS ?= 16
MUTANT_SEED ?= 16

mutants: deps ## break what decides on licenses in MUTANTS=16 places, one by one, and see tests fail
	@Scripts/mutants --into .build/mutants --seed $(MUTANT_SEED) --count $(MUTANTS) --sources $(MUTATED) --tests Policy,Tokens,Vault,Server \
	    --product latchkeyPackageTests --survivors $$(($(MUTANTS) / 4))

check-apple: ## check all code that an app includes for Apple's platforms, with this toolchain; see Scripts/Apple/README.md
	@Scripts/check-apple --self-test
	@Scripts/check-apple

lint: texts deployment ## check the format, references, the code in documents, the English, an app's package, and that tests end and are silent

texts:
	swift format lint --strict --recursive Package.swift Sources StandIns Examples Tests Fuzz
	@Scripts/check-references --self-test && Scripts/check-references
	@Scripts/check-snippets --self-test && Scripts/check-snippets
	@Scripts/check-pages --self-test && Scripts/check-pages
	@Scripts/check-tests --self-test && Scripts/check-tests
	@Scripts/check-english --self-test && Scripts/check-english
	@Scripts/check-optimizer
	@Scripts/run-tests --self-test
	@Scripts/check-rooms --self-test && Scripts/check-rooms
	@Scripts/check-commands --self-test && Scripts/check-commands
	@Scripts/check-reading --self-test && Scripts/check-reading
	@Scripts/check-package --self-test && Scripts/check-package
	@Scripts/release --self-test
	@Scripts/cluster --self-test

# It judges how soon HAProxy abandons a node, so it waits for check-apple, which takes all processors.
deployment: texts $(filter check-apple,$(MAKECMDGOALS))
	@Scripts/check-deployment

# The tables of Documentation/Measurements.md and Documentation/Server/Speed.md; other flags leave them alone.
BENCH_FLAGS ?= --pages .

bench: CONFIGURATION = release
bench: deps ## measure, as ratios within one run, draw out/bench/index.html, and write the tables of the pages
	$(SWIFT_BUILD) --product latchkey-server
	$(SWIFT_BUILD) --product latchkey-bench
	$(BIN)/latchkey-bench $(BENCH_FLAGS) --html out/bench/index.html

commands: build ## run what pages tell people to run, once and briefly
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target trials work

# Trials that mostly wait run in parallel with work that keeps a processor busy.
trials:
	$(MAKE) --no-print-directory cluster CLUSTER_FLAGS="--only load"
	Scripts/measure-server start --bin $(BIN)
	Scripts/measure-record --seconds 10 --bin $(BIN)
	Scripts/measure-sizing --bin $(BIN) costs
	Scripts/measure-console --brief lists $(BIN)/latchkey-server
	Scripts/measure-console --brief load $(BIN)/latchkey-server $(BIN)/latchkey
	Scripts/picture-console $(BIN)/latchkey-server .build/pictures policy reports

work:
	$(MAKE) --no-print-directory demo
	$(BIN)/latchkey demo
	$(if $(filter Linux,$(shell uname)),$(BIN)/latchkey-demo --documents)
	$(MAKE) --no-print-directory api archive
	$(MAKE) --no-print-directory install DESTDIR=.build/installed PREFIX=/usr
	$(MAKE) --no-print-directory uninstall DESTDIR=.build/installed PREFIX=/usr
	$(MAKE) --no-print-directory deb
	$(MAKE) --no-print-directory bench BENCH_FLAGS="--brief --history .build/brief.jsonl"
	$(BIN)/latchkey-bench --allocations --check
	$(MAKE) --no-print-directory attack ATTACK_SECONDS=25
	$(MAKE) --no-print-directory test TESTS=Core

fuzz: deps ## feed damaged input to every parser for an hour, or FUZZ_SECONDS each
	@JOBS=$(FUZZ_JOBS) Scripts/fuzz $(FUZZ_SECONDS)

attack: deps ## attack `latchkey serve` for ten minutes, or ATTACK_SECONDS, while honest clients use it
	@Scripts/attack $(ATTACK_SECONDS)

docs: build ## write the documentation of the public API to .build/docs
	@BUILD=$(BIN) Scripts/build-documentation

api: build ## write the listing of the public API to API
	@BUILD=$(BIN) Scripts/list-api

check-api: build ## compare the public API with its listing
	@BUILD=$(BIN) Scripts/check-api

install: CONFIGURATION = release
install: deps ## install latchkey and latchkey-server below PREFIX (/usr/local), with pages, completions and unit
	$(SWIFT_BUILD) --product latchkey $(INSTALL_FLAGS)
	$(SWIFT_BUILD) --product latchkey-server $(INSTALL_FLAGS)
	Scripts/install "$$($(SWIFT_BUILD) --show-bin-path $(INSTALL_FLAGS))" "$(DESTDIR)$(PREFIX)" "$(PREFIX)"

deb: CONFIGURATION = release
deb: deps ## build the Debian package in out/debian: programs, pages, unit and user
	$(SWIFT_BUILD) --product latchkey
	$(SWIFT_BUILD) --product latchkey-server
	@Scripts/package-debian --bin $(BIN)

uninstall: ## remove what install put below PREFIX
	Scripts/install --remove "$(DESTDIR)$(PREFIX)"

archive: ## write the release archive of the last commit to out/release, with its SBOM and notes
	@Scripts/release

clean: ## remove everything built
	swift package clean
	rm -rf .build/docs
