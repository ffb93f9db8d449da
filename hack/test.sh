#!/usr/bin/env bash
# test.sh quick|all KUBECONFIG TESTFLAGS MODULE...: run the tests of the modules, all of them even when one fails.
#
# quick runs every test that does not call testing.Short, without the race detector and with fixed samples, so that Go's test cache
# serves a second run. all runs what quick leaves out: packages with goroutines of ours with the race detector, the tests that call
# testing.Short, other samples of Converge, and the modules that only measure or check tools.
set -euo pipefail

mode=$1 kubeconfig=${2:-${RECONCILETEST_KUBECONFIG:-}} flags=$3
shift 3

# Modules that `make test` skips: they compile Helm, Prometheus or other controllers, and no library code depends on them.
heavy=" benchmarks examples/multicluster hack/chart hack/defects hack/monitoring "

# The control plane is built without cgo: equal settings let the compiler's cache serve both.
export CGO_ENABLED=0

if [ -n "$kubeconfig" ]; then
	[ -r "$kubeconfig" ] || { echo "test: cannot read KUBECONFIG=$kubeconfig" >&2; exit 1; }
	echo "test: API server tests run on the cluster of $kubeconfig"
	export RECONCILETEST_KUBECONFIG=$kubeconfig
else
	components=() # of all, the test of the control plane itself needs every component
	[ "$mode" = all ] || components=(-only etcd,kube-apiserver)
	KUBEBUILDER_ASSETS=$(go -C hack/controlplane run . build "${components[@]}" | tail -n 1)
	export KUBEBUILDER_ASSETS
	echo "test: API server tests run on $KUBEBUILDER_ASSETS"
fi

# How long an API server test waits for what it expects, where it does not say:
# a machine that does other work at the same time must not fail it.
export GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT=${GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT:-60s}

# A test fails when anything changes an object that the cache shares.
export KUBE_CACHE_MUTATION_DETECTOR=true

# Tests are short programs: collecting garbage half as often saves a tenth of the time of compiler, tests and control plane.
export GOGC=${GOGC:-200}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# uncached MODULE: print the flag that voids Go's test cache, for modules whose tests read files of other modules, which it cannot notice.
uncached() {
	case $1 in hack/* | cmd/*) echo -count=1 ;; esac
}

# Suites on an API server mostly wait: twice as many packages as cores run at a time.
parallel=$((2 * $(nproc)))

failed=()
# run MODULE ARGUMENT...: run go test in the module, and note its packages with their times.
run() {
	local module=$1
	shift
	# shellcheck disable=SC2046,SC2086 # the flags are words
	(cd "$module" && go test -p "$parallel" -timeout 25m $(uncached "$module") $flags "$@") 2>&1 | tee -a "$scratch/output" || failed+=("$module")
}

# packages MODULE GREP-ARGUMENT...: print the packages of the module whose files grep finds.
packages() {
	local module=$1
	shift
	(cd "$module" && { grep -rl --include='*.go' --exclude-dir=testdata "$@" . || true; } | xargs -r -n1 dirname | sort -u |
		while read -r folder; do
			at=$folder
			until [ -f "$at/go.mod" ]; do at=$(dirname "$at"); done
			[ "$at" != . ] || echo "$folder"
		done)
}

# concurrent MODULE: print the packages with tests whose own code starts goroutines or shares memory between them, and the suites that
# run managers on an API server.
concurrent() {
	{
		packages "$1" --exclude='*_test.go' -E '^[[:space:]]+go (func\(|[a-zA-Z.]+\()|^[[:space:]]*(import )?"sync(/atomic)?"$'
		packages "$1" --include='*_test.go' -F 'NewManager('
	} | sort -u | while read -r folder; do compgen -G "$1/$folder/*_test.go" >/dev/null && echo "$folder" || true; done
}

# left MODULE: print the packages with tests that quick skips, and the tests: `.` where specs of Ginkgo skip themselves.
left() {
	packages "$1" --include='*_test.go' -F 'testing.Short()' | while read -r folder; do
		(cd "$1" && awk '
			FNR == 1 { name = "." }
			/^func / { name = "." }
			/^func Test/ { name = $2; sub(/\(.*/, "", name) }
			/testing\.Short\(\)/ { print name }' "$folder"/*_test.go | sort -u | paste -sd ' ' | sed "s|^|$folder |")
	done
}

quick() {
	export RECONCILETEST_SEED=${RECONCILETEST_SEED:-1}
	for module in "$@"; do
		case $heavy in *" $module "*) continue ;; esac
		echo "test: module $module"
		run "$module" -short -vet=off ./... # the linters of make test-all vet
	done
}

all() {
	# Which cases of Converge are sampled changes with the day; RECONCILETEST_SEED repeats the sample of another one.
	export RECONCILETEST_SEED=${RECONCILETEST_SEED:-$(date -u +%Y%m%d)}
	echo "test: Converge samples its cases by RECONCILETEST_SEED=$RECONCILETEST_SEED"
	# What the race detector finds is printed at the end, below the output of the tests.
	export GORACE="log_path=$scratch/race"

	for module in "$@"; do
		case $heavy in *" $module "*)
			echo "test: module $module"
			run "$module" ./...
			continue
			;;
		esac

		racing=()
		# The stubs and tools of examples and hack are single processes; the library is what others run.
		[ "$module" != . ] || mapfile -t racing < <(concurrent "$module")
		if [ ${#racing[@]} -gt 0 ]; then
			echo "test: module $module, ${#racing[@]} packages with the race detector"
			CGO_ENABLED=1 run "$module" -race "${racing[@]}"
		fi

		left "$module" | while read -r folder tests; do
			case " ${racing[*]} " in *" $folder "*) continue ;; esac
			echo "$folder $tests"
		done >"$scratch/left"
		while read -r folder tests; do
			pattern="^(${tests// /|})\$"
			case " $tests " in *" . "*) pattern=. ;; esac
			echo "test: module $module, $folder: $pattern"
			run "$module" -run "$pattern" "$folder" </dev/null
		done <"$scratch/left"
	done

	if [ -d examples ]; then
		echo "test: another sample of Converge"
		run examples -run 'Converges?$' ./...
	fi
}

"$mode" "$@"

echo "test: the ten slowest packages, in seconds"
awk '$1 == "ok" && $3 ~ /s$/ { sub(/s$/, "", $3); printf "%8.1f %s\n", $3, $2 }' "$scratch/output" | sort -rn | awk "NR <= 10"

if [ ${#failed[@]} -gt 0 ]; then
	find "$scratch" -name 'race*' -type f -exec head -n 60 {} + >&2
	echo "test: FAILED packages:" >&2
	awk '$1 == "FAIL" && NF > 1 { print "  " $2 }' "$scratch/output" | sort -u >&2
	echo "test: FAILED in: ${failed[*]}" >&2
	exit 1
fi

echo "test: passed"
