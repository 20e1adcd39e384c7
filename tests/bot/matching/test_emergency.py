"""Rules, what stands around their signs and the learned alarm decide together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bot import Assistant
from bot.adapters.embedded_encoder import EmbeddedEncoder
from bot.matching.emergency import (
    CALMEST,
    FEATURES,
    AlarmTexts,
    Decision,
    Lookout,
    decision_of,
    fit_alarm,
    load_decisions,
)
from bot.matching.red_flags import CONTEXTS, FLAGS, load_examples, load_red_flags
from bot.testing import HashEncoder

URGENT = tuple(
    ("overdose", f"i swallowed {number} tablets of my {whose} and feel sick")
    for number in range(6)
    for whose in ("mother", "son")
)
HARMLESS = tuple(f"where do i park for my {number} appointment with my mother" for number in range(24))


@cache
def _lookout(threshold: float = 0.5, of_catalog: float = 0.0) -> Lookout:
    texts = AlarmTexts(URGENT, HARMLESS, ())
    encoder = HashEncoder()
    alarm = replace(fit_alarm(texts, encoder.encode(texts.all), FLAGS), gate=-1.0, threshold=of_catalog)
    decision = Decision(
        threshold=threshold, intercept=-5.0, weights={"message": 5.0, "passage": 5.0, "sign": 1.0, "past": -2.0}
    )
    return Lookout(load_red_flags("en"), alarm, encoder, decision)


def test_a_firm_sign_alarms_by_rule_and_names_its_words() -> None:
    (verdict,) = _lookout().judge(["hello, my husband is unconscious on the sofa"])

    assert (verdict.flag, verdict.by) == ("collapse", "rule")
    assert "unconscious" in verdict.evidence


def test_the_model_alarms_where_no_rule_does_and_names_the_passage() -> None:
    story = "We drove here in the old car and had a lovely breakfast with my aunt near the church before that. "

    (verdict,) = _lookout().judge([story + "i swallowed 4 tablets of my son and feel sick."])

    assert verdict.by in ("rule", "model")
    assert verdict.flag == "overdose"
    assert "swallowed" in verdict.evidence


def test_very_few_words_alarm_by_rule_only() -> None:
    lookout = _lookout(0.0)

    assert lookout.judge(["swallowed son tablets"])[0].by != "model"
    assert lookout.judge(["i swallowed my son tablets yes"])[0].flag is not None


def test_a_catalogs_own_questions_make_the_alarm_calmer_but_not_deaf() -> None:
    text = "where do i park with my sick son"
    likely = _lookout().judge([text])[0].probability
    assert 0.02 < likely < CALMEST

    assert _lookout(likely - 0.01).judge([text])[0].flag is not None
    assert _lookout(likely - 0.01, of_catalog=CALMEST).judge([text])[0].flag is None
    sure = "i swallowed 4 tablets of my mother and feel sick since my appointment"
    assert _lookout().judge([sure])[0].probability > CALMEST
    assert _lookout(0.1, of_catalog=0.999).judge([sure])[0].flag is not None


@pytest.mark.parametrize(
    "text",
    [
        "had a seizure when i was seven, never again",
        "what should you do when somebody has a seizure?",
        "can stress cause chest pain",
        "my uncle had a heart attack in 1991",
        "i was suicidal as a teenager, long time ago",
        "took an overdose back in 2009, i am well now",
    ],
)
def test_what_is_past_or_asked_in_general_is_no_alarm_by_rule(text: str) -> None:
    assert load_red_flags("en").check(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "had a seizure in 2009, and right now another one, it won't stop",
        "my father had a stroke years ago. now his face is drooping and he can't speak",
        "can i still come tomorrow? my husband collapsed just now",
    ],
)
def test_what_is_happening_now_alarms_whatever_was_before(text: str) -> None:
    assert load_red_flags("en").check(text) is not None


def test_the_words_around_a_sign_are_known_in_every_language() -> None:
    for language in ("de", "en"):
        assert set(load_red_flags(language).contexts) == set(CONTEXTS)


def test_the_shipped_weights_name_known_features() -> None:
    assert set(load_decisions()) == {"de", "en"}
    for decision in load_decisions().values():
        assert set(decision.weights) == set(FEATURES)
        assert decision.weights["message"] > 0
        assert decision.weights["passage"] > 0
        assert 0 < decision.threshold < 1


def test_an_unknown_language_takes_the_weights_of_english() -> None:
    assert decision_of("fr") == decision_of("en")


def test_vectors_that_are_known_change_nothing() -> None:
    texts = ["i swallowed 9 tablets of my mother and feel sick", "where do i park", "long. " * 40]
    lookout = _lookout()

    assert lookout.judge(texts, HashEncoder().encode(texts)) == lookout.judge(texts)


@pytest.mark.parametrize("language", ["de", "en"])
def test_examples_have_at_least_eight_authors_and_every_emergency_a_flag(language: str) -> None:
    examples = load_examples(language)

    assert len(examples.authors) >= 8
    assert {line.flag for line in examples.lines if line.kind.startswith("urgent")} <= set(FLAGS)
    assert all(not line.flag for line in examples.lines if not line.kind.startswith("urgent"))
    rest = examples.without(examples.authors[:1])
    assert len(rest.urgent) + len(rest.harmless) < len(examples.urgent) + len(examples.harmless)


def test_the_embedded_encoder_and_the_fake_give_vectors_of_one_kind() -> None:
    assert EmbeddedEncoder().encode(["a"]).dtype == HashEncoder().encode(["a"]).dtype == np.float32


def _held_out(language: str) -> list[tuple[str, str]]:
    """Lines of two authors whom neither rules nor alarm have seen."""
    lines = (Path(__file__).parents[2] / "data" / "safety" / f"everyday-{language}.tsv").read_text("utf-8").splitlines()
    return [(kind, text) for kind, _, text in (line.partition("\t") for line in lines[1:])]


@pytest.mark.parametrize("language", ["de", "en"])
def test_what_unseen_people_say_every_day_hardly_ever_alarms_and_their_emergencies_do(
    shipped: Assistant, language: str
) -> None:
    rows = _held_out(language)
    flags = [shipped.red_flag(text, fallback=language) is not None for _, text in rows]
    everyday = [flag for (kind, _), flag in zip(rows, flags, strict=True) if not kind.startswith("urgent")]
    urgent = [flag for (kind, _), flag in zip(rows, flags, strict=True) if kind.startswith("urgent")]

    assert sum(everyday) <= 0.02 * len(everyday)
    assert sum(urgent) >= 0.97 * len(urgent)


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize(
    "hide",
    [
        "\u00ad".join,
        "\u200b".join,
        lambda text: text.translate(str.maketrans("aeop", "аеор")),
        lambda text: " ".join(text.replace(" ", "")),
        lambda text: "und dann noch die Frage nach dem Parkplatz. " * 110 + text,
    ],
    ids=["soft hyphens", "zero width", "cyrillic", "spaced", "behind 4,500 characters"],
)
def test_hidden_emergencies_of_unseen_people_alarm_as_often(
    shipped: Assistant, language: str, hide: Callable[[str], str]
) -> None:
    plain = [text for kind, text in _held_out(language) if kind == "urgent-short"]
    seen_plainly = [text for text in plain if shipped.red_flag(text, fallback=language)][:34]

    missed = [text for text in seen_plainly if not shipped.red_flag(hide(text), fallback=language)]

    assert len(missed) <= 0.1 * len(seen_plainly), missed
