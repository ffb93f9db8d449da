#!/usr/bin/env bash
# audit.sh: check the licences of what the library and its command link, and their known vulnerabilities (vuln.go.dev has to be reachable).
set -euo pipefail
cd "$(dirname "$0")/.."

export GOWORK=off
licences=$(go -C hack/audit tool -n go-licenses)
vulnerabilities=$(go -C hack/audit tool -n govulncheck)
for module in . cmd/reconcilekit cmd/kubectl-reconcilekit; do
	echo "audit: licences of $module, half a minute"
	(cd "$module" && "$licences" check ./... --logtostderr=false --disallowed_types=forbidden,restricted,unknown \
		--ignore github.com/reconcilekit/reconcilekit 2>/dev/null) ||
		{ echo "audit: $module links something whose licence is not permissive: run go-licenses report" >&2; exit 1; }
	[ -n "${LICENCES_ONLY:-}" ] && continue
	echo "audit: known vulnerabilities of $module"
	(cd "$module" && "$vulnerabilities" ./...)
done
