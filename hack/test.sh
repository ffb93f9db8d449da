#!/usr/bin/env bash
# test.sh KUBECONFIG TESTFLAGS MODULE...: run the tests of the modules with the
# race detector, all of them even when one fails.
set -euo pipefail

kubeconfig=${1:-${RECONCILETEST_KUBECONFIG:-}} flags=$2
shift 2

if [ -n "$kubeconfig" ]; then
	[ -r "$kubeconfig" ] || { echo "test: cannot read KUBECONFIG=$kubeconfig" >&2; exit 1; }
	echo "test: API server tests run on the cluster of $kubeconfig"
	export RECONCILETEST_KUBECONFIG=$kubeconfig
else
	KUBEBUILDER_ASSETS=$(go -C hack/controlplane run . build | tail -n 1)
	export KUBEBUILDER_ASSETS
	echo "test: API server tests run on $KUBEBUILDER_ASSETS"
fi

hack/browser.sh

# How long an API server test waits for what it expects, where it does not say:
# a machine that does other work at the same time must not fail it.
export GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT=${GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT:-60s}

# A test fails when anything changes an object that the cache shares.
export KUBE_CACHE_MUTATION_DETECTOR=true

# Which cases of Converge are drawn changes with the day; RECONCILETEST_SEED repeats the draw of another one.
export RECONCILETEST_SEED=${RECONCILETEST_SEED:-$(date -u +%Y%m%d)}
echo "test: Converge draws its cases by RECONCILETEST_SEED=$RECONCILETEST_SEED"

# What the race detector finds stands at the end, where it is not lost among the output of the tests.
races=$(mktemp -d)
trap 'rm -rf "$races"' EXIT
export GORACE="log_path=$races/report"

failed=()
for module in "$@"; do
	echo "test: module $module"
	# shellcheck disable=SC2086 # the flags are words
	(cd "$module" && go test -race -timeout 25m $flags ./...) || failed+=("$module")
done

if [ ${#failed[@]} -gt 0 ]; then
	find "$races" -type f -exec head -n 60 {} + >&2
	echo "test: FAILED in: ${failed[*]}" >&2
	exit 1
fi

echo "test: all modules passed: $*"
