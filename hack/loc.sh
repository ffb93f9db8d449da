#!/usr/bin/env bash
# loc.sh: lines of Go by folder, without blank lines, comment lines and
# generated files.
set -euo pipefail

git ls-files '*.go' | grep -v -e '/zz_generated' | while read -r file; do
	kind=code
	case $file in *_test.go) kind=test ;; esac
	lines=$(grep -cv -e '^[[:space:]]*$' -e '^[[:space:]]*//' "$file" || true)
	echo "$(dirname "$file") $kind $lines"
done | awk '
	{ sum[$1, $2] += $3; total[$2] += $3; dirs[$1] = 1 }
	END {
		for (dir in dirs) printf "%-34s %7d %7d\n", dir, sum[dir, "code"], sum[dir, "test"] | "sort"
		close("sort")
		printf "%-34s %7d %7d   %.2f tests per code\n", "total", total["code"], total["test"], total["test"] / total["code"]
	}'
