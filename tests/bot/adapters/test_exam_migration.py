"""What a database of a version that knew one exam becomes: each conversation belongs to the exam that answered it."""

from __future__ import annotations

import json
from pathlib import Path

from alembic import command
from sqlalchemy import text

from bot.adapters.sql_records import SqlRecords, alembic_config
from bot.adapters.sql_releases import SqlReleases

CONVERSATION = "INSERT INTO conversations (id, begun, language, channel, consented) VALUES (:id, :at, 'de', 'page', 1)"
TURN = (
    "INSERT INTO turns (conversation, at, language, question, decision, score, catalog) "
    "VALUES (:id, :at, 'de', '?', 'declined', 0, :catalog)"
)
RELEASE = (
    "INSERT INTO releases (number, made, by, note, manifest, signature, files) "
    "VALUES (1, '2026-11-01T10:00:00+00:00', 'A', '', :manifest, '', '')"
)
AT = "2026-11-01 10:00:00.000000"


def test_conversations_and_releases_get_their_exam(tmp_path: Path) -> None:
    url, config = f"sqlite:///{tmp_path / 'old.db'}", alembic_config()
    old = SqlRecords.open(url)
    with old.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0028")
        for id_ in ("a", "b", "unasked"):
            connection.execute(text(CONVERSATION), {"id": id_, "at": AT})
        for id_, catalog in (("a", "mri@1"), ("b", "mammo@1"), ("b", "mammo@2")):
            connection.execute(text(TURN), {"id": id_, "at": AT, "catalog": catalog})
        connection.execute(text(RELEASE), {"manifest": json.dumps({"exam": "mri"})})
    old.close()

    records = SqlRecords.open(url)

    found = {id_: records.conversation(id_) for id_ in ("a", "b", "unasked")}
    assert {id_: each.exam for id_, each in found.items() if each is not None} == {
        "a": "mri",
        "b": "mammo",
        "unasked": "mammo",
    }
    assert [each.number for each in SqlReleases(records.engine).of_exam("mri").all()] == [1]
    assert SqlReleases(records.engine).of_exam("mammo").all() == []
    records.close()
