#!/usr/bin/env bash
# check.sh PACKAGE: format, vet, lint and test a package, for example ./reconcile/apply/..., and vet and test what imports it directly in
# the same module. Tests that call testing.Short are left out.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
pattern=${1:?check: name a package, for example PKG=./reconcile/apply/...}
cd "$repository"

folder=${pattern%/...}
[ -d "$folder" ] || { echo "check: $pattern: $folder is no folder below $repository" >&2; exit 1; }
module=$folder
until [ -f "$module/go.mod" ]; do module=$(dirname "$module"); done
pattern=./$(realpath --relative-to="$module" "$folder")${pattern#"$folder"}
pattern=${pattern/#.\/.\/.../.\/...}

export GOWORK=off CGO_ENABLED=0
if [ -z "${KUBEBUILDER_ASSETS:-}${RECONCILETEST_KUBECONFIG:-}" ]; then
	KUBEBUILDER_ASSETS=$(go -C hack/controlplane run . build -only etcd,kube-apiserver | tail -n 1)
	export KUBEBUILDER_ASSETS
fi
export RECONCILETEST_SEED=${RECONCILETEST_SEED:-1} KUBE_CACHE_MUTATION_DETECTOR=true

cd "$module"
mapfile -t chosen < <(go list "$pattern")
[ ${#chosen[@]} -gt 0 ] || { echo "check: $pattern has no package" >&2; exit 1; }

importers() {
	go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./... |
		awk -v chosen="${chosen[*]}" 'BEGIN { split(chosen, list, " "); for (i in list) wanted[list[i]] = 1 }
			!($1 in wanted) { for (i = 2; i <= NF; i++) if ($i in wanted) { print $1; next } }'
}
mapfile -t above < <(importers)
echo "check: ${#chosen[@]} packages, and ${#above[@]} that import them, in module $module"

mapfile -t files < <(go list -f '{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .TestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}' "${chosen[@]}" | grep .)
unformatted=$(gofmt -l "${files[@]}")
[ -z "$unformatted" ] || { echo "check: run gofmt -w on:" "$unformatted" >&2; exit 1; }

go vet "${chosen[@]}" "${above[@]}"
go test -short -vet=off "${chosen[@]}" "${above[@]}"
"$repository/hack/lint.sh" "$module" "$pattern"
echo "check: passed"
