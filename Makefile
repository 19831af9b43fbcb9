# make = build + vet + lint + test.  make try runs the main job; make test the tests. Both need Go and nothing else.
GO      ?= go
LINT    ?= $(shell command -v golangci-lint || echo bin/golangci-lint)
LINTVER := v2.15.0
LDFLAGS := -s -w -X main.commit=$(shell git rev-parse --short=12 HEAD 2>/dev/null) -X main.date=$(shell git log -1 --format=%cI 2>/dev/null)
FLAGS   ?=

.PHONY: all build vet lint test race fuzz bench eval hosts release try clean
all: build vet lint test
build:
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...
vet:
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
lint: $(LINT)
	$(LINT) run ./...
bin/golangci-lint:
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTVER)
test: build
	$(GO) test $(FLAGS) ./...
race:
	$(GO) test -race -short ./...
fuzz: # every fuzz target, FUZZ each
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(or $(FUZZ),10s) $$p || exit 1; done; done
bench: build # whole cold hook processes against an empty Go binary
	$(GO) test -count=1 -v -timeout 30m -run '^TestSpeed' ./cmd/stillso-hook -args -speed
eval: build # recall, extraction and the public sets, from ../shared
	bin/stillso eval all
hosts: # the real assistants in HOSTBIN, cut off from the network, against a fixture of a model: docs/hosts.md
	$(GO) test -c -tags hosts -o bin/hosts.test ./cmd/stillso
	@cd cmd/stillso && set -- $(CURDIR)/bin/hosts.test -test.v -test.run '$(if $(HOST),^TestRealHosts/$(HOST),^TestReal)'; \
	if unshare -rn true 2>/dev/null; then exec unshare -rn sh -c 'ip link set lo up; exec "$$@"' sh "$$@"; else exec "$$@"; fi
release: # dist/: six systems, packages, checksums, from the commit that is checked out: docs/release.md
	$(GO) run ./release -out dist $(if $(URL),-url $(URL))
try: build
	@bin/stillso try $(if $(DIR),"$(DIR)")
clean:
	rm -rf bin dist
