#!/usr/bin/env bash
# loc.sh: lines of Go by folder, and those of each example's controllers beside what the product's own ones have. Blank
# lines, comment lines and generated files do not count.
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
	{ sum[$1, $2] += $3; total[$2] += $3; dirs[$1] = 1 }
	END {
		for (dir in dirs) printf "%-34s %7d %7d\n", dir, sum[dir, "code"], sum[dir, "test"] | "sort"
		close("sort")
		printf "%-34s %7d %7d   %.2f tests per code\n", "total", total["code"], total["test"], total["test"] / total["code"]
	}' <<<"$counted"

# What the products have, counted alike: their controllers, their folders here, and their lines without tests. An example is to
# need at most 40 % of them, the rest being the SDK. What controllers share is counted with the whole product.
upstream='
aim/AIMService:aim/aimservice:3900
aim/whole:aim/aimservice,aim/gpu,aim/runtimeconfig:3900
maas/ExternalModel:maas/externalmodel:389
maas/MaaSModelRef:maas/modelref:727
maas/MaaSAuthPolicy:maas/authpolicy:997
maas/MaaSSubscription:maas/subscription:853
maas/Tenant:maas/tenant:1723
maas/whole:maas/externalmodel,maas/modelref,maas/authpolicy,maas/subscription,maas/tenant,maas/backend:4767
modelregistry/ModelRegistry:modelregistry/registry:1181
modelregistry/ModelCatalog:modelregistry/catalog:1029
modelregistry/whole:modelregistry/registry,modelregistry/catalog:2549'

printf '\n%-34s %7s %7s   limit 40 %%\n' controller product ours
awk '
	NR == FNR { if ($2 == "code") sum[$1] += $3; next }
	{
		split($0, row, ":"); ours = 0; folders = split(row[2], folder, ",")
		for (i = 1; i <= folders; i++) {
			if (!(("examples/" folder[i]) in sum)) next # a part that is not there cannot be compared
			ours += sum["examples/" folder[i]]
		}
		percent = 100 * ours / row[3]
		printf "%-34s %7d %7d   %5.1f %%%s\n", row[1], row[3], ours, percent, (percent > 40 ? "  more than the limit" : "")
	}' <(echo "$counted") <(sed 1d <<<"$upstream")
