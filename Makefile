# `make help` lists the targets.
CONFIGURATION ?= debug
SWIFT_BUILD = swift build --configuration $(CONFIGURATION)

.PHONY: help deps build demo test lint bench docs clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' Makefile

deps: ## install what is missing beside the Swift toolchain
	@Scripts/install-dependencies

build: deps ## build everything
	$(SWIFT_BUILD)

demo: deps ## play five protected streams through five players, and check every picture
	$(SWIFT_BUILD) --product latchkey
	"$$($(SWIFT_BUILD) --show-bin-path)/latchkey" demo

test: deps ## run all tests
	@echo "Building and testing; failures and a summary follow"
	swift test --quiet --disable-xctest --configuration $(CONFIGURATION) --experimental-maximum-parallelization-width 8
	@Scripts/check-drag-in $(CONFIGURATION)

lint: ## check the format, and the imports against the design
	swift format lint --strict --recursive Package.swift Sources StandIns Examples Tests
	@Scripts/check-imports --self-test
	@Scripts/check-imports

bench: deps ## measure, as ratios within one run
	swift build --configuration release --product latchkey
	"$$(swift build --configuration release --show-bin-path)/latchkey" bench

docs: deps ## write the documentation of the public API to .build/docs
	@Scripts/build-documentation

clean: ## remove everything built
	swift package clean
	rm -rf .build/docs
