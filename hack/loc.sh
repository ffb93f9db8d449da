#!/usr/bin/env bash
# loc.sh: lines of Go by folder, and those of each example's controllers next to the product's own. Blank lines,
# comment lines and generated files do not count.
set -euo pipefail

cd "$(git rev-parse --show-toplevel)"

counted=$(git ls-files '*.go' | grep -v -e '/zz_generated' | while read -r file; do
	[ -f "$file" ] || continue # removed, and not committed yet
	kind=code
	case $file in *_test.go) kind=test ;; esac
	lines=$(grep -cv -e '^[[:space:]]*$' -e '^[[:space:]]*//' "$file" || true)
	echo "$(dirname "$file") $kind $lines"
done)

printf '%-34s %7s %7s\n' folder code tests
awk '
	{
		part = "the library"
		if ($1 ~ /^examples/) part = "the examples"
		if ($1 ~ /^reconcile\/reconciletest/) part = "the test kit"
		if ($1 ~ /^(benchmarks|cmd|hack|internal\/oracle)/) part = "tools and tests of the library"
		sum[$1, $2] += $3; dirs[$1] = 1; parts[part] = 1
		total[part, $2] += $3; total["all", $2] += $3
	}
	function row(name) {
		printf "%-34s %7d %7d   %.2f tests per code\n", name, total[name, "code"], total[name, "test"], total[name, "test"] / total[name, "code"]
	}
	END {
		for (dir in dirs) printf "%-34s %7d %7d\n", dir, sum[dir, "code"], sum[dir, "test"] | "sort"
		close("sort")
		print ""
		for (part in parts) row(part)
		row("all")
	}' <<<"$counted"

# The products, counted in the same way: controller, its folders here, its lines without tests. "whole" includes main and what the
# controllers share.
upstream='
aim/AIMService:aim/aimservice:3900
aim/whole:aim,aim/aimservice,aim/gpu,aim/runtimeconfig:3900
maas/ExternalModel:maas/externalmodel:389
maas/MaaSModelRef:maas/modelref:727
maas/MaaSAuthPolicy:maas/authpolicy:997
maas/MaaSSubscription:maas/subscription:853
maas/Tenant:maas/tenant:1723
maas/whole:maas,maas/operator,maas/externalmodel,maas/modelref,maas/authpolicy,maas/subscription,maas/tenant,maas/backend:5217
modelregistry/ModelRegistry:modelregistry/registry:1181
modelregistry/ModelCatalog:modelregistry/catalog:1029
modelregistry/whole:modelregistry,modelregistry/registry,modelregistry/catalog:2769
modelmesh/whole:modelmesh,modelmesh/runtimes,modelmesh/service,modelmesh/predictor,modelmesh/settings,modelmesh/webhook,modelmesh/mmesh:4923
trustyai/TAS:trustyai/tas:1591
trustyai/GuardrailsOrchestrator:trustyai/orchestrator:1477
trustyai/NemoGuardrails:trustyai/nemo:854
trustyai/LMEvalJob:trustyai/lmes:2231
trustyai/JobManager:trustyai/jobmgr:120
trustyai/EvalHub:trustyai/evalhub:5711
trustyai/whole:trustyai,trustyai/tas,trustyai/orchestrator,trustyai/nemo,trustyai/lmes,trustyai/jobmgr,trustyai/evalhub,trustyai/guardrails,trustyai/images,trustyai/cabundle,trustyai/proxy,trustyai/counters:13341'

printf '\n%-34s %7s %7s %9s\n' controller product ours percent
awk '
	NR == FNR { if ($2 == "code") sum[$1] += $3; next }
	{
		split($0, row, ":"); ours = 0; folders = split(row[2], folder, ",")
		for (i = 1; i <= folders; i++) {
			if (!(("examples/" folder[i]) in sum)) next # a part that is not there cannot be compared
			ours += sum["examples/" folder[i]]
		}
		printf "%-34s %7d %7d %7.1f %%\n", row[1], row[3], ours, 100 * ours / row[3]
	}' <(echo "$counted") <(sed 1d <<<"$upstream")
