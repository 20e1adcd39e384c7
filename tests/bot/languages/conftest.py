"""No language of one test is spoken in the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.languages.files import forget


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    yield
    forget()
