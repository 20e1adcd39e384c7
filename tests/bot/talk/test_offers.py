"""How often another exam's answer would be offered by the margin alone: of the shipped exams, by their own questions.

Offers need a name of the other exam, or what points to it, besides: they are rarer by far.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import Assistant
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.talk.neighbours import AHEAD, neighbour

EVERY = 10  # of these questions: more would only take longer


@pytest.mark.proof
def test_by_the_margin_alone_hardly_a_question_of_the_own_exam_gets_an_offer_and_many_of_the_other_do(
    shipped: Assistant, shipped_data: Path, embedded_encoder: EmbeddedEncoder
) -> None:
    exams = (shipped, Assistant.open("mri", data=shipped_data, encoder=embedded_encoder, sample=True))
    counts = {"own": [0, 0], "theirs": [0, 0]}
    for own, other in (exams, exams[::-1]):
        known = neighbour(own, (other,))
        for language in ("de", "en"):
            for asked_of, whose in ((own, "own"), (other, "theirs")):
                asked = [each for each in asked_of.catalog(language).calibration if each.pair_id is not None][::EVERY]
                if whose == "theirs":  # what both have a pair of is answered by the own one
                    asked = [each for each in asked if each.pair_id not in own.shown(language)]
                found = [own.answer_all([each.text for each in asked], language) for own in (known, other)]
                for mine, theirs in zip(*found, strict=True):
                    answers = theirs.decision == "answered" and theirs.level is None and not theirs.also
                    only = answers and theirs.pair_id not in own.shown(language)
                    counts[whose][0] += only and mine.decision != "urgent" and theirs.score >= mine.score + AHEAD
                    counts[whose][1] += 1

    wrongly, rightly = (offers / asked for offers, asked in counts.values())
    assert wrongly < 0.015, counts
    assert rightly > 0.4, counts
