# Each target installs what it needs.
NODE := $(CURDIR)/node_modules/.bin/node
PACKAGES := node_modules/.package-lock.json
# Node caches stripped and compiled source here, which halves the start-up time.
export NODE_COMPILE_CACHE := $(CURDIR)/.cache/node
# Go's own archive installs there.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH):/usr/local/go/bin

.PHONY: help run demo command commands manual packages release test test-command test-clients test-cluster test-node test-fault test-citus soak bench capacity check docs format schema screenshots version
.DEFAULT_GOAL := help

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: $(PACKAGES) ## Run all of Runledger on this machine, with embedded servers
	@deploy/install.sh redis
	@exec $(NODE) cmd/standalone/main.ts

RATE ?= 200
EVENTS ?= 2000
CLIENTS ?= 50
demo: $(PACKAGES) ## Play a fleet of automations against `make run` (EVENTS=, RATE=, CLIENTS=)
	@NODE_EXTRA_CA_CERTS="$${DATA_DIR:-.data}/tls/cert.pem" exec $(NODE) cmd/demo/main.ts --events $(EVENTS) --rate $(RATE) --clients $(CLIENTS) \
	  --token-file "$${DATA_DIR:-.data}/demo-token" --url https://localhost:$${HTTPS_PORT:-8443} \
	  --read-token-file "$${DATA_DIR:-.data}/demo-read-token" --automations-file "$${DATA_DIR:-.data}/automations.yaml" --console https://localhost:$${CONSOLE_PORT:-8444}

# Room for young objects: fewer collections take a seventh less CPU time.
test test-command test-clients test-cluster test-fault check: export NODE_OPTIONS := --max-semi-space-size=64
# The same for Go, in kube-apiserver, etcd and helm: a quarter less.
test-cluster: export GOGC := 400

# Runs a file that failed once more, alone and last.
TIER := $(NODE) test/support/runner/run-tier.ts

# Three processes keep two cores busy, and two take the files that mostly wait. With more alike,
# some tests wait too long for a core.
FILES := test/{unit,integration,chart,clients,e2e}/**/*.test.ts
test: $(PACKAGES) ## Every test that needs no Go: unit, integration, chart, end to end, and the checks of the source
	@deploy/install.sh redis postgres pgbouncer prometheus alertmanager caddy chromium python borg faketime
	@$(TIER) -- "$(FILES)" "$(FILES)" "$(FILES)" "--waiting $(FILES)" "--waiting $(FILES)"

# The command `runledger` for a system, such as .cache/runledger/linux-arm64. Only on Linux has it
# an entry of its own (cmd/runledger/start_linux_amd64.s).
VERSION ?= development
SYSTEMS := linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64.exe windows-arm64.exe
SOURCES_OF_COMMAND := $(wildcard cmd/runledger/*.go cmd/runledger/*.s cmd/runledger/*.txt) cmd/runledger/go.mod
.cache/runledger/%: $(SOURCES_OF_COMMAND)
	@deploy/install.sh go
	@cd cmd/runledger && GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$(basename $*))) CGO_ENABLED=0 \
	  go build -trimpath -buildvcs=false -ldflags="-s -w -X main.version=$(VERSION) $(if $(filter linux-%,$*),-E entry)" -o "$(CURDIR)/$@" .

commands: $(addprefix .cache/runledger/,$(SYSTEMS)) ## Build the command `runledger` for each system, into .cache/runledger (needs Go)

command: .cache/runledger/runledger ## Build the command `runledger` for this system (needs Go)
.cache/runledger/runledger: $(SOURCES_OF_COMMAND)
	@deploy/install.sh go
	@$(MAKE) --no-print-directory .cache/runledger/$$(go env GOOS)-$$(go env GOARCH)
	@ln -f .cache/runledger/$$(go env GOOS)-$$(go env GOARCH) $@

manual: command
	@deploy/release/manual.sh .cache/runledger/runledger .cache/runledger/manual

packages: .cache/runledger/linux-amd64 .cache/runledger/linux-arm64 manual ## Make .deb and .rpm of it (VERSION=)
	@set -e; nfpm=$$(deploy/release/tool.sh nfpm); for arch in amd64 arm64; do for kind in deb rpm; do \
	  GOARCH=$$arch VERSION=$(patsubst development,0.0.0,$(VERSION)) $$nfpm package \
	    --config cmd/runledger/package.yaml --packager $$kind --target .cache/runledger/runledger-$$arch.$$kind >/dev/null; \
	done; done

release: $(PACKAGES) ## Build every file of the release VERSION= from the last commit, into .cache/release
	@deploy/release/build.sh $(VERSION) .cache/release/$(VERSION)

test-command: $(PACKAGES) command ## The command `runledger` beside the jobs it reports, and under faults (needs Go)
	@deploy/install.sh redis postgres
	@$(TIER) --config test/command/.mocharc.json 'test/command/*.test.ts' 'test/command/*.test.ts'

test-clients: $(PACKAGES) ## Clients that Java and Go generators make of openapi.yaml (needs Java, Maven and Go)
	@deploy/install.sh redis postgres python java maven
	@$(TIER) --config test/generated/.mocharc.json 'test/generated/*.test.ts'

# Two thirds of the time of this tier: helm and a controller wait for the API server.
INSTALLS := $(addprefix test/cluster/,chart-install.test.ts token-life.test.ts many-organizations.test.ts)
OUTAGES := $(addprefix test/cluster/,api-server-outage.test.ts controller.test.ts)
test-cluster: $(PACKAGES) ## The tests against a real Kubernetes API server (needs Go, or kube-apiserver and etcd)
	@deploy/install.sh redis postgres
	@$(NODE) test/support/cluster/build.ts
	@$(TIER) --config test/cluster/.mocharc.json "$(INSTALLS)" "$(OUTAGES)" 'test/cluster/*.test.ts'

test-node: $(PACKAGES) ## `helm install` on real nodes: containers, kubelet, Gateway (needs root and Go)
	@$(TIER) --config test/node/.mocharc.json 'test/node/*.test.ts'

# They compare latencies, and run alone.
LATENCIES := test/fault/abuse-connections.test.ts test/fault/abuse-tokens.test.ts
# The longest first; the two processes share the rest.
FAULTS := test/fault/faults.test.ts test/fault/*.test.ts
OTHERS := test/fault/fuzz.test.ts test/fault/abuse-memory.test.ts test/fault/*.test.ts
test-fault: $(PACKAGES) ## Real processes under a seeded selection of faults and abuse (SEED= repeats a run)
	@deploy/install.sh redis postgres pgbouncer faketime caddy
	@$(TIER) --config test/fault/.mocharc.json --first "$(LATENCIES)" "$(FAULTS)" "$(OTHERS)"

# Not part of CI, and not known to pass (docs/design/databases.md).
ON_CITUS := $(addprefix test/integration/,store/record-events.test.ts store/running-executions.test.ts record/*.test.ts read/events.test.ts read/executions.test.ts read/stream.test.ts)
test-citus: $(PACKAGES) ## What stores, reads and streams, against a Citus at hand (CITUS_URL=postgres://… of its coordinator)
	@: $(or $(CITUS_URL),$(error CITUS_URL is required: postgres://… of the coordinator, as a superuser))
	@deploy/install.sh redis postgres
	@CITUS_URL="$(CITUS_URL)" mocha $(ON_CITUS)

MINUTES ?= 60
soak: $(PACKAGES) ## Random faults for MINUTES=, then a table of lost and doubled events (SEED= repeats a run)
	@deploy/install.sh redis postgres faketime
	@exec nice $(NODE) test/fault/soak.ts --minutes $(MINUTES)

bench: $(PACKAGES) command ## Measure Runledger side by side with its baselines (SCENARIOS=ingest,drain QUICK=1 ROUNDS= SECONDS=)
	@deploy/install.sh redis postgres wrk chromium
	@exec $(NODE) test/bench/main.ts $(SCENARIOS)

check: $(PACKAGES) ## Only the checks of the source: format, types, lint, OpenAPI, audit, columns, references
	@mocha --no-config --timeout 120000 test/unit/checks.test.ts 'test/unit/lint/*.test.ts'

docs: $(PACKAGES) ## Regenerate the parts of documents that come from the code
	@$(NODE) test/support/docs.ts
	@prettier --write --log-level warn ARCHITECTURE.md docs

capacity: docs ## Reckon docs/operate/capacity.md from the measured costs: what a rate needs, and what gives way first

schema: $(PACKAGES) ## After a migration: write the schema dump that a test compares
	@deploy/install.sh postgres
	@$(NODE) test/support/write-schema.ts

screenshots: $(PACKAGES) ## Take the pictures of the console in README.md, from the record of a demo fleet
	@deploy/install.sh postgres chromium
	@$(NODE) test/support/screenshots.ts

version: $(PACKAGES) ## Write VERSION= into every file that names Runledger's version
	@$(NODE) test/support/version.ts $(VERSION)

format: $(PACKAGES) ## Format the source
	@prettier --write --log-level warn .

# npm warns that its own Node is older than the Node it installs; only errors are shown.
$(PACKAGES): package.json package-lock.json .npmrc
	@echo 'Fetching packages, the first time only.' >&2
	@npm ci --loglevel=error --no-progress >/dev/null
	@touch $@
