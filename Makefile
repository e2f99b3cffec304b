# FlexPipe: `make` lists the targets.
#
# FLEXPIPE_REQUIRE names, separated by commas, the parts of the checks that must not be skipped
# (race, staticcheck, or the name with which a test begins its skip reason). Without it a machine
# that lacks something skips that part and says why.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
FUZZTIME ?= 10s
# How long `make differential` compares the exact engines.
DIFFTIME ?= 1m
# bench-solve: PEERS=1 adds the solvers of others; see benchmarks/peers/README.md.
PEERS    ?=
LIMIT    ?= 60s
WORKERS  ?= 2
FILTER   ?=
RESULTS  ?= bin/solvebench.json
comma    := ,
ENGINES  ?= portfolio$(comma)lcg$(comma)sat$(if $(PEERS),$(comma)cpsat$(comma)z3$(comma)cbc)
# V=1 prints every test, not only packages, failures and skips.
V        ?=

STATICCHECK_VERSION := v0.8.2
STATICCHECK_DIR     := $(CURDIR)/bin/staticcheck-$(STATICCHECK_VERSION)

export FLEXPIPE_REQUIRE ?=

# $(call skip,NAME,REASON) names a part that this machine cannot run, and fails where it is required.
# REASON may use the recipe's shell variables.
define skip
case ",$$FLEXPIPE_REQUIRE," in \
*",$(1),"*) echo "FAIL $(1): $(2), and FLEXPIPE_REQUIRE asks for it" >&2; exit 1;; \
*) echo "SKIP $(1): $(2)";; \
esac
endef

REPORT = $(GO) run ./internal/testreport -require "$$FLEXPIPE_REQUIRE" $(if $(V),-v)

.PHONY: help build demo test unit race clp openblas lint fmt vet nocgo staticcheck bench fuzz differential peers bench-solve bench-headline bench-throughput bench-fidelity bench-effect clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | sort | awk -F'\t' '{printf "  make %-16s %s\n", $$1, $$2}'

build: ## build bin/flexpipe (pure Go)
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/flexpipe ./cmd/flexpipe

demo: build ## plan the examples, draw them, and train a small network (works offline once the modules are there)
	@bash examples/demo.sh bin/flexpipe

test: fmt vet nocgo unit race clp openblas staticcheck ## everything that this machine can check; names each skip

unit: ## go test ./...
	@echo "== go test"
	@$(GO) test -json ./... | $(REPORT)

race: ## go test -race (needs cgo and a C compiler)
	@echo "== go test -race"
	@if cc=$$($(GO) env CC) && command -v "$${cc%% *}" >/dev/null 2>&1; then \
		CGO_ENABLED=1 $(GO) test -race -short -json ./... | $(REPORT); \
	else \
		$(call skip,race,no C compiler ($$cc) on this machine); \
	fi

clp: ## the packages of linear programming with COIN-OR CLP (needs cgo, g++, pkg-config and libclp)
	@echo "== go test -tags clp"
	@if pkg-config --exists clp 2>/dev/null && command -v g++ >/dev/null 2>&1; then \
		CGO_ENABLED=1 $(GO) vet -tags clp ./solve/... && CGO_ENABLED=1 $(GO) test -tags clp -json ./solve/lp/... ./solve/ilp | $(REPORT); \
	else \
		$(call skip,clp,no libclp$(comma) g++ or pkg-config on this machine); \
	fi

openblas: ## the CPU backend with products by OpenBLAS (needs cgo, a C compiler, pkg-config and libopenblas)
	@echo "== go test -tags openblas"
	@if pkg-config --exists openblas 2>/dev/null && command -v gcc >/dev/null 2>&1; then \
		CGO_ENABLED=1 $(GO) vet -tags openblas ./runtime/cpu && CGO_ENABLED=1 $(GO) test -tags openblas -short -json ./runtime/cpu | $(REPORT); \
	else \
		$(call skip,openblas,no libopenblas$(comma) gcc or pkg-config on this machine); \
	fi

lint: fmt vet staticcheck ## gofmt, go vet, staticcheck

fmt: ## fail on files that gofmt would change
	@echo "== gofmt"
	@files=$$(gofmt -l .); \
	if [[ -n $$files ]]; then echo "not formatted, run gofmt -w:" >&2; echo "$$files" >&2; exit 1; fi

vet: ## go vet ./...
	@echo "== go vet"
	@$(GO) vet ./...

nocgo: ## the default build needs no C
	@echo "== CGO_ENABLED=0 go build"
	@CGO_ENABLED=0 $(GO) build ./...

staticcheck: ## staticcheck at a pinned version (fetched on first use)
	@echo "== staticcheck $(STATICCHECK_VERSION)"
	@if [[ ! -x $(STATICCHECK_DIR)/staticcheck ]]; then \
		log=$$(GOFLAGS= GOBIN=$(STATICCHECK_DIR) $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION) 2>&1) || true; \
	fi; \
	if [[ -x $(STATICCHECK_DIR)/staticcheck ]]; then \
		$(STATICCHECK_DIR)/staticcheck ./...; \
	else \
		$(call skip,staticcheck,not installed and cannot be fetched: $$(tail -n 1 <<<"$$log")); \
	fi

bench: ## all Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

fuzz: ## every fuzz target for FUZZTIME (default 10s)
	@for dir in $$($(GO) list -f '{{.Dir}}' ./...); do \
		for target in $$(cd "$$dir" && $(GO) test -list '^Fuzz' . | grep '^Fuzz' || true); do \
			echo "== $$target ($${dir#$(CURDIR)/})"; \
			(cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .); \
		done; \
	done

differential: ## compare the exact engines on random problems for DIFFTIME (default 1m)
	$(GO) test -run '^TestDifferential$$' -count 1 -v ./benchmarks -differential $(DIFFTIME)

peers: bin/peers/ready ## install the solvers of others for bench-solve (Python, fetches packages)

bin/peers/ready: benchmarks/peers/requirements.txt
	python3 -m venv bin/peers
	bin/peers/bin/pip install -q -r $<
	@touch $@

bench-solve: $(if $(PEERS),bin/peers/ready) ## measure the exact engines on the suite; PEERS=1: with the solvers of others
	@mkdir -p bin
	$(GO) run ./benchmarks/solvebench -limit $(LIMIT) -workers $(WORKERS) -filter '$(FILTER)' -engines $(ENGINES) -o $(RESULTS)
	$(GO) run ./benchmarks/solvebench -table $(RESULTS)

bench-headline: ## compare plans with those of other planners on uneven networks (about 20 minutes)
	$(GO) run ./benchmarks/headline -limit $(LIMIT) -workers $(WORKERS) -filter '$(FILTER)'

bench-throughput: ## train by several schedules in turn, in the format of benchstat
	$(GO) test -run '^$$' -bench . -benchtime 10x ./benchmarks/throughput

bench-fidelity: ## how well iterations are predicted, measured on this machine (about 4 minutes)
	@mkdir -p bin
	$(GO) run ./benchmarks/throughput -study fidelity | tee bin/fidelity.txt
	@mv bin/fidelity.txt benchmarks/results/fidelity.txt

bench-effect: ## what planning gains on networks with a large head, measured on this machine (about 4 minutes)
	@mkdir -p bin
	$(GO) run ./benchmarks/throughput -study effect -files bin/effect | tee bin/effect.txt
	@mv bin/effect.txt benchmarks/results/effect.txt

clean: ## remove what the targets built
	rm -rf bin
