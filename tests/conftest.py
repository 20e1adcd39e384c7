"""What is costly is built once per session: the encoder, and the shipped catalog with its trained heads."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bot import Assistant, Catalog, load_catalog, locate
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.adapters.sql_records import SqlRecords
from bot.testing import HashEncoder, write_small_catalog
from tests.postgresql import running_postgresql

# No deadline: a busy machine is no defect. No database: a test run leaves nothing behind in the checkout.
settings.register_profile(
    "klartext",
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("klartext")

Run = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="session")
def embedded_encoder() -> EmbeddedEncoder:
    return EmbeddedEncoder()


@pytest.fixture(scope="session")
def shipped_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder for the shipped catalog; KLARTEXT_TEST_DATA keeps it from one session to the next."""
    kept = os.environ.get("KLARTEXT_TEST_DATA")
    return Path(kept) if kept else tmp_path_factory.mktemp("shipped-data")


@pytest.fixture(scope="session")
def shipped(shipped_data: Path, embedded_encoder: EmbeddedEncoder) -> Assistant:
    """The shipped catalog in sample mode, with the real encoder. Opening it for the first time trains it."""
    assistant = Assistant.open(data=shipped_data, encoder=embedded_encoder, sample=True)
    assistant.prepare()
    return assistant


@pytest.fixture(scope="session")
def shipped_catalogs() -> Mapping[str, Catalog]:
    """The shipped catalog as data, by language, without training."""
    return {language: load_catalog(locate("mammography"), language) for language in ("de", "en")}


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small catalog; tests must not change it."""
    return write_small_catalog(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def small(small_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    """The small catalog in sample mode, with an encoder that needs no model."""
    return Assistant.open(small_folder, data=tmp_path_factory.mktemp("small-data"), encoder=HashEncoder(), sample=True)


@pytest.fixture
def records(tmp_path: Path) -> Iterator[SqlRecords]:
    opened = SqlRecords.open(f"sqlite:///{tmp_path / 'records.db'}")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a real PostgreSQL server, started for this session."""
    with running_postgresql(tmp_path_factory.mktemp("postgresql")) as url:
        yield url


@pytest.fixture
def klartext(shipped_data: Path) -> Run:
    """Run the command `klartext` as a process of its own, on the session's data folder."""

    def run(
        *args: str | Path, stdin: bytes = b"", environ: Mapping[str, str] | None = None, before: str = "pass"
    ) -> object:
        code = f"import sys; {before}; from bot.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, args)],
            input=stdin,
            capture_output=True,
            env={**os.environ, "KLARTEXT_DATA": str(shipped_data), **(environ or {})},
            timeout=240,
            check=False,
        )

    return run  # type: ignore[return-value]
