#!/usr/bin/env bash
# stories.sh: run the failure stories of docs/operations.md as tests, and print one line for each: the result, the seconds, what is
# broken, and where the test finds the cause. STORY, a regular expression, selects stories by what is broken.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
cd "$repository"
export GOWORK=off CGO_ENABLED=0 KUBE_CACHE_MUTATION_DETECTOR=true

# One story a line: the package | the test, with the text of the spec if the test is a suite | what is broken | where the cause appears.
stories() {
	sed 's/ ; /;/g' <<'END'
reconcile/controller ; TestOnAPIServer 'reports an unavailable webhook' ; an admission webhook is unavailable ; condition, event, log, metric, explain
reconcile/controller ; TestOnAPIServer 'repeatedly takes a field by force' ; another manager takes a field by force ; condition, event, log, metric, explain
reconcile/controller ; TestOnAPIServer 'repeatedly updates an atomic field' ; another manager updates a field that cannot be merged ; condition, event, log, metric, explain
reconcile/controller ; TestOnAPIServer 'reports a missing permission to write' ; a permission to write is missing ; condition, event, log, metric, explain
reconcile/controller ; TestOnAPIServer 'reports a missing permission to list' ; a permission to list is missing at the start ; readiness, log, metric
reconcile/controller ; TestOnAPIServer 'reports that it lost a permission to list' ; a running operator loses a permission to list ; log, metric
reconcile/controller ; TestOnAPIServer 'reports that the API server is unavailable' ; the API server is unavailable ; readiness, log, metric
reconcile/controller ; TestOnAPIServer 'by an exhausted quota' ; a quota is exhausted ; condition, event
reconcile/apply/engine ; TestEngine 'A planned value that admission overrides causes no writes' ; admission overrides a planned field ; decision, and the condition Ready through it
reconcile/internal/pipeline ; TestPipeline 'report an owner without progress' ; nothing that an owner waits for happens ; condition Stalled, event
reconcile/controller ; TestOnAPIServer 'Many owners created in one namespace' ; one tenant creates a thousand owners ; none: owners of others are not delayed
reconcile/controller ; TestOnAPIServer 'optional kind that is not installed' ; an optional kind is not installed ; condition, explain, log
reconcile/apply/engine ; TestEngine 'Two processes with one field manager' ; two processes with different plans reconcile one owner ; condition, with the name of the own field manager
reconcile/operator ; TestOtherProcess ; a process without leader election runs next to the leader ; log
reconcile/operator ; TestLostLease ; the API server is too slow for the lease ; last line of the log
reconcile/operator ; TestAwayAtStart ; the API server is away at the start ; last line of the log
reconcile/operator ; TestUnsyncedKind ; a permission is missing until the sync timeout ; last line of the log
reconcile/controller ; TestOnAPIServer 'does not reconcile the owner names the shard' ; an owner belongs to another shard ; explain
reconcile/apply/engine ; TestEngine 'kept by a finalizer is reported in each reconciliation while it is planned' ; a finalizer keeps a child that is being deleted ; decision, and the condition Ready through it
reconcile/controller ; TestOnAPIServer 'is not an error in a namespace that is being deleted' ; the namespace is being deleted ; condition
reconcile/controller ; TestOnAPIServer 'whose API server is killed' ; the cluster of the children is unavailable ; condition, event
hack/monitoring ; TestAlerts/(OperatorGone|NoLeader) ; no process runs, or none has the lease ; alerts OperatorGone, NoLeader
hack/monitoring ; TestAlerts/(Restarts|MemoryNearLimit) ; the process is killed for its memory ; alerts Restarts, MemoryNearLimit
hack/monitoring ; TestAlerts/TwoVersions ; two versions run at once ; alert TwoVersions
hack/monitoring ; TestAlerts/(CacheNotSynced|CacheStale) ; a kind cannot be listed ; alerts CacheNotSynced, CacheStale
hack/monitoring ; TestAlerts/CertificateExpires ; the certificate of the webhooks expires ; alert CertificateExpires
reconcile/operator ; TestVoidCredentials ; the credentials of a running operator become invalid ; last line of the log
reconcile/operator ; TestOwnersKindDeleted ; the CRD of the owners is deleted ; alert OwnersGone, metric
reconcile/controller ; TestOnAPIServer 'unavailable conversion webhook' ; a conversion webhook is down ; condition, event, log, metric
reconcile/operator ; TestUninstalled ; owners are deleted after the operator was uninstalled ; finalizer with the name of the controller
END
}

if [ -z "${KUBEBUILDER_ASSETS:-}${RECONCILETEST_KUBECONFIG:-}" ]; then
	KUBEBUILDER_ASSETS=$(go -C hack/controlplane run . build -only etcd,kube-apiserver | tail -n 1)
	export KUBEBUILDER_ASSETS
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

failed=0 count=0
while IFS=';' read -r folder test broken where; do
	[[ $broken =~ ${STORY:-} ]] || continue
	binary=$work/$(tr / - <<<"$folder")
	[ -x "$binary" ] || go -C "$folder" test -vet=off -c -o "$binary" .
	arguments=(-test.v -test.timeout=10m)
	case $test in
	*\'*) name=${test%% *} focus=${test#*\'}; arguments+=(-test.run "^$name\$" -ginkgo.no-color -ginkgo.focus "${focus%\'}") ran='^Ran [1-9][0-9]* of' ;;
	*) arguments+=(-test.run "^${test/\//\$/^}\$") ran='^--- PASS' ;;
	esac
	began=$(date +%s) result=ok
	# A test that does not run is a failure: its name has changed, or it was skipped.
	count=$((count + 1))
	# A test that does not run is a failure: its name has changed, or it was skipped.
	if ! (cd "$folder" && "$binary" "${arguments[@]}") >"$work/output" 2>&1 || ! grep -qE "$ran" "$work/output" || grep -q -- '--- SKIP' "$work/output"; then
		result=FAILED failed=$((failed + 1))
		mkdir -p bin && cp "$work/output" "bin/story-$count.log"
	fi
	printf '%-6s %4ss  %s: %s\n' "$result" "$(($(date +%s) - began))" "$broken" "$where"
	[ "$result" = ok ] || echo "              the output is in bin/story-$count.log"
done < <(stories)

echo "stories: $count, failed: $failed"
[ "$count" -gt 0 ] || { echo "stories: no story matches STORY=${STORY:-}" >&2; exit 1; }
[ "$failed" -eq 0 ]
