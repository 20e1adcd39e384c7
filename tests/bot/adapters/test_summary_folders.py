"""Folders of what models wrote about conversations: marked, closed, found, and deleted with their conversations."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bot.adapters.summary_folders import SummaryFolders
from bot.errors import Unreachable, UserFixable
from bot.outbox_ports import pseudonym

WORD = "Hinterhuber"


@pytest.fixture
def folders(tmp_path: Path) -> SummaryFolders:
    """Folders of a database that has every conversation but those elsewhere."""
    return SummaryFolders.in_data(tmp_path / "data", None, lambda conversation: "elsewhere" not in conversation)


def written(folders: SummaryFolders, *conversations: str, name: str = "") -> Path:
    """Return a folder with a file, and a folder with another in it."""
    folder = folders.claim("summary", conversations, name=name)
    (folder / "more").mkdir(exist_ok=True)
    for file in (folder / "result.json", folder / "more" / "answers.db"):
        file.write_text(WORD, encoding="utf-8")
    return folder


def test_a_folder_is_closed_to_others_and_names_its_conversation_as_logs_do(folders: SummaryFolders) -> None:
    folder = written(folders, "c1")

    assert folder == folders.place / f"summary-{pseudonym('c1')}" == folders.claim("summary", ["c1"])
    assert [each.stat().st_mode & 0o777 for each in (folders.place, folder)] == [0o700, 0o700]
    assert folders.of("c1") == [folder]
    assert folders.of("c2") == []
    assert "c1" not in (folder / "conversations.json").read_text(encoding="utf-8")
    assert folders.holds(folder)
    assert not folders.holds(folders.place)
    assert not folders.holds(folder / "more")


def test_what_is_made_of_several_conversations_goes_with_the_first_of_them(folders: SummaryFolders) -> None:
    both, other, own = written(folders, "c1", "c2"), written(folders, "c3"), written(folders, "c2", name="mine")

    assert folders.of("c2") == sorted([both, own])
    assert folders.erase("c2") == 2
    assert sorted(folders.place.iterdir()) == [other]
    assert folders.erase("c2") == 0


def test_what_is_about_no_known_conversation_goes(folders: SummaryFolders) -> None:
    half, whole = written(folders, "c1", "c2"), written(folders, "c1")
    asked = []

    def known() -> list[str]:
        asked.append(1)
        return ["c1", "c9"]

    assert folders.count_all_but(known) == 1
    assert half.exists()
    assert folders.erase_all_but(known) == 1
    assert sorted(folders.place.iterdir()) == [whole]
    asked.clear()
    folders.erase("c1")
    assert (folders.erase_all_but(known), folders.count_all_but(known), asked) == (0, 0, [])


def test_nothing_that_is_not_ours_is_deleted(folders: SummaryFolders, tmp_path: Path) -> None:
    own = written(folders, "c1")
    mine = folders.place / "thesis"  # somebody named their home folder as the data folder
    mine.mkdir()
    (mine / "chapter.txt").write_text("1", encoding="utf-8")
    (odd := folders.place / "odd").mkdir()
    (odd / "conversations.json").write_text("[]", encoding="utf-8")
    (outside := tmp_path / "outside").mkdir()
    (outside / "keep.txt").write_text("1", encoding="utf-8")
    (own / "link").symlink_to(outside)
    (folders.place / "linked").symlink_to(own)

    assert folders.erase_all_but(list) == 1

    assert not own.exists()
    assert sorted(each.name for each in folders.place.iterdir()) == ["linked", "odd", "thesis"]
    assert (mine / "chapter.txt").exists()
    assert (outside / "keep.txt").exists()


def test_a_folder_that_cannot_be_deleted_is_told_and_found_again(
    folders: SummaryFolders, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = written(folders, "c1")
    unlink = Path.unlink

    def refuse(path: Path, **more: bool) -> None:
        if path.name == "result.json":
            raise PermissionError(13, "Permission denied")
        unlink(path, **more)

    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, logger="klartext"):
        patched.setattr(Path, "unlink", refuse)
        assert folders.erase("c1") == 0

    assert f"a summary of an erased conversation cannot be deleted: {folder} (Permission denied)" in caplog.text
    assert folders.of("c1") == [folder]
    assert folders.erase_all_but(list) == 1


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file", encoding="utf-8")

    with pytest.raises(Unreachable, match=r"cannot be written \(Not a directory\)"):
        SummaryFolders.in_data(tmp_path / "data", None, bool).claim("summary", ["c1"])


def test_what_this_database_never_had_is_not_gone_when_it_does_not_have_it(
    folders: SummaryFolders, tmp_path: Path
) -> None:
    export, own, both = (written(folders, *ids) for ids in (["elsewhere"], ["c1"], ["c1", "elsewhere"]))
    other = SummaryFolders.in_data(tmp_path / "data", "postgresql://klartext:secret@db/klartext", lambda _: True)
    others = other.claim("summary", ["c2"])

    assert [folders.goes_by_itself(each) for each in (export, own, both, others)] == [False, True, True, False]
    assert (folders.count_all_but(list), other.count_all_but(lambda: ["c2"])) == (2, 0)
    assert folders.erase_all_but(list) == 2
    assert sorted(folders.place.iterdir()) == sorted([export, others])
    assert "secret" not in (others / "conversations.json").read_text(encoding="utf-8")
    assert folders.erase("elsewhere") == 1  # asked for by its id
    assert other.erase_all_but(list) == 1


def test_a_database_has_one_name_however_its_data_folder_is_called(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/data/klartext.db"
    kept = SummaryFolders.in_data(tmp_path / "data", None, lambda _: True).claim("summary", ["c1"])

    assert SummaryFolders.in_data(tmp_path / "data", f"sqlite:///{tmp_path}/klartext.db", bool).erase_all_but(list) == 0
    assert kept.exists()
    assert SummaryFolders.in_data(tmp_path / "data", url, bool).erase_all_but(list) == 1


def test_a_folder_stays_that_of_its_database_when_the_next_run_sees_another(
    folders: SummaryFolders, tmp_path: Path
) -> None:
    folder = folders.claim("summary", ["c1"])
    blind = SummaryFolders.in_data(tmp_path / "data", "sqlite:////elsewhere.db", lambda _: False)

    assert blind.claim("summary", ["c1"]) == folder
    assert folders.erase_all_but(list) == 1


def test_a_folder_of_another_conversation_is_refused_and_its_marker_left_as_it_is(folders: SummaryFolders) -> None:
    folder = written(folders, "c1")
    (mine := folders.place / "thesis").mkdir()
    (mine / "chapter.txt").touch()

    for conversations, name in ((["c2"], folder.name), (["c1", "c2"], folder.name), (["c1"], "thesis")):
        with pytest.raises(UserFixable, match="is about something else"):
            folders.claim("summary", conversations, name=name)

    assert folders.erase("c2") == 0
    assert [each.name for each in mine.iterdir()] == ["chapter.txt"]
    assert folders.of("c1") == [folder]
