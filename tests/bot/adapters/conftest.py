"""Real databases of each kind, with and without encrypted texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.text_cipher import TextCipher, new_key
from tests.postgresql import emptied


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new database of each kind."""
    return new_database(request, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def url_at_each_commit(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same for the few tests that see at every commit that PostgreSQL still stores."""
    return new_database(request, tmp_path)


def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'records.db'}"
    return emptied(str(request.getfixturevalue("postgresql")))


@pytest.fixture(params=["plain", "encrypted"])
def cipher(request: pytest.FixtureRequest) -> TextCipher | None:
    """Texts as they are, and encrypted: everything works the same."""
    return TextCipher.of(new_key()) if request.param == "encrypted" else None
