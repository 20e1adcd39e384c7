"""A test run ends by saying what was skipped and why, and what it left out; its command installs what it can."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.last_line import last_line

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
CONFTEST = """
import sys
sys.path.insert(0, {root!r})
from tests.last_line import LastLine

def pytest_configure(config):
    config.addinivalue_line("markers", "proof: takes long")
    config.pluginmanager.register(LastLine(config))
"""
TESTS = """
import pytest

def test_passes(): pass

@pytest.mark.parametrize("n", range(3))
def test_needs(n): pytest.skip("needs a moon: apt-get install moon")

@pytest.mark.skip(reason="needs the sun. Wait for it.")
def test_shines(): pass

@pytest.mark.proof
@pytest.mark.parametrize("n", range(2))
def test_takes_long(n): pass

def test_other(): pass
"""


def test_reasons_are_counted_and_named() -> None:
    assert last_line([], 0) == "Skipped: 0. Left to make proof: 0."
    assert last_line(["Skipped: needs a: x", "needs a: x", "needs b"], 4) == (
        "Skipped: 3 (needs a: 2, needs b: 1). Left to make proof: 4."
    )


@pytest.mark.parametrize("spread", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_the_last_line_says_what_did_not_run(pytester: pytest.Pytester, spread: tuple[str, ...]) -> None:
    pytester.makeconftest(CONFTEST.format(root=str(ROOT)))
    pytester.makepyfile(TESTS)

    done = pytester.runpytest_subprocess("-p", "no:schemathesis", "-q", "-m", "not proof", "-k", "not other", *spread)

    closing, last = done.outlines[-2:]
    assert "1 passed, 4 skipped" in closing
    assert last == "Skipped: 4 (needs a moon: 3, needs the sun: 1). Left to make proof: 2."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder of programs with nothing in it but what every system has."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("dirname", "mktemp", "rm", "tail"):
        found = next(each for each in (Path("/usr/bin") / name, Path("/bin") / name) if each.exists())
        (folder / name).symlink_to(found)
    return folder


def _install(path: Path) -> list[str]:
    project = path.parent / "project"  # of its own: what is installed in this checkout must not matter
    for folder in ("tests", ".venv/bin"):
        (project / folder).mkdir(parents=True)
    command = ["/bin/sh", shutil.copy(ROOT / "tests" / "install_extras.sh", project / "tests")]
    done = subprocess.run(command, env={"PATH": str(path)}, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def _program(path: Path, name: str, does: str) -> None:
    (path / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
    (path / name).chmod(0o755)


def test_where_nothing_can_be_installed_it_is_said(path: Path) -> None:
    assert _install(path) == [
        "For all tests install, as root: chromium postgresql",
        "For all tests install: promtool (package prometheus)",
        "For all tests install: nginx (package nginx)",
        "Without Node and npm there are no packages for tests/fhir_server.",
        "Without Node and npm there are no packages for tests/oidc_server.",
        "Without Node and npm there are no packages for tests/browser.",
        "Without Node and npm there are no packages for tests/rasa_widget.",
    ]


def test_what_cannot_be_installed_keeps_nothing_else_from_it(path: Path, tmp_path: Path) -> None:
    _program(path, "id", "echo 0")
    _program(path, "npm", "exit 1")
    _program(path, "make", 'echo "no network" >&2; exit 2')
    _program(
        path, "apt-get", f'case "$*" in *chromium) echo "no such package"; exit 100;; esac; echo "$@" >>{tmp_path}/done'
    )

    assert _install(path) == [
        "Installing for the tests: chromium postgresql",
        "no such package",
        "apt-get could not install chromium.",
        "For all tests install: promtool (package prometheus)",
        "For all tests install: nginx (package nginx)",
        "no network",
        "npm could not install the packages for tests/fhir_server.",
        "no network",
        "npm could not install the packages for tests/oidc_server.",
        "no network",
        "npm could not install the packages for tests/browser.",
        "no network",
        "npm could not install the packages for tests/rasa_widget.",
    ]
    assert (tmp_path / "done").read_text().splitlines() == ["update", "install -y --no-install-recommends postgresql"]


def test_what_is_there_is_not_installed_again(path: Path) -> None:
    for name in ("chromium", "initdb", "promtool", "nginx", "npm", "make"):
        _program(path, name, "exit 0")

    assert _install(path) == []
