"""What a message means after an answer, in the shipped catalog and its fitted weights."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from bot import Assistant
from bot.catalog.catalog import load_catalog
from bot.matching.context import Context
from bot.matching.head import Head
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import Content, Place, guard, worded
from bot.talk.dialogue import State, read_state, write_state
from bot.talk.messages import picks
from bot.talk.reaction import Reaction
from bot.talk.reactions import Reactions
from bot.testing import HashEncoder, write_small_catalog

NOW = datetime(2026, 11, 22, 10, 30, tzinfo=UTC)
AFTER_PAIN = State("de", last_pair="pain", last_question="Tut die Mammographie weh?")
AFTER_RADIATION = State("en", last_pair="radiation", last_question="How dangerous is the radiation?")


def _react(assistant: Assistant, state: State, text: str) -> Reaction:
    reaction = Reactions(assistant).react(state, text, NOW)
    language = reaction.reply.language
    said = worded(reaction.reply, Place("api", assistant.country, wording=assistant.wording))
    guard(said, assistant.catalog(language), shown=assistant.shown(language), house=assistant.house)
    return reaction


def _fields(reaction: Reaction) -> list[tuple[str, str]]:
    return [(part.pair_id, part.field) for part in reaction.reply.parts if isinstance(part, Content)]


def _keys(reaction: Reaction) -> list[str]:
    return [getattr(part, "key", "") for part in reaction.reply.parts]


@pytest.mark.parametrize(
    ("state", "text"),
    [(AFTER_PAIN, "wirklich?"), (AFTER_PAIN, "warum denn das"), (AFTER_RADIATION, "are you sure about that?")],
)
def test_who_asks_on_sees_the_same_answer_whole_after_a_fixed_sentence(
    shipped: Assistant, state: State, text: str
) -> None:
    reaction = _react(shipped, state, text)

    assert _keys(reaction)[0] == "same_intro"
    assert (state.last_pair, "answer") in _fields(reaction)
    assert reaction.decided is not None
    assert (reaction.decided.decision, reaction.decided.pair_id) == ("answered", state.last_pair)
    assert reaction.after.last_pair == state.last_pair


def test_what_the_answer_says_of_just_that_stands_first_and_the_whole_answer_below(shipped: Assistant) -> None:
    reaction = _react(shipped, AFTER_RADIATION, "do i need a lead apron")

    assert _fields(reaction) == [("radiation", "extract"), ("radiation", "answer")]
    extract, answer = (part.text for part in reaction.reply.parts if isinstance(part, Content))
    assert extract == "A lead apron or thyroid shield is not needed."
    assert answer == shipped.catalog("en").pair("radiation").answer


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_question_of_a_pair_gets_its_whole_answer_and_no_extract(shipped: Assistant, language: str) -> None:
    catalog = shipped.catalog(language)
    for pair in (pair for pair in catalog.pairs if pair.extracts):
        assert shipped.context(language).extract(pair, pair.question) is None, pair.id


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("bitte einfacher, ich versteh kein Wort", ["easy_intro"]),
        ("in einem Satz bitte", ["short_intro"]),
        ("was war das noch mal, bitte wiederholen", ["again_intro"]),
        ("erzähl mir mehr dazu", ["more_intro"]),
    ],
)
def test_wishes_in_free_words_are_granted(shipped: Assistant, text: str, keys: list[str]) -> None:
    assert _keys(_react(shipped, AFTER_PAIN, text))[0] in keys


def test_more_offers_related_pairs_which_can_be_picked_by_words(shipped: Assistant) -> None:
    offered = _react(shipped, AFTER_PAIN, "erzähl mir mehr dazu")
    related = shipped.catalog("de").pair("pain").related

    picked = _react(shipped, offered.after, "das zweite bitte")

    assert offered.after.choices == related[:3]
    assert _fields(picked) == [(related[1], "short_answer"), (related[1], "answer")]


def test_more_shows_the_whole_answer_before_others_are_offered(shipped: Assistant) -> None:
    short = _react(shipped, State("de"), "Tut die Mammographie weh?")

    whole = _react(shipped, short.after, "mehr dazu")
    more = _react(shipped, whole.after, "mehr dazu")

    assert _fields(whole) == [("pain", "answer")]
    assert whole.after.choices == ()
    assert more.after.choices == shipped.catalog("de").pair("pain").related[:3]


def test_a_related_pair_that_may_not_be_shown_is_not_offered(
    shipped: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    related = shipped.catalog("de").pair("pain").related
    monkeypatch.setattr(shipped, "shown", lambda _: frozenset({"pain", related[-1]}))

    assert _react(shipped, AFTER_PAIN, "erzähl mir mehr dazu").after.choices == (related[-1],)


@pytest.mark.parametrize(
    ("text", "pair_id"),
    [("Was kostet die Mammographie?", "costs"), ("Muss ich mein Deo weglassen?", "deodorant")],
)
def test_a_question_that_stands_alone_is_answered_as_ever(shipped: Assistant, text: str, pair_id: str) -> None:
    alone, after = _react(shipped, State("de"), text), _react(shipped, AFTER_PAIN, text)

    assert _fields(alone)[-1] == (pair_id, "answer")
    assert after.reply == alone.reply
    assert after.decided == alone.decided


@pytest.mark.proof
def test_calibration_questions_come_to_the_same_after_another_answer(shipped: Assistant) -> None:
    questions = [each for each in shipped.catalog("de").calibration if each.pair_id not in (None, "pain")][::40]
    alone = [_react(shipped, State("de"), each.text) for each in questions]
    after = [_react(shipped, AFTER_PAIN, each.text) for each in questions]

    kept = sum(
        _fields(one) == _fields(other) and one.decided == other.decided for one, other in zip(alone, after, strict=True)
    )
    assert kept >= 0.95 * len(questions), f"{kept} of {len(questions)}"


@pytest.mark.parametrize("text", ["1", "54", "die zweite", "nichts davon"])
def test_a_number_or_a_pick_says_nothing_about_the_answer_where_nothing_is_offered(
    shipped: Assistant, text: str
) -> None:
    assert _fields(_react(shipped, AFTER_PAIN, text)) == _fields(_react(shipped, State("de"), text)) == []


@pytest.mark.parametrize("state", [State("de"), AFTER_PAIN])
@pytest.mark.parametrize("text", ["ich bekomme keine Luft mehr", "ich will mich umbringen"])
def test_context_hides_no_emergency(shipped: Assistant, state: State, text: str) -> None:
    assert _react(shipped, state, text).after.alarmed


@pytest.mark.parametrize("text", ["und dann?", "warum?", "sicher?", "kürzer bitte", "noch mal"])
def test_context_raises_no_alarm(shipped: Assistant, text: str) -> None:
    urgent = State("de", last_pair="pain", last_question="Ich bekomme keine Luft und habe Druck in der Brust")

    assert not _react(shipped, urgent, text).after.alarmed


def test_a_message_that_asks_two_things_is_answered_in_both_parts(shipped: Assistant) -> None:
    reaction = _react(shipped, AFTER_RADIATION, "Who pays for it? And can my husband come with me?")

    assert {pair_id for pair_id, _ in _fields(reaction)} == {"costs", "companion"}


def test_with_another_encoder_the_question_before_is_put_in_front(small: Assistant) -> None:
    state = State("de", last_pair="pain", last_question="Tut die Untersuchung weh?")

    reaction = _react(small, state, "warum?")

    assert small.context("de").weights is None
    assert reaction.decided is not None
    assert reaction.decided.question == "Tut die Untersuchung weh? warum?"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("das zweite bitte", 2),
        ("ich nehme das erste", 1),
        ("the last one", -1),
        ("number three please", 3),
        ("keins davon", 0),
        ("neither of them", 0),
        ("no thanks", None),
        ("the one", None),
        ("das erste oder das zweite", None),
        ("beim zweiten Termin tut es weh", None),
        ("", None),
    ],
)
def test_picks_by_words_are_whole_messages(text: str, place: int | None) -> None:
    assert picks(text) == place


def test_a_place_beyond_what_was_offered_is_no_pick(shipped: Assistant) -> None:
    offered = State("de", choices=("pain", "costs"), last_pair="duration")

    assert _react(shipped, offered, "die letzte bitte").after.last_pair == "costs"
    assert _react(shipped, offered, "weder noch").reply.parts[0].text == INTERFACE_TEXTS["de"]["none_chosen"]
    assert _react(shipped, offered, "das dritte bitte").after.last_pair == "duration"


def test_states_that_older_versions_stored_are_read() -> None:
    old = {"language": "de", "choices": [], "last_pair": "pain", "last_question": "Tut es weh?"}
    shown = {"de": frozenset({"pain"})}

    assert read_state(json.dumps(old), shown=shown) == State("de", last_pair="pain", last_question="Tut es weh?")
    assert read_state(write_state(AFTER_PAIN), shown=shown) == AFTER_PAIN


def test_shipped_dialogues_name_pairs_of_the_catalog(shipped: Assistant) -> None:
    from bot.matching.context_fit import read_dialogues

    folder = Path(__file__).parents[3] / "qa_pairs" / "mammography" / "dialogues"
    for language in ("de", "en"):
        dialogues = read_dialogues(folder / f"{language}.tsv", sorted(shipped.shown(language)))
        assert len({dialogue.author for dialogue in dialogues}) >= 3
        assert all(len(dialogue.turns) > 1 for dialogue in dialogues)


@pytest.mark.parametrize("mark", ["", "?", " ?!"])
def test_the_own_question_of_another_pair_is_answered_by_that_pair_whatever_was_shown(
    shipped: Assistant, mark: str
) -> None:
    catalog, context = shipped.catalog("de"), shipped.context("de")
    own = [
        (pair.id, variant.text)
        for pair in catalog.pairs
        for variant in pair.variants
        if len(variant.text.split()) <= 3 and context.asked_by(variant.text) == {pair.id}
    ][:200:10]
    assert len(own) > 5
    for pair_id, text in own:
        shown = "pain" if pair_id != "pain" else "costs"
        state = State("de", last_pair=shown, last_question=catalog.pair(shown).question)
        alone, after = _react(shipped, State("de"), text), _react(shipped, state, text.upper() + mark)
        if alone.decided is not None and alone.decided.decision == "answered":
            assert after.decided is not None
            assert (after.decided.decision, after.decided.pair_id) == ("answered", pair_id), text
            assert "same_intro" not in _keys(after)


def test_a_text_that_the_shown_pair_has_too_is_left_to_what_was_shown(tmp_path: Path) -> None:
    catalog = load_catalog(write_small_catalog(tmp_path / "exam", languages=["de"]), "de")
    pain, costs = catalog.pair("pain"), catalog.pair("costs")
    both = replace(catalog, pairs=(pain, costs.model_copy(update={"variants": pain.variants})))

    context = Context(both, ["pain", "costs"], cast(Head, None), HashEncoder())

    assert context.asked_by(pain.question.upper()) == {"pain"}
    assert context.asked_by(pain.variants[0].text) == {"pain", "costs"}
    assert context.asked_by("") == frozenset()


@pytest.mark.parametrize("language", ["de", "en"])
def test_what_ails_somebody_is_never_met_as_a_reaction_to_the_answer(shipped: Assistant, language: str) -> None:
    asked = {"de": "Darf ich Deo benutzen?", "en": "Can I use deodorant?"}
    state = State(language, last_pair="deodorant", last_question=asked[language])
    said = {
        "de": ("mir ist schlecht", "mir ist schwindlig", "nein, mir geht es schlecht, brustschmerzen", "fieber 40"),
        "en": ("i feel sick", "i feel dizzy", "no, i feel bad, chest pains", "fever 40"),
    }
    for text in said[language]:
        assert "all_right" not in _keys(_react(shipped, state, text)), text


UNWELL = {
    "de": (
        *("danke, mir ist schwindelig", "gern, aber mir ist schlecht", "danke, ich pack das nicht mehr"),
        *("nein danke, ich hab fieber", "ok danke, mir wird so komisch", "ich warte auch schon 3 wochen"),
    ),
    "en": ("thanks, i feel dizzy", "ok thanks, i can't go on", "thanks but i have been waiting for weeks"),
}


@pytest.mark.parametrize("state", [None, "deodorant"])
@pytest.mark.parametrize(("language", "text"), [(lang, text) for lang, texts in UNWELL.items() for text in texts])
def test_who_is_unwell_or_waits_for_weeks_is_not_answered_with_manners_alone(
    shipped: Assistant, language: str, text: str, state: str | None
) -> None:
    said = _keys(_react(shipped, State(language, last_pair=state), text))

    assert not {"all_right", "thanks", "goodbye", "greeting", "take_your_time"} & set(said), said


@pytest.mark.parametrize("text", ["danke, mir ist nicht mehr schlecht", "danke, alles gut", "ok danke tschüss"])
def test_who_is_well_again_is_answered_in_kind(shipped: Assistant, text: str) -> None:
    said = _keys(_react(shipped, State("de", last_pair="deodorant"), text))

    assert {"all_right", "thanks", "goodbye"} & set(said), said


@pytest.mark.parametrize(
    "text", ["herzinfarkt", "Herzanfall", "ohnmacht", "arm taub", "heart attack", "my arm is numb"]
)
def test_an_emergency_in_one_word_alarms_also_after_an_answer(shipped: Assistant, text: str) -> None:
    language = "en" if text.rsplit(maxsplit=1)[-1] in ("attack", "numb") else "de"

    assert _keys(_react(shipped, State(language, last_pair="deodorant"), text))[0].startswith("urgent")
