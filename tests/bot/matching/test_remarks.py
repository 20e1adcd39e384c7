"""Whole messages that say plainly what they are, whatever was learned makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from bot.languages.files import add, forget, in_folder
from bot.matching.emergency import Verdict
from bot.matching.remarks import Remark, hear_remarks
from tests.bot.languages.samples import LANGUAGES

NOTHING_BUT_A_FACT = (
    *("MRT", "mri", "MRT der Brust", "Brust-MRT", "both mri and mammogram", "MRI scan of breast", "not the mammogram"),
    *("bin in der 9. woche schwanger", "Bin seit 3 Monaten schwanger", "I'm 10 weeks pregnant", "je suis enceinte"),
    *("J'allaite mon bébé", "ich stille noch", "j'ai mes règles, ça change quelque chose ?"),
)
MORE_THAN_A_FACT = (
    *("bin schwanger und blute", "I'm 10 weeks pregnant and bleeding", "MRT Brust tut weh", "mri burns me"),
    *("ich stille und habe Fieber", "ich hasse mein leben und mach Schluss", "schwanger, Termin verschieben"),
)


def _heard(text: str) -> Remark | None:
    return hear_remarks(None, np.zeros((1, 2), np.float32), [text])[0]


def test_an_exams_name_and_pregnancy_are_no_complaint_and_no_wish_to_move_an_appointment() -> None:
    surely_ill = np.array([0.0, 0.9, 0.0, 0.0, 0.1, 0.0])

    for text in NOTHING_BUT_A_FACT:
        heard = _heard(text)
        assert heard is not None, text
        assert heard.kind == "", text
        assert heard.is_no_complaint(surely_ill), text
    assert [text for text in MORE_THAN_A_FACT if _heard(text) is not None] == []


@pytest.mark.parametrize("text", ["ich hasse mein leben", "I hate my life", "je déteste ma vie"])
def test_who_hates_life_is_met_with_words_for_a_heavy_heart_and_an_alarm_stays_one(text: str) -> None:
    heard = _heard(text)

    assert heard is not None
    assert heard.kind == "sadness"
    assert not heard.calms(Verdict("suicide", "model", text, 0.4), text)


def test_a_sites_language_adds_its_own_whole_messages_and_takes_none_away() -> None:
    fact, heavy = "Je donne le sein à mon bébé", "J'en ai marre de cette vie."
    assert _heard(fact) is _heard(heavy) is None

    add(in_folder(LANGUAGES))
    try:
        found = [_heard(text) for text in (fact, heavy, "ich stille noch")]
    finally:
        forget()

    assert [each.kind if each is not None else None for each in found] == ["", "sadness", ""]
    assert _heard(heavy) is None


def test_one_or_two_tablets_against_an_everyday_pain_are_no_complaint_and_more_of_them_may_be() -> None:
    everyday = (
        *("took two paracetamol for my back, still ok?", "I had an ibuprofen this morning, can I still have the MRI?"),
        *(
            "hab 2 ibu gegen rückenschmerzen genommen, geht das noch?",
            "Ich habe heute früh eine Schmerztablette genommen",
        ),
    )
    more = (
        *(
            "took two packs of paracetamol",
            "took twenty paracetamol for my back",
            "took pills",
            "hab tabletten genommen",
        ),
        *("habe eine Tablette genommen und jetzt Ausschlag", "took two tablets I can't breathe"),
    )

    assert [text for text in everyday if (heard := _heard(text)) is None or heard.kind] == []
    assert [text for text in more if _heard(text) is not None] == []


def test_who_is_close_to_tears_is_not_choking() -> None:
    heard = [
        _heard(text) for text in ("I'm choking up just thinking about my results", "I'm choking", "choking on food")
    ]

    assert [remark.kind if remark is not None else None for remark in heard] == ["fear", None, None]
