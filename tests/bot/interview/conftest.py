"""Every manner is tested in both languages."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.sentences.interface_texts import INTERVIEW_TEXTS
from tests.bot.interview.small_forms import WORDS


@pytest.fixture(params=["de", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def say(language: str) -> Mapping[str, str]:
    """What patients say."""
    return WORDS[language]


@pytest.fixture
def told(language: str) -> Mapping[str, str]:
    """What the program says, by key."""
    return INTERVIEW_TEXTS[language]
