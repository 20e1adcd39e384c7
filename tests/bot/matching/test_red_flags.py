"""Red flags are found, and ordinary questions are left alone, on phrasings written for this test only."""

from pathlib import Path

import pytest

from bot import Assistant, NearCopies
from bot.errors import BadData
from bot.languages.files import add, forget
from bot.matching import red_flags
from bot.matching.decide import Candidate
from bot.matching.red_flags import BY_RULE, FLAGS, load_examples, load_red_flags
from bot.response import Response
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.talk.dialogue import State, respond
from bot.testing import HOSTILE_TEXTS

DATA = Path(__file__).parents[2] / "data" / "safety"
LANGUAGES = ("de", "en")
DISGUISED = [
    ("de", "Ich kriege keine Luft", "Ich kriege keine L u f t"),
    ("en", "I can't breathe", "I can't b r e a t h e"),
]


def _rows(name: str) -> list[tuple[str, str]]:
    """Read two columns after a header; texts may hold quotes, so this is no CSV."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()[1:]
    return [(kind, text) for kind, _, text in (line.partition("\t") for line in lines)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_at_least_95_of_120_emergencies_are_found(language: str) -> None:
    rules, rows = load_red_flags(language), _rows(f"urgent-{language}.tsv")

    missed = [text for _, text in rows if rules.check(text) is None]

    assert len(rows) == 120
    assert len(missed) <= 25, missed


@pytest.mark.parametrize("language", LANGUAGES)
def test_at_least_285_of_300_harmless_texts_are_left_alone(language: str) -> None:
    rules, rows = load_red_flags(language), _rows(f"harmless-{language}.tsv")

    alarmed = [text for _, text in rows if rules.check(text) is not None]

    assert len(rows) == 300
    assert len(alarmed) <= 15, alarmed


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_ordinary_question_raises_an_alarm(language: str) -> None:
    rules = load_red_flags(language)
    ordinary = [text for kind, text in _rows(f"harmless-{language}.tsv") if kind == "ordinary"]

    assert len(ordinary) == 180
    assert [text for text in ordinary if rules.check(text) is not None] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "flag", [flag for flag in FLAGS if flag != "acute"]
)  # younger than the set; see test_emergency
def test_most_emergencies_of_every_kind_are_found(language: str, flag: str) -> None:
    rules = load_red_flags(language)
    texts = [text for kind, text in _rows(f"urgent-{language}.tsv") if kind == flag]

    found = [text for text in texts if rules.check(text) is not None]

    assert len(texts) == 15
    assert len(found) >= 8


@pytest.mark.parametrize(
    ("language", "text", "flag"),
    [
        ("de", "Ich kriege keine Luft!", "breathing"),
        ("de", "ICH KRIEGE KEINE LUFT", "breathing"),
        ("de", "Bekomme ich bei der Kompression noch Luft?", None),
        ("de", "Ist der Druck auf die Brüste schlimm?", None),
        ("en", "I can’t breathe", "breathing"),
        ("en", "i cant breathe", "breathing"),
        ("en", "Do I have to hold my breath?", None),
        ("en", "She is unconscious", "collapse"),
        ("en", "Is the price of a cappuccino included?", None),
    ],
)
def test_spelling_does_not_matter_but_word_bounds_do(language: str, text: str, flag: str | None) -> None:
    assert load_red_flags(language).check(text) == flag


@pytest.mark.parametrize(("language", "word"), [("de", "bewusstlos"), ("en", "unresponsive")])
def test_a_rule_never_matches_inside_a_word(language: str, word: str) -> None:
    rules = load_red_flags(language)

    assert rules.check(f"jetzt {word} !") == "collapse"
    assert rules.check(f"jetzt x{word} !") is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("hostile", HOSTILE_TEXTS.values(), ids=HOSTILE_TEXTS.keys())
def test_hostile_texts_are_checked_without_an_alarm(language: str, hostile: str) -> None:
    assert load_red_flags(language).check(hostile[:1000]) is None


@pytest.mark.parametrize(("language", "plain", "disguised"), DISGUISED)
def test_a_plain_red_flag_is_seen_without_undoing_disguises(language: str, plain: str, disguised: str) -> None:
    rules = load_red_flags(language)

    assert rules.sees_plainly(plain)
    assert not rules.sees_plainly(disguised)
    assert rules.check(disguised)


def test_a_language_without_rules_is_refused() -> None:
    with pytest.raises(BadData, match="There is no language 'xx'"):
        load_red_flags("xx")


def _urgent(language: str, flag: str) -> Response:
    return Response(
        question="?",
        lang=language,
        decision="urgent",
        pair_id=None,
        score=0.1,
        candidates=(Candidate("pain", 0.1),),
        choices=(),
        answer=None,
        also=(),
        flag=flag,
        method="hybrid",
        catalog="small@1",
        sample=True,
        too_long=False,
        reason="",
        elapsed_ms=1.0,
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("flag", [*FLAGS, *BY_RULE])
def test_every_flag_has_a_text_with_a_number_to_call(shipped_catalogs: dict, language: str, flag: str) -> None:  # type: ignore[type-arg]
    reply, _ = respond(State(language), _urgent(language, flag), shipped_catalogs[language])

    assert reply.parts[0].text in INTERFACE_TEXTS[language].values()
    assert "112" in reply.parts[0].text
    assert "144" in reply.parts[0].text


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_name_known_flags_only(language: str) -> None:
    assert {rule.flag for rule in load_red_flags(language).rules} == {*FLAGS, *BY_RULE}


def _unseen(name: str, language: str) -> list[tuple[str, str]]:
    """Read a test file without near copies of what the learned alarm was trained on."""
    seen, examples = NearCopies(), load_examples(language)
    for text in (*(text for _, text in examples.urgent), *examples.harmless):
        seen.add(text, "example")
    return [(kind, text) for kind, text in _rows(name) if seen.find(text) is None]


@pytest.mark.parametrize("language", LANGUAGES)
def test_hardly_a_test_text_is_a_near_copy_of_the_alarms_training_texts(language: str) -> None:
    assert len(_unseen(f"urgent-{language}.tsv", language)) >= 118
    assert len(_unseen(f"harmless-{language}.tsv", language)) >= 298


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_and_learned_alarm_together_miss_hardly_an_emergency_and_rarely_alarm_otherwise(
    shipped: Assistant, language: str
) -> None:
    urgent = shipped.answer_all([text for _, text in _unseen(f"urgent-{language}.tsv", language)], language)
    harmless = _unseen(f"harmless-{language}.tsv", language)
    calm = shipped.answer_all([text for _, text in harmless], language)

    missed = [response.question for response in urgent if response.decision != "urgent"]
    alarmed = [(kind, text) for (kind, text), response in zip(harmless, calm, strict=True) if response.flag]
    # The learned alarm finds about one more emergency in eight, and pays for it: 19 of 300 in November 2026.
    assert len(missed) <= 10, missed
    assert len(alarmed) <= 25, alarmed
    assert sum(kind == "ordinary" for kind, _ in alarmed) <= 5, alarmed


@pytest.mark.parametrize("name", ["red_flags.yaml", "red_flag_examples.yaml", "red_flag_lines.tsv", "decision.yaml"])
def test_whatever_the_alarm_is_taught_with_changes_its_digest(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = dict.fromkeys(("red_flags.yaml", "red_flag_examples.yaml", "red_flag_lines.tsv"), b"1")
    monkeypatch.setattr(red_flags, "RED_FLAGS", tmp_path)
    (tmp_path / "decision.yaml").write_bytes(b"1")
    add({"xx": files, "xy": files})
    try:
        before = [red_flags.digest(language) for language in ("xx", "xy")]

        (tmp_path / "decision.yaml").write_bytes(b"2" if name == "decision.yaml" else b"1")
        add({"xx": {**files, name: b"2"}, "xy": {**files}})

        after = [red_flags.digest(language) for language in ("xx", "xy")]
    finally:
        forget()
    assert after[0] != before[0]
    assert (after[1] != before[1]) == (name == "decision.yaml")
