#!/usr/bin/env bash
# release.sh VERSION: make the files of a release in bin/release: the commands (PROGRAMS) for each of PLATFORMS, checksums, and the notes out of
# CHANGELOG.md (OUT and CHANGELOG name others). It changes nothing else; the tag is set, and the image is built, by the workflow that calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1:-}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "release: VERSION \"$version\": want vMAJOR.MINOR.PATCH" >&2; exit 1; }

out=${OUT:-bin/release} changelog=${CHANGELOG:-CHANGELOG.md}
rm -rf "$out"
mkdir -p "$out"

awk -v heading="## ${version#v}" '$0 == heading { found = 1; next } /^## / { found = 0 } found' "$changelog" >"$out/notes.md"
grep -q '[^[:space:]]' "$out/notes.md" || { echo "release: $changelog has no section \"## ${version#v}\": rename \"## Unreleased\"" >&2; exit 1; }

for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}; do
	for program in ${PROGRAMS:-reconcilekit kubectl-reconcilekit}; do
		echo "release: $program for $platform"
		folder=$(mktemp -d)
		GOOS=${platform%/*} GOARCH=${platform#*/} CGO_ENABLED=0 GOWORK=off go -C "cmd/$program" build -trimpath \
			-ldflags="-s -w" -o "$folder/$program" .
		cp LICENSE "$folder"
		tar -C "$folder" -czf "$out/${program}_${version}_${platform/\//_}.tar.gz" "$program" LICENSE
		rm -rf "$folder"
	done
done

(cd "$out" && sha256sum -- *.tar.gz >SHA256SUMS)
ls "$out"
