# Every target is a readable script in dev/; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-swift test-python fuzz siege soak endurance promises static tsan asan bench-kernels bench-wire bench-realtime bench-overload bench-telemetry gallery goldens reference docs examples protos format lint check clean

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' \
		| while IFS="$$(printf '\t')" read -r name line; do printf '  %-15s %s\n' "$$name" "$$line"; done

setup: ## Install the missing Debian packages for all targets but the benchmarks
	@dev/setup

build: ## Build the sidelight command in release
	@dev/build

demo: ## Filter a video through a running server: out/demo (VIDEO=path for one of your own)
	@dev/demo

test: ## Run every test: Swift's, and a Python client's against a running server
	@dev/test

test-swift: ## Run the Swift tests only
	@dev/test swift

test-python: ## Run the Python client's tests only
	@dev/test python

fuzz: ## libFuzzer on what strangers send (TARGET=jpeg SECONDS=60; all targets unless one is named)
	@dev/fuzz $(or $(TARGET),all) $(or $(SECONDS),60)

siege: ## 100 sessions for 10 minutes, while every attack is made (ARGUMENTS="--minutes 1": shorter)
	@dev/siege $(ARGUMENTS)

soak: ## A million frames of a random client, checked by a model
	@dev/soak

endurance: ## A server at 70 % load for MINUTES=10: memory, descriptors, latencies; docs/benchmarks/endurance.md
	@dev/endurance $(or $(MINUTES),10) $(ARGUMENTS)

promises: ## Measure each promise and write the table in docs/design/reliability.md (ARGUMENTS=--quick: 3 minutes)
	@dev/promises $(ARGUMENTS)

static: ## Build the command with Swift's runtime inside, as deploy/Dockerfile does: ten minutes and more
	@dev/static

tsan: ## The server's tests and the model under ThreadSanitizer
	@dev/tsan

asan: ## The tests of pixels, files, messages and sessions under AddressSanitizer
	@dev/asan

bench-kernels: ## The filters beside memcpy, OpenCV, ffmpeg, vips, libyuv: docs/benchmarks/kernels.md
	@dev/bench-kernels

bench-realtime: ## Sessions, overload, a greedy neighbour, pings: docs/benchmarks/realtime.md (ARGUMENTS=--quick: a minute)
	@dev/bench-realtime $(ARGUMENTS)

bench-wire: ## Frames over TCP, Unix sockets and shared memory beside C++ gRPC and others: docs/benchmarks/wire.md (ARGUMENTS=--quick: a minute)
	@dev/bench-wire $(ARGUMENTS)

bench-overload: ## Of bench-realtime only the overload curve: out/benchmarks
	@dev/bench-realtime --only overload $(ARGUMENTS)

bench-telemetry: ## Print what a frame's trace and its times cost beside its pixels
	@dev/bench-telemetry

gallery: ## Draw every filter, into docs/reference/gallery.md (SIDELIGHT_TEST_MEDIA names a folder of pictures)
	@dev/gallery

reference: ## Write docs/reference/filters.md, docs/reference/configuration.md and deploy/sidelight.yaml from what they describe
	@dev/reference

docs: ## Build the documentation of the libraries into out/docs (BASE=path under which it is published, PORT=8000 serves it)
	@PORT=$(PORT) dev/docs $(BASE)

examples: ## Build the Swift packages in Examples/
	@dev/examples

goldens: ## Draw the golden pictures of the tests again, by the reference interpreter
	@dev/goldens

protos: ## Generate Sources/Wire/Generated from Protos/
	@dev/protos

format: ## Format the Swift sources in place
	@dev/format

lint: ## Check the format of the Swift sources, as strictly as the check does
	@dev/lint

check: ## Check everything that a merge requires: lint, warnings, generated code, tests
	@dev/check

clean: ## Remove the files that builds, demo and tests wrote
	@dev/clean
