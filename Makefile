# make help lists the targets.
GO ?= go
FUZZTIME ?= 30s
SOAKTIME ?= 10000000x
GUIDED ?= 200000x
FUZZDIRS ?= $(shell grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u)
SHARED ?= $(abspath ../shared)
export FRAZIL_SHARED ?= $(wildcard $(SHARED))

.PHONY: help fmt lint test race fuzz soak conformance interop bench bench-peers cover api

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-12s %s\n", $$1, $$2}'

fmt: ## format the code
	golangci-lint fmt ./...

lint: ## layers, docs and golangci-lint
	$(GO) vet ./...
	$(GO) test -count=1 ./internal/lint
	golangci-lint run ./...

test: ## the tests, as README says
	CGO_ENABLED=0 $(GO) test ./...

race: ## the tests with the race detector
	$(GO) test -race ./...

fuzz: ## every fuzz target for FUZZTIME (5000x counts runs)
	@set -e; log="$$(mktemp)"; trap 'rm -f "$$log"' EXIT; \
	for f in $(FUZZDIRS); do \
	  for t in $$(grep -hoE '^func Fuzz\w+' $$f/*_test.go | sed 's/func //' | sort -u); do \
	    echo "$$f $$t"; \
	    $(GO) test $$f -run '^$$' -fuzz "^$$t$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x >"$$log" 2>&1 || { cat "$$log"; exit 1; }; \
	  done; \
	done

# Coverage guides the first runs, which grow the corpus; the rest run over it
# without counters, five times as fast.
soak: ## ten million executions of each fuzz target (FUZZDIRS=./variant: of one package)
	$(MAKE) fuzz FUZZTIME=$(GUIDED)
	@set -e; dir="$$(mktemp -d)"; trap 'rm -rf "$$dir"' EXIT; \
	for f in $(FUZZDIRS); do \
	  $(GO) test -c -o "$$dir/fuzz.test" $$f; \
	  corpus="$$($(GO) env GOCACHE)/fuzz/$$($(GO) list $$f)"; \
	  for t in $$(grep -hoE '^func Fuzz\w+' $$f/*_test.go | sed 's/func //' | sort -u); do \
	    echo "$$f $$t, $(SOAKTIME)"; \
	    (cd $$f && "$$dir/fuzz.test" -test.run '^$$' -test.fuzz "^$$t$$" -test.fuzztime $(SOAKTIME) -test.fuzzminimizetime 100x \
	      -test.fuzzcachedir "$$corpus") >"$$dir/log" 2>&1 || { cat "$$dir/log"; exit 1; }; \
	    grep -E '^fuzz: elapsed' "$$dir/log" | tail -1; \
	  done; \
	done

conformance: ## tables that Spark wrote, through examples/lake
	$(GO) build -o out/lake ./examples/lake
	python3 $(SHARED)/tools/conformance.py --lake out/lake --root $(SHARED)/conformance --gets

interop: ## round trips with Spark, DuckDB, pyiceberg, arrow-rs, parquet-go and arrow-go
	$(GO) test -tags interop -count=1 -timeout 30m -v ./internal/interop

bench: ## benchmarks of the packages
	$(GO) test -run '^$$' -bench . -benchmem ./variant ./shred ./deletevec ./internal/pq ./udf ./iceberg ./examples/...

bench-peers: ## the same work by Frazil and its peers, in one run
	cd internal/bench && $(GO) run . -rounds 5 -rust -duckdb

cover: ## coverage by function
	mkdir -p out
	$(GO) test -coverprofile=out/cover.out ./... && $(GO) tool cover -func=out/cover.out | tail -1

api: ## accept a change of the exported API
	$(GO) test -count=1 ./internal/lint -run TestExportedAPI -update
