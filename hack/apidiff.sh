#!/usr/bin/env bash
# apidiff.sh BASE: list how the exported API differs from that of the commit BASE. Fails when a change is incompatible, which
# apidiff itself does not report in its exit code.
set -euo pipefail

base=${1:-}
[ -n "$base" ] || { echo "apidiff: BASE is empty; set it to a tag or commit, for example BASE=origin/main" >&2; exit 2; }

cd "$(git rev-parse --show-toplevel)"
module=$(go list -m)
apidiff=$(go -C hack/tools tool -n apidiff)
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT

git worktree add --quiet --detach "$work/base" "$base"
(cd "$work/base" && "$apidiff" -m -w "$work/old" "$module")
"$apidiff" -m -w "$work/new" "$module"

"$apidiff" -m "$work/old" "$work/new"
incompatible=$("$apidiff" -m -incompatible "$work/old" "$work/new")
[ -z "$incompatible" ] || { echo "apidiff: there are incompatible changes" >&2; exit 1; }
