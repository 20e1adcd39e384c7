"""What is costly is built once per session: the encoder, and the shipped catalog with its trained heads."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from bot import Assistant, Catalog, load_catalog, locate
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.adapters.sql_records import SqlRecords
from bot.testing import HashEncoder, write_small_catalog
from tests.alarm_examples import few_taught
from tests.forking import COMMAND, Forking, close_forking
from tests.forking import forking as started_forking
from tests.last_line import LastLine
from tests.postgresql import running_postgresql
from tests.trained_once import TRAINED, keep_what_is_trained

# No deadline: a busy machine is no defect. No database: a test run leaves nothing behind in the checkout. Few examples
# at every commit, and many with `make proof`, which asks for the other profile.
for profile, number in (("commit", 20), ("proof", 100)):
    settings.register_profile(
        profile,
        deadline=None,
        database=None,
        max_examples=number,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
settings.load_profile("commit")


def examples(at_each_commit: int, with_proof: int) -> settings:
    """Return how many examples of a costly property are tried, by profile."""
    return settings(max_examples=with_proof if settings.get_current_profile_name() == "proof" else at_each_commit)


LONGEST_S = 240  # a command

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(LastLine(config), "last-line")
    begun_here = TRAINED not in os.environ
    keep_what_is_trained()
    config.add_cleanup(close_forking)
    if begun_here:
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(TRAINED), ignore_errors=True))


@pytest.fixture(scope="session")
def embedded_encoder() -> EmbeddedEncoder:
    return EmbeddedEncoder()


@pytest.fixture(scope="session")
def shipped_data(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A data folder for the shipped catalog; KLARTEXT_TEST_DATA keeps it from one session to the next.

    Training takes a minute. Where several processes share the tests, one of them trains; all others wait, and copy.
    """
    kept = os.environ.get("KLARTEXT_TEST_DATA")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return Path(kept) if kept else tmp_path_factory.mktemp("shipped-data")
    trained = Path(kept) if kept else tmp_path_factory.getbasetemp().parent / "shipped-data"
    trained.mkdir(parents=True, exist_ok=True)
    with trained.with_name(f"{trained.name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        Assistant.open(data=trained, encoder=request.getfixturevalue("embedded_encoder"), sample=True).prepare()
    return shutil.copytree(trained, tmp_path_factory.mktemp("shipped") / "data")


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
def few_alarm_examples() -> Iterator[None]:
    """Teach the alarm with every fortieth example only, where many small catalogs are trained and none is judged by it."""
    with few_taught():
        yield


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


@pytest.fixture(scope="session")
def forking() -> Forking:
    """What starts commands without importing them again."""
    return started_forking()


@pytest.fixture
def klartext(shipped_data: Path, forking: Forking) -> Run:
    """Run the command `klartext` as a process of its own, on the session's data folder.

    `before` is code that a fresh process runs before it imports anything.
    """

    def run(
        *args: str | Path, stdin: bytes = b"", environ: Mapping[str, str] | None = None, before: str = ""
    ) -> subprocess.CompletedProcess[bytes]:
        variables = {**os.environ, "KLARTEXT_DATA": str(shipped_data), **(environ or {})}
        arguments = [str(each) for each in args]
        if not before:
            return forking.run(arguments, stdin=stdin, environ=variables, timeout=LONGEST_S)
        return subprocess.run(
            [sys.executable, "-c", f"import sys; {before}; {COMMAND}", *arguments],
            input=stdin,
            capture_output=True,
            env=variables,
            timeout=LONGEST_S,
            check=False,
        )

    return run
