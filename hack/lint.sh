#!/usr/bin/env bash
# lint.sh MODULE PACKAGE...: run the linters over packages of a module.
# lint.sh all MODULE...: run them over all modules, even when one has findings. An exclusion of .golangci.yml that excludes nothing in any
# of them is a finding, too; with one module alone it is not looked for.
#
# The linters keep their results by absolute path. So that one cache serves every clone, they read a copy of the sources in the user's
# cache folder: the same path, wherever the clone is. What they print is relative to the module, as it would be in the clone.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/reconcilekit/lint
export GOWORK=off CGO_ENABLED=0 GOLANGCI_LINT_CACHE=$cache/results
linter=$(go -C "$repository/hack/tools" tool -n golangci-lint)

mkdir -p "$cache"
exec 9>"$cache/lock"
flock -n 9 || { echo "lint: another run uses the copy of the sources, waiting for it" >&2; flock 9; }

# The files that git knows or would add, without those that the working tree has no more.
rm -rf "$cache/sources"
mkdir "$cache/sources"
(cd "$repository" && git ls-files -z --cached --others --exclude-standard |
	while IFS= read -r -d '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
	tar --create --null --files-from=- --file=-) | tar --extract --directory="$cache/sources"

said=$(mktemp)
trap 'rm -f "$said"' EXIT

# lint MODULE PACKAGE...: run the linters; the exclusions that they did not need are kept for unused.
lint() {
	local module=$1 status=0
	shift
	(cd "$cache/sources/$module" && "$linter" run --config "$cache/sources/.golangci.yml" "$@" 2>"$said.now") || status=$?
	grep -F 'Skipped 0 issues by rules' "$said.now" | sed 's/.*by rules: //' >>"$said" || true
	grep -vF 'Skipped 0 issues by rules' "$said.now" >&2 || true
	rm "$said.now"
	return "$status"
}

if [ "$1" != all ]; then
	lint "$@"
	exit
fi

shift
failed=()
for module; do
	echo "lint: $module"
	lint "$module" ./... || failed+=("$module")
done
unused=$(sort "$said" | uniq -c | awk -v modules=$# '$1 == modules { $1 = ""; print }')
if [ -n "$unused" ] && [ $# -gt 1 ]; then
	echo "lint: exclusions of .golangci.yml that exclude nothing in any module:" "$unused" >&2
	failed+=(.golangci.yml)
fi
[ ${#failed[@]} -eq 0 ] || { echo "lint: findings in: ${failed[*]}" >&2; exit 1; }
