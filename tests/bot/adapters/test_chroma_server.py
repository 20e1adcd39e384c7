"""A real Chroma server works as the embedded store does."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bot import Assistant, Settings, Unreachable
from bot.adapters.chroma_index import ChromaStore
from bot.testing import HashEncoder
from tests.bot.adapters.test_chroma_index import ENTRIES, TEXTS
from tests.chroma_server import running_chroma


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_chroma(tmp_path_factory.mktemp("server")) as found:
        yield found


def test_a_server_builds_once_and_searches_by_cosine(url: str) -> None:
    encoder = HashEncoder()
    for _ in range(2):
        index = ChromaStore.server(url).index("server", ENTRIES, encoder)
    query = HashEncoder().encode(["was kostet es"])[0]

    found = index.nearest(query, k=4)

    assert encoder.encoded == len(ENTRIES)
    np.testing.assert_allclose(index.vectors(), HashEncoder().encode(TEXTS), atol=1e-6)
    assert found[0].pair_id == "pair-1"
    assert found[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert [near.similarity for near in found] == sorted((near.similarity for near in found), reverse=True)


@pytest.mark.proof
@pytest.mark.usefixtures("few_alarm_examples")
def test_an_assistant_answers_the_same_with_a_server(
    url: str, small: Assistant, small_folder: Path, tmp_path: Path
) -> None:
    settings = Settings(data=tmp_path, chroma_url=url)

    served = Assistant.open(small_folder, settings=settings, encoder=HashEncoder(), sample=True)

    for text in ("tut das weh?", "dauer und kosten?", "does insurance pay"):
        here, there = small.answer(text), served.answer(text)
        assert there.decision == here.decision
        assert [candidate.pair_id for candidate in there.candidates] == [c.pair_id for c in here.candidates]
        assert there.score == pytest.approx(here.score, abs=1e-4)
    assert not (tmp_path / "chroma").exists()


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1", "http://127.0.0.1:99999", "http://127.0.0.1:port", "nonsense", "http://"],
)
def test_an_unreachable_server_is_told_in_one_line(url: str) -> None:
    with pytest.raises(Unreachable, match=rf"server {url} does not answer.*KLARTEXT_CHROMA_URL") as caught:
        ChromaStore.server(url)

    assert "\n" not in str(caught.value)


@pytest.mark.proof
def test_a_server_and_an_embedded_store_live_in_one_process(url: str, tmp_path: Path) -> None:
    ChromaStore.server(url).index("beside", ENTRIES, HashEncoder())

    embedded = ChromaStore.embedded(tmp_path / "chroma").index("beside", ENTRIES, HashEncoder())

    assert (tmp_path / "chroma" / "chroma.sqlite3").is_file()
    np.testing.assert_allclose(embedded.vectors(), HashEncoder().encode(TEXTS), atol=1e-6)
