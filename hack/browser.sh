#!/usr/bin/env bash
# browser.sh: see that there is a headless browser for the test of the debug page. In CI, Debian's is installed where none is; elsewhere
# the test is skipped without one.
set -euo pipefail

for name in chromium-headless-shell chromium google-chrome; do
	if command -v "$name" >/dev/null; then
		exit 0
	fi
done

if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	{ timeout 60 apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 180 apt-get install -y -qq --no-install-recommends chromium-headless-shell; } >/dev/null ||
		echo "browser: chromium-headless-shell cannot be installed" >&2
else
	echo "browser: install chromium-headless-shell, and the debug page is tested in it"
fi
