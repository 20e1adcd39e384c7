"""One console for the tests of its pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bot.web.staff.consoles import Staff, running_console


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staff]:
    with running_console(tmp_path_factory.mktemp("console")) as running:
        yield running
