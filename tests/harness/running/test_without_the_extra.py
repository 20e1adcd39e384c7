"""The base install runs suites; what needs the extra `scale` says so in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.patients.suites import Suite
from harness.systems.system import Opening

WITHOUT = """\
import sys
for name in ("distributed", "dask", "duckdb", "pyarrow"):
    sys.modules[name] = None
from bot.commands.main import main
main()
"""


def without_extra(opening: Opening, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    common = ["--suite", str(folder / "suite"), "--out", str(folder / "run"), "--catalog", opening.catalog]
    command = [sys.executable, "-c", WITHOUT, "harness", "run", *common, "--data", str(opening.data), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("options", "feature"),
    [
        (["--format", "parquet"], "Storing outcomes as Parquet"),
        (["--scheduler", "tcp://127.0.0.1:9", "--format", "jsonl"], "Asking on Dask"),
    ],
)
def test_what_needs_the_extra_names_it(
    suite: Suite, opening: Opening, tmp_path: Path, options: list[str], feature: str
) -> None:
    done = without_extra(opening, tmp_path, *options)

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"klartext: {feature} needs the extra 'scale'. Run `pip install 'klartext[scale]'`."
    )
    assert "Traceback" not in done.stderr


def test_json_lines_need_no_extra(suite: Suite, opening: Opening, tmp_path: Path) -> None:
    done = without_extra(opening, tmp_path, "--method", "cosine")

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "summary.json").is_file()
