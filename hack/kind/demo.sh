#!/usr/bin/env bash
# demo.sh PRODUCT: the demo in a kind cluster, with the operator in a pod under
# its own service account. The cluster stays for a look around.
set -euo pipefail
cd "$(dirname "$0")/../.."

product=$1
cluster=reconcilekit

for tool in docker kind kubectl; do
	command -v "$tool" >/dev/null || { echo "kind-demo: $tool is not installed; make demo needs none of docker, kind, kubectl" >&2; exit 1; }
done

[ -f "examples/$product/config/kustomization.yaml" ] || {
	echo "kind-demo: examples/$product/config/kustomization.yaml is not there, so PRODUCT=$product cannot be deployed" >&2
	exit 1
}

if ! kind get clusters | grep -qx "$cluster"; then
	kind create cluster --name "$cluster"
fi

kubeconfig=$(mktemp)
trap 'rm -f "$kubeconfig"' EXIT
kind get kubeconfig --name "$cluster" >"$kubeconfig"
export KUBECONFIG=$kubeconfig

docker build -t "$product:latest" -f hack/kind/Dockerfile --build-arg "PRODUCT=$product" .
kind load docker-image "$product:latest" --name "$cluster"

# Server-side: the CRDs are larger than the annotation of a client-side apply.
# The demo below waits for the operator to do its work.
kubectl apply --server-side --force-conflicts -k "examples/$product/config"

mkdir -p bin
GOWORK=off go -C hack/demo build -o "$PWD/bin/demo" .
bin/demo -product "$product" -kubeconfig "$kubeconfig" -deployed

echo "kind-demo: the cluster stays; remove it with: kind delete cluster --name $cluster"
