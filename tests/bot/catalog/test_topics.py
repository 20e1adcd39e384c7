"""What stands in a catalog's topics.yaml, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.catalog.topics import Topics, load_topics
from bot.errors import BadData

KNOWN = frozenset({"pain", "documents"})


def test_topics_and_what_to_bring_are_read(tmp_path: Path) -> None:
    (tmp_path / "topics.yaml").write_text(
        "bring: documents\ntopics: [{name: {de: Ablauf}, pairs: [pain]}]\n", encoding="utf-8"
    )

    topics = load_topics(tmp_path, KNOWN)

    assert topics.bring == "documents"
    assert [topic.pairs for topic in topics.groups] == [("pain",)]
    assert load_topics(tmp_path / "nowhere", KNOWN) == Topics()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bring: cake\n", "names the pair 'cake', which the catalog does not have"),
        ("topics: [{name: {de: A}, pairs: [cake]}]\n", "names the pair 'cake', which the catalog does not have"),
        ("brings: documents\n", "cannot be read as topics"),
        ("topics: [", "cannot be read as topics"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "topics.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(BadData, match=said) as raised:
        load_topics(tmp_path, KNOWN)
    assert "\n" not in str(raised.value)
