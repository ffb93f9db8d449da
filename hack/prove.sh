#!/usr/bin/env bash
# prove.sh CASES SEED SEQUENCE: search on a real API server for a child that the
# apply engine reports as unchanged although an apply would change it. With a
# sequence, only that sequence of events runs. Prints its progress, and counts at
# the end. Without a sequence, it then changes SWITCH_CASES plans (10000) and
# compares each child with a new one, and fuzzes templates and YAML streams, each
# for FUZZTIME (10m); an input that exceeds its limits fails. It applies published
# manifests (MANIFESTS=folder with PROJECT-RELEASE.yaml, else small ones of our
# own) and the Helm charts of the examples as plans: restarts, an edit of each
# field, upgrades, removal. Then it plants defects
# in the examples, of which the tests must find at least nine in ten, and runs
# the fault cases on both API servers of the test kit, every case of Converge,
# every recorded case, and the tests with many owners.
set -euo pipefail

cases=${1:-100000} seed=${2:-} sequence=${3:-}

if [ -z "${KUBEBUILDER_ASSETS:-}" ]; then
	KUBEBUILDER_ASSETS=$(go -C hack/controlplane run . build -only etcd,kube-apiserver | tail -n 1)
	export KUBEBUILDER_ASSETS
fi

export ORACLE_CASES=$cases ORACLE_SEED=$seed ORACLE_SEQUENCE=$sequence CI=true
echo "prove: $cases cases${seed:+, seed $seed}${sequence:+, sequence $sequence}"
go test -count=1 -timeout 12h -v -run TestUnchangedIsTrue ./internal/oracle

[ -z "$sequence" ] || exit 0
echo "prove: ${SWITCH_CASES:=10000} pairs of plans"
SWITCH_CASES=$SWITCH_CASES go test -count=1 -timeout 12h -v -run TestSwitchedIsAsNew ./internal/oracle
fuzz() {
	echo "prove: $2 for ${FUZZTIME:-10m}"
	go test -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:-10m}" "$1"
}
fuzz ./routing/pathtemplate FuzzBudget
fuzz ./manifests FuzzObjects
fuzz ./manifests FuzzTexts
fuzz ./manifests FuzzRender

if [ -n "${MANIFESTS:-}" ]; then
	MANIFESTS=$(realpath "$MANIFESTS")
	export MANIFESTS
fi
echo "prove: published manifests as plans, of ${MANIFESTS:-internal/releases/testdata}, a minute for each project"
go test -count=1 -timeout 12h -v -run '^TestReleases$' ./internal/releases
echo "prove: the Helm charts of the examples as plans, some minutes"
(cd hack/chart && CHARTS=all go test -count=1 -timeout 12h -v -run '^TestReleases$' .)

for product in aim maas modelmesh trustyai; do
	echo "prove: planted defects in $product, some minutes"
	go -C hack/defects run . -root ../.. -quick -product "$product"
done
echo "prove: planted defects in modelregistry, an hour or more"
go -C hack/defects run . -root ../.. -product modelregistry

echo "prove: every fault case on the fake and on a real API server, some minutes"
RECONCILETEST_CASES=all go test -count=1 -timeout 1h -run '^TestFaultsOnBothServers$' ./reconcile/reconciletest

echo "prove: every case of Converge, and every recorded one, of every product"
(cd examples && RECONCILETEST_CASES=all go test -count=1 -timeout 12h -run 'Converges?$|^TestMany$|^TestTwoProcesses$|^TestTwoShards$|^TestScenarios$|^TestAway$' ./...)
