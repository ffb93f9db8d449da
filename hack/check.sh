#!/usr/bin/env bash
# check.sh PACKAGE [FOCUS]: format, vet, lint and test a package, for example ./reconcile/apply/..., and vet and test what imports it
# directly in the same module. Tests that call testing.Short and tests on an API server are left out. With FOCUS, a regular expression,
# the specs of the package that it matches run on an API server.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
pattern=${1:?check: name a package, for example PKG=./reconcile/apply/...}
focus=${2:-}
cd "$repository"

folder=${pattern%/...}
[ -d "$folder" ] || { echo "check: $pattern: $folder is no folder below $repository" >&2; exit 1; }
module=$folder
until [ -f "$module/go.mod" ]; do module=$(dirname "$module"); done
pattern=./$(realpath --relative-to="$module" "$folder")${pattern#"$folder"}
pattern=${pattern/#.\/.\/.../.\/...}

export GOWORK=off CGO_ENABLED=0
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
# Without an API server the suites that need one skip themselves; CI makes them fail.
env -u CI -u KUBEBUILDER_ASSETS -u RECONCILETEST_KUBECONFIG go test -short -vet=off "${chosen[@]}" "${above[@]}"
"$repository/hack/lint.sh" "$module" "$pattern"

if [ -n "$focus" ]; then
	mapfile -t suites < <(go list -f '{{.Dir}}' "${chosen[@]}" | while read -r folder; do grep -l 'RunSpecs(' "$folder"/*_test.go; done)
	[ ${#suites[@]} -gt 0 ] || { echo "check: FOCUS=$focus: $pattern has no specs" >&2; exit 1; }
	if [ -z "${KUBEBUILDER_ASSETS:-}${RECONCILETEST_KUBECONFIG:-}" ]; then
		KUBEBUILDER_ASSETS=$(go -C "$repository/hack/controlplane" run . build -only etcd,kube-apiserver | tail -n 1)
		export KUBEBUILDER_ASSETS
	fi
	for suite in "${suites[@]}"; do
		entry=$(awk '/^func Test/ { name = $2; sub(/\(.*/, "", name) } /RunSpecs\(/ { print name }' "$suite")
		go test -short -vet=off -run "^$entry\$" "$(dirname "$suite")" -ginkgo.focus "$focus"
	done
fi
echo "check: passed"
