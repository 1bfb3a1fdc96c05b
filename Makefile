# Every target is a readable script in dev/; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help setup build demo call test test-swift test-python test-client test-call test-studio test-without-vision test-arm64 fuzz stress model-test soak-test slo static tsan asan bench-kernels bench-wire bench-realtime bench-vision bench-call bench-capacity bench-studio vision-sheets bench-overload bench-telemetry models gallery assets goldens reference docs examples protos format lint check clean

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' \
		| while IFS="$$(printf '\t')" read -r name line; do printf '  %-19s %s\n' "$$name" "$$line"; done

setup: ## Install the missing Debian packages for all targets but the benchmarks
	@dev/setup

build: ## Build the sidelight command in release
	@dev/build

demo: ## Filter a video with a running server: out/demo (VIDEO=path of another video, ARGUMENTS=--faces: faces over time)
	@dev/demo $(ARGUMENTS)

call: ## Run a video call between browser tabs, filtered: http://127.0.0.1:8080 (PORT=9000)
	@dev/call $(ARGUMENTS)

test: ## Run every test: Swift, a running server, the Python package, other languages, calls and the studio in a browser
	@dev/test

test-swift: ## Run the Swift tests only
	@dev/test swift

test-python: ## Run the tests of a running server, written in Python, only
	@dev/test python

test-client: ## Test the Python package with its oldest and newest dependencies, and check its types
	@dev/test client

test-call: ## Test video calls between two browsers, a call server and Sidelight
	@dev/test call

test-studio: ## Test the page of sidelight studio in a browser, and its modules in Node
	@dev/test studio

test-without-vision: ## Build the libraries of pixels without OpenCV in a separate folder, and test them
	@dev/test-without-vision

test-arm64: ## Compare the pixel rows of all instruction sets, arm64 under an emulator included
	@dev/test-arm64

fuzz: ## Fuzz the readers of untrusted input with libFuzzer (TARGET=jpeg SECONDS=60; default: all targets)
	@dev/fuzz $(or $(TARGET),all) $(or $(SECONDS),60)

stress: ## Run the stress test: every attack next to 100 sessions, 10 minutes (ARGUMENTS="--minutes 1" is shorter)
	@dev/stress $(ARGUMENTS)

model-test: ## Send a million frames of a random client, and compare the server with a model
	@dev/model-test

soak-test: ## Run a server at 70 % load for MINUTES=10, and write Benchmarks/Results/soak.md
	@dev/soak-test $(or $(MINUTES),10) $(ARGUMENTS)

slo: ## Measure each service-level objective, and write the table in docs/design/reliability.md (ARGUMENTS=--quick: 6 minutes)
	@dev/slo $(ARGUMENTS)

static: ## Build the command with a static Swift runtime, as deploy/Dockerfile does (over ten minutes)
	@dev/static

tsan: ## Run the tests of server and client library, and the model-based test, under ThreadSanitizer
	@dev/tsan

asan: ## Run the tests of pixels, files, messages and sessions under AddressSanitizer
	@dev/asan

bench-kernels: ## Compare the filters with memcpy, OpenCV, ffmpeg, vips and libyuv: Benchmarks/Results/kernels.md
	@dev/bench-kernels

bench-realtime: ## Measure sessions, overload, a noisy neighbour, pings: Benchmarks/Results/realtime.md (ARGUMENTS=--quick: three minutes; --pin: a processor each)
	@dev/bench-realtime $(ARGUMENTS)

bench-wire: ## Compare TCP, Unix sockets and shared memory with C++ gRPC and others: Benchmarks/Results/wire.md (ARGUMENTS=--quick: a minute; "--pin apart": a processor each)
	@dev/bench-wire $(ARGUMENTS)

bench-vision: ## Measure the filters of faces and backgrounds next to OpenCV, MediaPipe and ffmpeg: Benchmarks/Results/vision.md
	@dev/bench-vision $(ARGUMENTS)

bench-call: ## Measure video calls between two browsers, with and without Sidelight: Benchmarks/Results/calls.md
	@dev/bench-call $(ARGUMENTS)

bench-capacity: ## Measure what sessions cost, next to ffmpeg: Benchmarks/Results/capacity.md (ARGUMENTS=--quick)
	@dev/bench-capacity $(ARGUMENTS)

bench-studio: ## Measure the studio from camera to screen, and the first minute: Benchmarks/Results/studio.md (ARGUMENTS=--quick: a minute)
	@dev/bench-studio $(ARGUMENTS)

vision-sheets: ## Draw what the filters of faces and backgrounds do to moving scenes: out/vision
	@dev/bench-vision sheets

bench-overload: ## Measure only the overload curve of bench-realtime: out/benchmarks
	@dev/bench-realtime --only overload $(ARGUMENTS)

bench-telemetry: ## Print the cost of a frame's trace and times, compared with its pixels
	@dev/bench-telemetry

models: ## Download small models and convert them for Sidelight, into out/models (36 MB; FOLDER=path)
	@dev/models $(FOLDER)

gallery: ## Draw every filter for docs/reference/gallery.md (SIDELIGHT_TEST_MEDIA names a folder of pictures)
	@dev/gallery

reference: ## Write docs/reference/filters.md and configuration.md, deploy/sidelight.yaml and the typed filters of Swift and Python from the descriptions in the code
	@dev/reference

docs: ## Build the documentation of the libraries into out/docs (BASE=path under which it is published, PORT=8000 serves it)
	@PORT=$(PORT) dev/docs $(BASE)

examples: ## Build the Swift packages in Examples/
	@dev/examples

assets: ## Draw the sample stickers and backgrounds of Examples/media again
	@dev/assets

goldens: ## Draw the golden pictures of the tests again, with the reference interpreter
	@dev/goldens

protos: ## Generate the Swift, Python and JavaScript code of Protos/
	@dev/protos
	@dev/python-protos
	@dev/studio-protos

format: ## Format the Swift sources in place
	@dev/format

lint: ## Check the format of the Swift sources, as strictly as make check does
	@dev/lint

check: ## Check everything that a merge requires: lint, warnings, generated code, tests
	@dev/check

clean: ## Remove the files of builds, demo and tests
	@dev/clean
