"""The tutorials and the README are executed, and the reference names every option and setting."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from bot import Assistant
from tests.forking import Forking

ROOT = Path(__file__).parent.parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
AT_EACH_COMMIT = "interview"  # the other tutorials take up to a minute each


def console_blocks(page: Path) -> list[list[tuple[str, list[str]]]]:
    """Return the console blocks of a page: commands with their expected output lines."""
    blocks = []
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        steps: list[tuple[str, list[str]]] = []
        heredoc = None
        for line in block.splitlines():
            if heredoc is not None:
                steps[-1] = (steps[-1][0] + "\n" + line, [])
                heredoc = None if line == heredoc else heredoc
            elif line.startswith("$ "):
                steps.append((line[2:], []))
                found = re.search(r"<<'(\w+)'", line)
                heredoc = found[1] if found else None
            else:
                steps[-1][1].append(line)
        blocks.append(steps)
    return blocks


def missing_fragment(shown: list[str], printed: str) -> str | None:
    """Return the first shown fragment that is not printed in its place; an ellipsis stands for anything."""
    position = 0
    for fragment in (part for line in shown for part in line.split("…") if part.strip()):
        found = printed.find(fragment, position)
        if found < 0:
            return fragment
        position = found + len(fragment)
    return None


TABLES = tuple(f"klartext harness {name} " for name in ("run", "gate", "compare", "advise"))
Shown = Callable[[str, Path, dict[str, str], Forking], tuple[int, str]]


def in_a_pipe(command: str, folder: Path, environ: dict[str, str], forking: Forking) -> tuple[int, str]:
    """Run a command as CI does, without a terminal; return its exit code and what it printed."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environ,
        pass_fds=[forking.descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if command.startswith("klartext") else None,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def in_a_terminal(command: str, folder: Path, environ: dict[str, str], forking: Forking) -> tuple[int, str]:
    """Run a command in a terminal of 80 columns and 24 lines; return its exit code and what the terminal got."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    printed = bytearray()
    with subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env={**environ, "TERM": "dumb"},
        pass_fds=[forking.descriptor],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            while chunk := os.read(ours, 65536):
                printed += chunk
    os.close(ours)
    return process.returncode, printed.decode().replace("\r\n", "\n")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("shown", [in_a_pipe, pytest.param(in_a_terminal, marks=pytest.mark.proof)])
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[] if page.stem == AT_EACH_COMMIT else [pytest.mark.proof])
        for page in TUTORIALS
    ],
)
def test_tutorial_commands_print_what_the_tutorial_shows(
    page: Path, shown: Shown, tmp_path: Path, shipped: Assistant, shipped_data: Path, forking: Forking
) -> None:
    (programs := tmp_path / "programs").mkdir()
    forking.write_program(programs / "klartext")
    path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environ["PATH"] = path
    # The trained heads are shared with the other tests; the database is not.
    environ |= {"KLARTEXT_DATA": str(shipped_data), "KLARTEXT_DATABASE_URL": f"sqlite:///{tmp_path / 'records.db'}"}
    assert shipped.languages  # both languages are trained: the commands find them in the data folder
    steps = [step for block in console_blocks(page) for step in block]
    assert len(steps) >= 4

    (folder := tmp_path / "folder").mkdir()
    for command, expected in steps:
        code, printed = shown(command, folder, environ, forking)
        assert code == 0, f"{command}\n{printed}"
        if shown is in_a_pipe:
            assert missing_fragment(expected, printed) is None, f"{command}\n{printed}"
        else:
            # Tables are folded there, so that words may lie elsewhere; but nothing is cut off, and no table is too wide.
            if command.startswith("klartext harness"):
                assert "…" not in printed.replace("… and", ""), f"{command}\n{printed}"
            if command.startswith(TABLES):
                assert max(map(len, printed.splitlines())) <= 80, f"{command}\n{printed}"


def options_of(command: object, path: str = "klartext") -> list[tuple[str, str]]:
    """Return (command path, option) of every command below `command`."""
    found = []
    for name, child in getattr(command, "commands", {}).items():
        found += options_of(child, f"{path} {name}")
    if not getattr(command, "commands", {}) or getattr(command, "invoke_without_command", False):
        for parameter in command.params:  # type: ignore[attr-defined]
            long = [option for option in parameter.opts if option.startswith("--") and option != "--help"]
            found += [(path, option) for option in long]
    return found


def test_reference_names_every_option() -> None:
    from bot.commands.main import app, assemble

    assemble()
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    rows = {line for line in reference.splitlines() if line.startswith("| `klartext")}

    options = options_of(get_command(app))

    assert len(options) > 30
    missing = [
        (path, option)
        for path, option in options
        if not any(row.startswith((f"| `{path} ", f"| `{path}`")) and option in row for row in rows)
    ]
    assert missing == []


def test_reference_names_every_setting() -> None:
    settings = (ROOT / "bot" / "settings.py").read_text(encoding="utf-8")
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")

    names = set(re.findall(r"KLARTEXT_[A-Z_]+", settings))

    assert len(names) >= 8
    assert {name for name in names if f"`{name}`" not in reference} == set()


def test_readme_shows_the_two_commands_and_says_what_the_content_is() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:60])

    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "no clinician has approved" in first_screen
