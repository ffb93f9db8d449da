# Everything that people and CI run; `make` alone says what there is.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Modules are tested with the versions their own go.mod asks for, whatever
# workspace somebody has.
export GOWORK := off

# One setting for the control plane, the library and the tools: Go's build
# cache then has each package once. The race detector sets its own.
export CGO_ENABLED := 0

# The modules with code of ours. hack/tools and the pins below
# hack/controlplane only name tools.
MODULES := $(patsubst %/,%,$(dir $(wildcard \
	go.mod examples/go.mod cmd/*/go.mod test/go.mod hack/controlplane/go.mod hack/demo/go.mod hack/site/go.mod \
	examples/multicluster/go.mod benchmarks/go.mod hack/chart/go.mod hack/defects/go.mod hack/monitoring/go.mod)))

CONTROLPLANE := go -C hack/controlplane run .

# A cluster of your own is only used when it is given to make itself:
#   make demo KUBECONFIG=~/.kube/config
# A KUBECONFIG of the environment is left alone: it may point anywhere.
ifeq ($(origin KUBECONFIG),command line)
GIVEN_KUBECONFIG := $(abspath $(patsubst ~/%,$(HOME)/%,$(KUBECONFIG)))
endif

.PHONY: help
help: ## Say what there is
	@awk 'BEGIN { FS = ":.*## " } /^[a-z][a-z-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: assets
assets: ## Build the control plane from source; the last line is its folder (COMPONENTS=etcd,kube-apiserver for a part)
	@$(CONTROLPLANE) build $(if $(COMPONENTS),-only $(COMPONENTS))

.PHONY: test
test: ## Run the tests without those that take long (TESTFLAGS='-run Apply -v', MODULES=examples); 14 minutes on 2 cores
	@hack/test.sh quick "$(GIVEN_KUBECONFIG)" "$(TESTFLAGS)" $(MODULES)

.PHONY: test-all
test-all: ## Run what make test leaves out: the race detector, kills and outages, other samples, the tools' modules, the linters; 25 minutes
	@hack/test.sh all "$(GIVEN_KUBECONFIG)" "$(TESTFLAGS)" $(MODULES)
	@$(MAKE) lint

.PHONY: check
check: ## Format, vet, lint and test one package and what imports it directly, without an API server (PKG=./reconcile/apply/...); FOCUS='prune' also runs the specs of that text on an API server
	@hack/check.sh "$(PKG)" "$(FOCUS)"

CASES ?= 100000

.PHONY: prove
prove: ## Search for a wrong "unchanged" of the apply engine (CASES=100000, SEED=n, SEQUENCE=n to repeat one), an hour or less, for templates that exceed their limits, half an hour (FUZZTIME=10m), apply published manifests as plans (MANIFESTS=folder), plant defects in the examples, and run every case of Converge and every recorded one, some hours
	@hack/prove.sh "$(CASES)" "$(SEED)" "$(SEQUENCE)"

.PHONY: lint
lint: ## Run the linters over all modules and the workflows, and make prose
	@hack/lint.sh all $(MODULES)
	@"$$(GOWORK=off CGO_ENABLED=0 go -C hack/tools tool -n actionlint)" -shellcheck= -pyflakes= .github/workflows/*.yaml
	@hack/prose.sh

.PHONY: prose
prose: ## Check the words of the pages and comments; PROSE=suggestion also prints long sentences
	@hack/prose.sh

.PHONY: apidiff
apidiff: ## List changes of the exported API since a commit; fail on incompatible ones (BASE=v0.1.0)
	@hack/apidiff.sh "$(BASE)"

.PHONY: generate
generate: ## Write the generated files
	@for module in $(MODULES); do (cd "$$module" && echo "generate: $$module" && go generate ./...); done

.PHONY: cluster
cluster: ## Start a cluster that lives until cluster-stop; the last line is its kubeconfig (ADMISSION=plugin,plugin)
	@$(CONTROLPLANE) start $(if $(ADMISSION),-admission-plugins $(ADMISSION))

.PHONY: cluster-stop
cluster-stop: ## Stop that cluster and remove its data
	@$(CONTROLPLANE) stop

PRODUCT ?= aim

# exec, so that a signal for make's child reaches the demo itself.
.PHONY: demo
demo: ## Show an operator at work on a real API server (PRODUCT=aim|maas|modelmesh|modelregistry|trustyai, FAIL=webhook|quota|rights|fight|spec, KUBECONFIG=file, README=1 to write the steps into the README)
	@test -x bin/demo || echo "demo: compiling the demo, which takes minutes when nothing is cached"
	@mkdir -p bin && go -C hack/demo build -o "$(CURDIR)/bin/demo" . 2> >(awk \
		'/^go: downloading / { printf "\rdemo: %d modules fetched", ++n; fflush(); next } { print } END { if (n) print "" }' >&2) && \
	exec bin/demo -product "$(PRODUCT)" $(if $(FAIL),-fail "$(FAIL)") $(if $(GIVEN_KUBECONFIG),-kubeconfig "$(GIVEN_KUBECONFIG)") \
		$(if $(filter yes,$(STANDIN)),-standin) $(if $(README),-readme)

.PHONY: stories
stories: ## Break an operator in each way of docs/operations.md, and show where the cause appears (STORY='a quota'); five minutes
	@STORY="$(STORY)" hack/stories.sh

.PHONY: bench
bench: ## Measure against other ways to reconcile (SCENARIO=steady, BENCHFLAGS='-owners 100', KUBECONFIG=file); minutes
	@mkdir -p bin && go -C benchmarks build -o "$(CURDIR)/bin/benchmarks" .
	@folder="$${KUBEBUILDER_ASSETS:-$(if $(GIVEN_KUBECONFIG),none,$$($(CONTROLPLANE) build -only etcd,kube-apiserver | tail -1))}"; \
	KUBEBUILDER_ASSETS="$$folder" exec bin/benchmarks -scenario "$(SCENARIO)" -out benchmarks/results.json \
		$(if $(GIVEN_KUBECONFIG),-kubeconfig "$(GIVEN_KUBECONFIG)") $(BENCHFLAGS)

.PHONY: kind-demo
kind-demo: ## The same in a kind cluster, the operator from an image (needs Docker, kind and kubectl; PRODUCT=aim)
	@hack/kind/demo.sh "$(PRODUCT)"

.PHONY: docs
docs: ## Render the documentation as HTML into bin/site
	@go -C hack/site run . -root "$(CURDIR)" -out "$(CURDIR)/bin/site"

.PHONY: audit
audit: ## Check licences and known vulnerabilities of what is linked (LICENCES_ONLY=1 without vuln.go.dev)
	@hack/audit.sh

.PHONY: release
release: ## Make the files of a release in bin/release (VERSION=v0.1.0)
	@hack/release.sh "$(VERSION)"

.PHONY: loc
loc: ## Count lines of Go by package: code, tests, and their ratio
	@hack/loc.sh
