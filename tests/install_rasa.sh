#!/bin/sh
# Install Rasa Open Source 3.6.21, the last one, into an environment of its own (FOLDER; 2.7 GB, about two minutes). It
# needs Python 3.8 to 3.10. It never fails: without such a Python, or without the packages, the tests with a real Rasa
# server are skipped and say so.
folder=${1:?usage: install_rasa.sh FOLDER}
[ -x "$folder/bin/rasa" ] && exit 0

usable() { "$1" -c 'import sys, venv; sys.exit(not (3, 8) <= sys.version_info < (3, 11))' 2>/dev/null; }
for python in python3.10 "$HOME"/.pyenv/versions/3.10.*/bin/python python3.9 "$HOME"/.pyenv/versions/3.9.*/bin/python \
    python3.8 "$HOME"/.pyenv/versions/3.8.*/bin/python python3; do
    if usable "$python"; then found=$python && break; fi
done
if [ -z "${found:-}" ]; then
    echo "No Rasa: it needs Python 3.8 to 3.10, and there is none here (nor below ~/.pyenv/versions)."
    exit 0
fi
echo "Installing Rasa with $("$found" --version): 2.7 GB, about two minutes."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$found" -m venv "$folder" >"$log" 2>&1 &&
    "$folder/bin/python" -m pip --disable-pip-version-check --quiet install rasa==3.6.21 >"$log" 2>&1 ||
    { tail -2 "$log"; echo "Rasa could not be installed."; rm -rf "$folder"; }
exit 0
