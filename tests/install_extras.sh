#!/bin/sh
# Install what some tests need beside Python, where it can be had; `make test` runs this once. It never fails: a test that
# misses something is skipped and says so. Only root with apt-get gets the browser and the database server.
cd "$(dirname "$0")/.." || exit 0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

has_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
has_postgresql() { command -v initdb || ls /usr/lib/postgresql/*/bin/initdb; }
# At most so many seconds, where the system can say so.
within() { if command -v timeout >/dev/null; then timeout "$@"; else shift; "$@"; fi; }

missing=
has_chromium >/dev/null 2>&1 || missing="$missing chromium"
has_postgresql >/dev/null 2>&1 || missing="$missing postgresql"
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
        echo "For all tests install, as root:$missing"
    else
        echo "Installing for the tests:$missing"
        within 300 apt-get update >"$log" 2>&1 || tail -2 "$log"
        for package in $missing; do
            DEBIAN_FRONTEND=noninteractive within 600 apt-get install -y --no-install-recommends "$package" >"$log" 2>&1 ||
                { tail -2 "$log"; echo "apt-get could not install $package."; }
        done
    fi
fi

# Prometheus's checker of rules, out of its package and put beside Python: the package itself would start a server.
if ! command -v promtool >/dev/null && [ -d .venv/bin ] && ! [ -x .venv/bin/promtool ]; then
    if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
        unpacked=$(mktemp -d)
        (cd "$unpacked" && within 300 apt-get download prometheus && dpkg-deb --extract prometheus_*.deb .) >"$log" 2>&1 &&
            mv "$unpacked/usr/bin/promtool" .venv/bin/promtool || echo "promtool could not be had: no test asks Prometheus itself."
        rm -rf "$unpacked"
    else
        echo "For all tests install: promtool (package prometheus)"
    fi
fi

for folder in tests/fhir_server tests/oidc_server tests/browser tests/rasa_widget; do
    if ! command -v npm >/dev/null; then
        echo "Without Node and npm there are no packages for $folder."
    else
        within 300 make --no-print-directory "$folder/node_modules" >"$log" 2>&1 ||
            { tail -2 "$log"; echo "npm could not install the packages for $folder."; }
    fi
done
exit 0
