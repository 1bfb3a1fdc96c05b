# Every target is a readable script in dev/; `make help` lists them, `dev/test --help` and `dev/bench --help` their
# parts.
.DEFAULT_GOAL := help
.PHONY: help setup build demo call examples models test fuzz bench fleet gallery goldens reference docs protos format lint check packages clean

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' \
		| while IFS="$$(printf '\t')" read -r name line; do printf '  %-10s %s\n' "$$name" "$$line"; done

setup: ## Install the missing Debian packages for all targets but the benchmarks
	@dev/setup

build: ## Build the sidelight command in release
	@dev/build

demo: ## Filter a video with a running server: out/demo (VIDEO=path; ARGUMENTS=--faces)
	@dev/demo $(ARGUMENTS)

call: ## Run a filtered video call between browser tabs: http://127.0.0.1:8080 (PORT=9000)
	@dev/call $(ARGUMENTS)

examples: ## Build the Swift packages in Examples/
	@dev/build examples

models: ## Download models and convert them for Sidelight: out/models (36 MB; FOLDER=path)
	@dev/models $(FOLDER)

test: ## Run every test, or PART=swift, python, client, call, studio, stress and others (dev/test --help)
	@dev/test $(PART) $(ARGUMENTS)

fuzz: ## Fuzz the readers of untrusted input (TARGET=jpeg SECONDS=60; default: all targets)
	@dev/fuzz $(or $(TARGET),all) $(or $(SECONDS),60)

bench: ## Run a benchmark: PART=kernels, vision, wire, realtime and others (dev/bench --help)
	@dev/bench $(PART) $(ARGUMENTS)

fleet: ## Run drills with three servers, proxies and call servers (ARGUMENTS=--swarm: a Docker Swarm; --kubernetes)
	@dev/bench fleet $(ARGUMENTS)

gallery: ## Draw every filter for docs/reference/gallery.md (SIDELIGHT_TEST_MEDIA names pictures)
	@dev/pictures gallery

goldens: ## Draw the golden pictures of the tests again, with the reference interpreter
	@dev/pictures goldens

reference: ## Write the reference pages, deploy/sidelight.yaml and the typed filters
	@dev/reference

docs: ## Build the libraries' documentation: out/docs (BASE=path of the site, PORT=8000 serves it)
	@PORT=$(PORT) dev/docs $(BASE)

protos: ## Generate the Swift, Python and JavaScript code of Protos/
	@dev/protos

format: ## Format the Swift sources in place
	@dev/format

lint: ## Check format, spelling, links, and dependencies between modules
	@dev/lint

check: ## Check everything that a merge requires: lint, warnings, generated code, tests
	@dev/check

packages: ## Build the packages of a release: out/packages (PART=deb, wheel, images, npm, release)
	@dev/packages $(PART)

clean: ## Remove the files of builds, demo and tests
	@dev/clean
