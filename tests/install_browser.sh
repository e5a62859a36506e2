#!/bin/sh
# Chromium for the tests of the lab: Debian's, installed where that is possible. Without it those tests are skipped, loudly.
set -u
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing chromium for the browser tests" >&2
    if (apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium) >/dev/null 2>&1; then
        exit 0
    fi
fi
echo "NOTE: there is no chromium and it cannot be installed here; the browser tests of the lab will be SKIPPED." >&2
exit 0
