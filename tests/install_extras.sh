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

# Programs out of their packages, put beside Python: the packages themselves would start servers.
unpack() {  # program, package, where in the package, what is missed without it
    if command -v "$1" >/dev/null || ! [ -d .venv/bin ] || [ -x ".venv/bin/$1" ]; then return; fi
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        echo "For all tests install: $1 (package $2)"
        return
    fi
    unpacked=$(mktemp -d)
    (cd "$unpacked" && within 300 apt-get download "$2" && dpkg-deb --extract "$2"_*.deb .) >"$log" 2>&1 &&
        mv "$unpacked/$3" ".venv/bin/$1" || echo "$1 could not be had: $4."
    rm -rf "$unpacked"
}
unpack promtool prometheus usr/bin/promtool "no test asks Prometheus itself"
unpack nginx nginx usr/sbin/nginx "no test asks the proxy"

for folder in tests/fhir_server tests/oidc_server tests/browser tests/rasa_widget; do
    if ! command -v npm >/dev/null; then
        echo "Without Node and npm there are no packages for $folder."
    else
        within 300 make --no-print-directory "$folder/node_modules" >"$log" 2>&1 ||
            { tail -2 "$log"; echo "npm could not install the packages for $folder."; }
    fi
done
exit 0
