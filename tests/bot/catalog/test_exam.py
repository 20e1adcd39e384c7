"""What a catalog says of its exam: phrases for the program's sentences, and what is wrong with a file in one line."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import BadData, locate
from bot.catalog.exam import PHRASES, load_exam, open_exam
from bot.catalog.lint import lint
from bot.errors import GuardViolation
from bot.sentences.interface_texts import NEUTRAL_PHRASES
from bot.sentences.reply import Interface, Place, Reply, guard, interface, worded
from bot.sentences.wording import NEUTRAL, House, wording_of
from tests.ct import CATALOG
from tests.shipped_texts import SAID, SHIPPED

TODAY = date(2026, 11, 23)
# What only an exam of the breast may say. "Brustkorb" is where the heart is.
OF_THE_BREAST = re.compile(
    r"mamm?o|maммo|brust(?!korb)|breast|busen|armpit|achsel|gyn(ä|ae)kolog|frauenarzt|gynae|knoten|\blump|маммо|"
    r"мамо|μαστο|ماموگ|الثدي|乳|แมมโม|nhũ|naasaha|மார்பக|ማሞ|मैमो|میمو|ماموګ",
    re.IGNORECASE,
)


def _file(folder: Path, **said: Any) -> Path:
    (folder / "exam.yaml").write_text(yaml.safe_dump(said, allow_unicode=True), encoding="utf-8")
    return folder


def test_without_an_exam_no_sentence_in_any_language_speaks_of_the_breast() -> None:
    told = [text for texts in NEUTRAL.sentences.values() for text in texts.values()]

    assert len(told) > 1000
    assert [text for text in told if OF_THE_BREAST.search(text)] == []
    assert [text for text in told if "{about" in text] == []


def test_the_search_for_such_words_finds_them_where_they_belong() -> None:
    for language, texts in SAID.items():
        assert any(OF_THE_BREAST.search(text) for text in texts.values()), language


def test_a_ct_department_says_nothing_of_the_breast_and_names_its_exam() -> None:
    said = wording_of(load_exam(CATALOG)).sentences

    assert [text for texts in said.values() for text in texts.values() if OF_THE_BREAST.search(text)] == []
    assert "zur Computertomographie (CT)" in said["de"]["welcome"]
    assert "about CT scans." in said["en"]["foreign"]
    assert "sur le scanner" in said["fr"]["foreign"]


def test_every_phrase_stands_in_a_sentence_and_has_a_neutral_form() -> None:
    for language, phrases in NEUTRAL_PHRASES.items():
        assert set(phrases) == set(PHRASES)
        marked: dict[str, str] = {name: f"<{name}>" for name in PHRASES}
        said = {**wording_of(load_exam(CATALOG)).phrases[language], **marked}
        everything = " ".join(_with(language, said).values())
        assert {name for name in PHRASES if marked[name] not in everything} == {"heading"}  # of a page


def _with(language: str, phrases: dict[str, str]) -> dict[str, str]:
    from bot.catalog.exam import Exam

    return dict(wording_of(Exam({language: phrases})).sentences[language])  # type: ignore[dict-item]


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_reply_is_worded_for_its_exam_and_passes_the_guard_of_that_exam_only(language: str) -> None:
    reply = worded(Reply(language, (interface(language, "welcome"),)), Place(wording=SHIPPED))

    assert reply.parts[0].text == SAID[language]["welcome"]
    assert guard(reply, None, shown=frozenset(), house=House(wording=SHIPPED)) == reply
    with pytest.raises(GuardViolation):
        guard(reply, None, shown=frozenset())


def test_words_that_no_file_holds_do_not_pass() -> None:
    reply = Reply("de", (Interface("welcome", SAID["de"]["welcome"] + " "),))

    with pytest.raises(GuardViolation):
        guard(reply, None, shown=frozenset(), house=House(wording=SHIPPED))


def test_what_is_offered_is_worded_for_the_exam_too() -> None:
    offered = Reply("en", (), (interface("en", "chest_breast"), interface("en", "none_of_these")))

    (way_out, none) = worded(offered, Place(wording=SHIPPED)).choices

    assert way_out.text == SAID["en"]["chest_breast"]
    assert way_out.text in SHIPPED.ways_out
    assert none.text == NEUTRAL.sentences["en"]["none_of_these"]


def test_swiss_texts_of_an_exam_have_no_sharp_s() -> None:
    assert "heiss" in SAID["de"]["declined_ch"]
    assert "ß" not in SAID["de"]["declined_ch"]


def test_a_folder_without_the_file_says_nothing_of_its_exam(tmp_path: Path) -> None:
    assert load_exam(tmp_path) is None
    assert open_exam(tmp_path, sample=False, today=TODAY) is None


def test_outside_sample_mode_phrases_must_be_approved(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="nobody approved these phrases"):
        open_exam(locate("mammography"), sample=False, today=TODAY)

    review = {"status": "approved", "by": "Dr. A", "on": date(2026, 1, 1), "valid_until": date(2027, 1, 1)}
    exam = open_exam(_file(tmp_path, review=review, phrases={"de": {"about": "zur CT"}}), sample=False, today=TODAY)
    assert exam is not None
    assert exam.phrases == {"de": {"about": "zur CT"}}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"phrases": {"de": {"about": "zur {emergency}"}}}, "`phrases.de.about` holds a brace"),
        ({"phrases": {"de": {"about": "zur C\u202eT"}}}, "no screen shows"),
        ({"phrases": {"de": {"about": "x" * 301}}}, "has 301 characters and may have 1 to 300"),
        ({"phrases": {"de": {"about": " "}}}, "has 0 characters"),
        (
            {"phrases": {"de": {"nose": "zur CT"}}},
            "There is no phrase `phrases.de.nose`; known: exam, about, about_yours",
        ),
        ({"phrases": {"de": {"about": 7}}}, "`phrases.de.about` must be a text"),
        ({"phrases": {"de": {"about": "zur CT"}, "en": {"knows": "about CT"}}}, "`phrases.de` lacks `knows`"),
        ({"phrases": {"deutsch": {"about": "zur CT"}}}, "is no language"),
        ({"abroad": {"fr": "{x}"}}, "`abroad.fr` holds a brace"),
        ({"nose": 1}, "There is no entry `nose`; known: review, phrases, abroad"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_by_lint(tmp_path: Path, said: dict[str, Any], told: str) -> None:
    folder = _file(tmp_path, **said)

    with pytest.raises(BadData) as raised:
        load_exam(folder)

    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
    assert str(folder / "exam.yaml") in str(raised.value)
    assert any(told in finding.problem and finding.severity == "error" for finding in lint(folder, today=TODAY))


def test_lint_tells_of_drafts_and_of_languages_that_name_no_exam(tmp_path: Path) -> None:
    (tmp_path / "en.yaml").write_text((CATALOG / "en.yaml").read_text(encoding="utf-8"), encoding="utf-8")

    found = lint(_file(tmp_path, phrases={"de": {"about": "zur CT"}}), today=TODAY)

    of_exam = [(finding.severity, finding.rule) for finding in found if finding.path.name == "exam.yaml"]
    assert of_exam == [("warning", "exam"), ("info", "review")]
