"""What patients hear of a pair that was stopped, wherever in a conversation they ask for it: that it is being checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import pytest

from bot import Assistant, locate
from bot.adapters.sql_records import SqlRecords
from bot.catalog.catalog import Pair
from bot.ports import StoredConversation
from bot.release.in_force import InForce
from bot.release.release import Release
from bot.release.stops import Stop, Stops
from bot.sentences.reply import SENTENCES, Content, Reply, SiteText
from bot.talk.conversation import Conversation, Message
from bot.talk.dialogue import State
from bot.talk.reaction import Reaction
from bot.talk.reactions import Reactions

NOW = datetime(2026, 11, 26, 10, 0, tzinfo=UTC)
EVERY = 3  # of the catalog's pairs, one is tried
SUITES = locate("mammography").parents[1] / "vignettes" / "suites"
# After the stopped pair: asks on, and wishes, which alone say nothing about any pair.
GOES_ON = {
    "de": ["warum?", "mehr dazu", "kürzer bitte", "einfacher bitte", "noch einmal bitte", "/easy", "wirklich?"],
    "en": ["why?", "tell me more", "shorter please", "simpler please", "once more please", "/easy", "really?"],
}


@dataclass
class Ward:
    """The shipped catalog as release 1, of which pairs are stopped."""

    shipped: Assistant
    acts: list[Stop] = field(default_factory=list)

    @cached_property
    def assistant(self) -> Assistant:
        made = {
            "exam": "mammography",
            "shown": {language: sorted(self.shipped.shown(language)) for language in ("de", "en")},
            "until": {"site": (NOW + timedelta(days=365)).isoformat()},
            "texts": {},
        }
        release = Release(1, NOW, "Anna", "", json.dumps(made), "")
        in_force = InForce(release, lambda: Stops.of(self.acts), lambda: NOW)
        house, encoder = self.shipped.house, self.shipped.encoder
        return Assistant(self.shipped._opened, encoder, sample=False, house=house, in_force=in_force)

    def stop(self, *pair_ids: str) -> None:
        self.acts = [Stop(NOW, "Anna", "withdraw", each, release=1) for each in pair_ids]

    def react(self, state: State, text: str) -> Reaction:
        return Reactions(self.assistant).react(state, text, NOW)

    def pairs(self, language: str) -> list[Pair]:
        return list(self.assistant.catalog(language).pairs)


@pytest.fixture(scope="module")
def wards(shipped: Assistant) -> Ward:
    return Ward(shipped)


@pytest.fixture
def ward(wards: Ward) -> Iterator[Ward]:
    wards.stop()
    yield wards
    wards.stop()


def _shows(reply: Reply, pair_id: str) -> bool:
    return any(isinstance(part, Content) and part.pair_id == pair_id for part in (*reply.parts, *reply.choices))


def _is_withheld(reply: Reply) -> bool:
    return SENTENCES[reply.language]["withheld"] in [part.text for part in reply.parts]


def _besides_the_site(reply: Reply) -> list[str]:
    """Return what is said but the site's number, which follows every sentence that sends to the telephone."""
    return [part.text for part in reply.parts if not isinstance(part, SiteText)]


def _own_words(language: str) -> dict[str, list[str]]:
    """Return questions in patients' own words, by the pair that they are about."""
    found: dict[str, list[str]] = {}
    for suite in (f"mammography-blind-{language}", f"mammography-six-{language}"):
        for line in (SUITES / suite / "questions.jsonl").read_text(encoding="utf-8").splitlines():
            asked: dict[str, Any] = json.loads(line)
            if asked["pair_id"]:
                found.setdefault(asked["pair_id"], []).append(asked["text"])
    return found


def _after(pair: Pair, language: str) -> State:
    return State(language, last_pair=pair.id, last_question=pair.question)


@pytest.mark.parametrize("language", ["de", "en"])
def test_what_stands_for_a_stopped_answer_is_followed_by_the_sites_number(ward: Ward, language: str) -> None:
    pair = ward.pairs(language)[0]
    ward.stop(pair.id)

    reply = ward.react(State(language), pair.question).reply
    who_writes = ward.react(State(language, writes=True), pair.question).reply

    for told, fact in ((reply, "phone"), (who_writes, "written")):
        place = [part.text for part in told.parts].index(SENTENCES[language]["withheld"])
        behind = told.parts[place + 1]
        assert isinstance(behind, SiteText)
        assert behind.fact == fact


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_a_stopped_pair_asked_for_by_any_wording_of_curators_is_said_to_be_checked(ward: Ward, language: str) -> None:
    pairs, missed, asked = ward.pairs(language), list[str](), 0
    for number in range(0, len(pairs), EVERY):
        pair, before = pairs[number], pairs[number - 7]
        for text in (pair.question, *(variant.text for variant in pair.variants[:2])):
            for state in (State(language), _after(before, language), _after(pair, language)):
                ward.stop()
                shown = ward.react(state, text)
                ward.stop(pair.id)
                reply = ward.react(state, text).reply
                asked += 1
                assert not _shows(reply, pair.id), text
                if _shows(shown.reply, pair.id) and not _is_withheld(reply):
                    missed.append(f"{pair.id} after {state.last_pair}: {text}")
                elif text == pair.question and not _is_withheld(reply):
                    missed.append(f"{pair.id}, its own question, after {state.last_pair}")
    assert asked > 100
    assert missed == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_a_stopped_pair_asked_for_in_own_words_after_another_pair_is_said_to_be_checked(
    ward: Ward, language: str
) -> None:
    pairs, missed, asked = ward.pairs(language), list[str](), 0
    own = _own_words(language)
    for number in range(0, len(pairs), EVERY):
        pair, before = pairs[number], pairs[number - 7]
        for text in own.get(pair.id, ())[:3]:
            for state in (State(language), _after(before, language)):
                ward.stop()
                shown = ward.react(state, text)
                ward.stop(pair.id)
                reply = ward.react(state, text).reply
                asked += 1
                assert not _shows(reply, pair.id), text
                if _shows(shown.reply, pair.id) and not _is_withheld(reply):
                    missed.append(f"{pair.id} after {state.last_pair}: {text}")
    assert asked > 50
    assert missed == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_whatever_is_said_of_an_answer_that_was_stopped_since_nothing_of_it_comes_again(
    ward: Ward, language: str, records: SqlRecords
) -> None:
    for number, (pair_id, text) in enumerate((p, t) for p in ("pain", "radiation") for t in GOES_ON[language]):
        ward.stop()
        opened = StoredConversation(f"{language}{number}", NOW, language, "api")
        Conversation.begin(ward.assistant, records, opened).turn(
            ward.assistant.catalog(language).pair(pair_id).question, at=NOW
        )
        ward.stop(pair_id)

        replies = [
            Conversation.resume(ward.assistant, records, opened, at=NOW).turn(each, at=NOW) for each in (text, text)
        ]

        for reply in replies:
            assert _besides_the_site(reply) == [SENTENCES[language]["withheld"]], text
            assert reply.choices == ()


def test_a_stopped_pair_that_was_on_offer_is_told_by_its_number_and_offered_no_more(
    ward: Ward, records: SqlRecords
) -> None:
    opened = StoredConversation("menu", NOW, "de", "api")
    asked_back = Conversation.begin(ward.assistant, records, opened)
    reply = asked_back.turn("Röntgen", at=NOW)
    offered = [part.pair_id for part in reply.choices if isinstance(part, Content)]
    assert len(offered) > 1, "choose a message that is asked back to"
    ward.stop(offered[0])

    later = Conversation.resume(ward.assistant, records, opened, at=NOW)
    assert [later.may_show(part) for part in later.choices][:2] == [False, True]
    taken = later.take(Message("pick", "", choice=1), at=NOW)
    assert _besides_the_site(taken.reply) == [SENTENCES["de"]["withheld"]]
    assert (taken.turn.decision, taken.turn.pair_id) == ("declined", None)

    again = Conversation.begin(ward.assistant, records, replace(opened, id="again")).turn("Röntgen", at=NOW)
    assert _is_withheld(again)
    assert [part.pair_id for part in again.choices if isinstance(part, Content)] == offered[1:]
    ward.stop(*offered)
    none = Conversation.begin(ward.assistant, records, replace(opened, id="none")).turn("Röntgen", at=NOW)
    assert _besides_the_site(none) == [SENTENCES["de"]["withheld"]]
    assert none.choices == ()


def test_a_decision_names_a_stopped_pair_and_holds_none_of_its_text(ward: Ward) -> None:
    ward.stop("pain")

    asked = ward.assistant.answer("Tut die Mammographie weh?", "de")

    assert (asked.pair_id, asked.answer, asked.why) == ("pain", None, "withheld")
    assert ward.assistant.catalog("de").pair("pain").answer not in repr(asked)


def test_of_two_questions_the_one_that_is_not_stopped_is_answered(ward: Ward) -> None:
    text = "Tut die Mammographie weh? Und wie lange dauert die Untersuchung?"
    both = ward.react(State("de"), text)
    shown = {part.pair_id for part in both.reply.parts if isinstance(part, Content)}
    assert "pain" in shown
    assert len(shown) == 2
    ward.stop("pain")

    reply = ward.react(State("de"), text).reply

    assert _is_withheld(reply)
    assert {part.pair_id for part in reply.parts if isinstance(part, Content)} == shown - {"pain"}


def test_a_complaint_is_told_how_soon_to_ask_whom_though_its_pair_is_stopped(ward: Ward) -> None:
    text = "Meine Brust ist seit gestern rot und heiß."
    told = ward.react(State("de"), text)
    (shown,) = {part.pair_id for part in told.reply.parts if isinstance(part, Content)}
    ward.stop(shown)

    reply = ward.react(State("de"), text).reply

    assert reply.parts[0] == told.reply.parts[0]
    assert _is_withheld(reply)
    assert not any(isinstance(part, Content) for part in reply.parts)
