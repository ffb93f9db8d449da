#!/usr/bin/env bash
# lint.sh MODULE PACKAGE...: run the linters over packages of a module. The linters' cache is in the user's cache folder, so that a new
# clone at the same path finds it. Each path has its own: findings of another clone would name the files there.
set -euo pipefail

repository=$(cd "$(dirname "$0")/.." && pwd)
module=$1
shift

export GOWORK=off CGO_ENABLED=0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/reconcilekit/golangci-lint
GOLANGCI_LINT_CACHE=$cache/$(printf %s "$repository" | cksum | cut -d ' ' -f 1)
export GOLANGCI_LINT_CACHE

linter=$(go -C "$repository/hack/tools" tool -n golangci-lint)
cd "$repository/$module"
exec "$linter" run --config "$repository/.golangci.yml" "$@"
