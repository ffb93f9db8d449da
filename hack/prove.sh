#!/usr/bin/env bash
# prove.sh CASES SEED STORY: search on a real API server for a child that the
# apply engine calls unchanged although an apply would change it. With a story
# only that one is told. Prints how far it is, and figures at the end. Without a
# story, hostile templates and streams are searched for afterwards, each for
# FUZZTIME (10m): one that takes more than its limits fails. Then defects are
# planted in the examples, of which at least nine in ten must be caught, cases
# with faults run in both worlds of the test kit, and every case of Converge and
# every recorded one runs for the examples, and what needs many owners.
set -euo pipefail

cases=${1:-100000} seed=${2:-} story=${3:-}

if [ -z "${KUBEBUILDER_ASSETS:-}" ]; then
	KUBEBUILDER_ASSETS=$(go -C hack/controlplane run . build -only etcd,kube-apiserver | tail -n 1)
	export KUBEBUILDER_ASSETS
fi

export ORACLE_CASES=$cases ORACLE_SEED=$seed ORACLE_STORY=$story CI=true
echo "prove: $cases cases${seed:+, seed $seed}${story:+, story $story}"
go test -count=1 -timeout 12h -v -run TestUnchangedIsTrue ./internal/oracle

[ -z "$story" ] || exit 0
fuzz() {
	echo "prove: $2 for ${FUZZTIME:-10m}"
	go test -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:-10m}" "$1"
}
fuzz ./routing/pathtemplate FuzzBudget
fuzz ./manifests FuzzObjects
fuzz ./manifests FuzzTexts
fuzz ./manifests FuzzRender

for product in aim maas modelmesh trustyai; do
	echo "prove: planted defects in $product, some minutes"
	go -C hack/defects run . -root ../.. -quick -product "$product"
done
echo "prove: planted defects in modelregistry, an hour or more"
go -C hack/defects run . -root ../.. -product modelregistry

echo "prove: every case with faults in the fake world and on a real API server, some minutes"
RECONCILETEST_CASES=all go test -count=1 -timeout 1h -run '^TestFaultsInBothWorlds$' ./reconcile/reconciletest

echo "prove: every case of Converge, and every recorded one, of every product"
(cd examples && RECONCILETEST_CASES=all go test -count=1 -timeout 12h -run 'Converges?$|^TestMany$|^TestTwoProcesses$|^TestTwoShards$|^TestScenarios$|^TestAway$' ./...)
