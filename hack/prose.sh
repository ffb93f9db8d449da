#!/usr/bin/env bash
# prose.sh [FILE...]: check the words of Markdown and of the comments of Go code, by the rules in hack/prose; without a file, of all that
# git knows. Tests and generated files are left out. PROSE=suggestion also prints long sentences and passive voice.
set -euo pipefail
cd "$(dirname "$0")/.."

# The linter parses Go with a library in C.
vale=$(CGO_ENABLED=1 GOWORK=off go -C hack/prose tool -n vale)
if [ $# -eq 0 ]; then
	mapfile -t files < <(git ls-files '*.md' '*.go' | grep -vE '_test\.go$|/zz_generated|/testdata/|/docs/dataflow' |
		while read -r file; do if [ -e "$file" ]; then echo "$file"; fi; done)
	set -- "${files[@]}"
fi
"$vale" --config hack/prose/.vale.ini --minAlertLevel "${PROSE:-error}" --output line "$@"
