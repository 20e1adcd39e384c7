"""One patient turn in, one reply out: the rules. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Literal

from bot.catalog.catalog import Catalog, Pair
from bot.catalog.quiz import QuizStep, Quizzed
from bot.errors import BadData
from bot.matching.complaints import LEVELS, URGENCY, Urgency
from bot.response import Advice, Response
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import (
    Content,
    Interface,
    Part,
    Reply,
    WholeField,
    content,
    foreign_sentence,
    interface,
)
from bot.sentences.wording import NEUTRAL, Wording
from bot.talk.messages import (
    agrees,
    asks_easier,
    asks_on,
    calls_off,
    declines_help,
    picks,
    short_reaction,
    small_talk,
)
from bot.text import MAX_CHARACTERS, sanitise, words

Told = Literal["now", "today", "days", "appointment"]  # levels of complaints that are told how soon to ask whom
Simple = Literal["", "maybe", "wished", "asked", "on", "off"]
SIMPLE = ("asked", "on")
# Sentences after which no explanation is checked any more: emergencies, complaints, worries, refusals, calls for staff,
# answers that are being checked themselves, and what a human being has to tell.
_OVER = (
    *("urgent", "look_today", "calmed", "go_on", "help_coming", "complaint_", "remember_", "feel_", "refusal"),
    *("withheld", "withdrawn", "chat_closed", "staff_", "flagged", "declined_third", "call_somebody", "safe"),
)
_HARMLESS = ("feel_praise", "feel_chatter")
MOST_REMINDED = 2  # in a row: an alarm or a complaint must not become a wall
URGENT_TEXTS = {
    "overdose": "urgent_overdose",
    "suicide": "urgent_suicide",
    "chest-pain": "urgent_chest_pain",
    "scanner": "urgent_scanner",
}
# What is said where what was learned alone hears a danger, and is not sure of it.
UNSURE_TEXTS = {**URGENT_TEXTS, "suicide": "urgent_suicide_unsure", "scanner": "urgent_unsure"}


@dataclass(frozen=True, slots=True)
class Check:
    """How far checking explanations is in a conversation (`bot.talk.teach_back`).

    Attributes:
        step: What the last turn was to it: offered and asked are open, all others are done; empty for nothing.
        offered: What it was offered for so far, as `Quizzed.name`; the last is the open one.
        option: The option that the last turn took; None where it took none.
        rests: Whether it was offered with the answer shown last: never twice running.
        over: Whether nothing is offered any more: the patient wants none, or something else matters now.
        again: Whether the last turn only showed once more what is open.
        missed: Whether the patient was asked before to choose by number.
        late: Whether it was open or answered shortly before: one letter alone is still meant for it.
    """

    step: QuizStep | None = None
    offered: tuple[str, ...] = ()
    option: int | None = None
    rests: bool = False
    over: bool = False
    again: bool = False
    missed: bool = False
    late: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the offer or the quiz waits for the patient."""
        return self.step in ("offered", "asked")

    @property
    def done(self) -> bool:
        """Whether nothing that is said can be meant for it any more."""
        return self.step is None and not self.late

    @property
    def quizzed(self) -> Quizzed | None:
        """What is kept of the last turn; None where it was about no quiz, or said no more of it."""
        if self.again or not self.step or not self.offered:
            return None
        return Quizzed(self.offered[-1], self.step, self.option)


NO_CHECK = Check()


@dataclass(frozen=True, slots=True)
class State:
    """What the next turn has to know of the conversation so far.

    Attributes:
        language: Of the last turn.
        choices: Pair ids on offer, in the order shown.
        last_pair: The pair whose answer was shown last.
        last_question: What the patient asked then, for "why?" and the like.
        held_back: What raised the alarm, to be taken as what else it may be once the patient has called it off.
        last_turn: Id of the last turn that was a question: the one that "/flag" means.
        offered: Whether the questions of the radiology team were just offered.
        alarmed: Whether an alarm is open: it was raised, and the patient has not called it off or gone on.
        chest: Whether that alarm asks if it is the chest or only the breast.
        harm: Whether that alarm is about harming oneself, or about too much of a medicine.
        confirmed: Whether the patient has said that it is an emergency.
        unsure: Whether that alarm asks if it is one at all.
        complaint: How urgent the complaint is that was told last, until the patient turns to something else.
        complained: What told that complaint, to be answered once the patient has said that it is none.
        folded: Whether of the answer shown last a short one came first.
        reminded: How often an open alarm or complaint was said again.
        simple: Whether the easy answer comes first: "asked" by the patient's own words, "on" once that was said, "off"
            where the patient wants none of it; "maybe" after one message that suggests it, "wished" for once.
        said: The key of the fixed sentence that the reply shown last began with; empty for none.
        times: How often in a row a reply began with it.
        writes: Whether the patient cannot telephone.
        check: How far checking explanations is.
        pending: What was asked before it was known which exam the conversation is about, or what another one answers.
        ruled_out: Whether that raised an alarm, and the patient has called it off.
        elsewhere: The other exam, and its pair, whose answer is offered.
        taken_back: What raised the alarm that was called off last, as long as it may come back; None for nothing.
        heeded: How many messages since then were listened to for that.
        beside: The other exam, and its pair, whose answer was shown last, and what was asked then; `last_pair` is None.
    """

    language: str
    choices: tuple[str, ...] = ()
    last_pair: str | None = None
    last_question: str | None = None
    held_back: str | None = None
    last_turn: str | None = None
    offered: bool = False
    alarmed: bool = False
    confirmed: bool = False
    unsure: bool = False
    chest: bool = False
    harm: bool = False
    complaint: Told | None = None
    complained: str = ""
    folded: bool = False
    reminded: int = 0
    simple: Simple = ""
    said: str = ""
    times: int = 0
    writes: bool = False
    check: Check = NO_CHECK
    pending: str = ""
    ruled_out: bool = False
    elsewhere: tuple[str, ...] = ()
    taken_back: str | None = None
    heeded: int = 0
    beside: tuple[str, ...] = ()


# Words: a message that begins with yes and is no longer confirms an open alarm.
CONFIRMING = 8
MOST_OFFERED = 3  # pairs at once
MOST_HEEDED = 5  # messages after an alarm was called off, in which it may come back


def check_after(before: State, reply: Reply, after: State) -> Check:
    """Return how far checking is after a reply that is about none: nothing is open, and it may be over."""
    keys = [part.key for part in reply.parts if isinstance(part, Interface)]
    told = any(key.startswith(_OVER) and not key.startswith(_HARMLESS) for key in keys)
    troubled = before.alarmed or after.alarmed or before.complaint is not None or after.complaint is not None
    over = before.check.over or told or troubled
    return replace(before.check, step=None, option=None, over=over, again=False, late=before.check.step is not None)


def write_state(state: State) -> str:
    return json.dumps(asdict(state))


def is_open_alarm(state: State) -> bool:
    """Say whether an alarm is open that the patient has not called off."""
    return state.alarmed and state.held_back is not None


def remembered(before: State, after: State) -> State:
    """Return the state after a turn, which knows of an alarm that was called off shortly before."""
    if is_open_alarm(after):
        return replace(after, taken_back=None, heeded=0)
    if is_open_alarm(before):
        return replace(after, taken_back=before.held_back, heeded=0)
    if before.taken_back is None or before.heeded + 1 >= MOST_HEEDED:
        return replace(after, taken_back=None, heeded=0)
    return replace(after, taken_back=before.taken_back, heeded=before.heeded + 1)


def read_state(text: str, *, shown: Mapping[str, frozenset[str]]) -> State:
    """Return the state that `write_state` wrote, without pairs that there are no longer.

    Args:
        text: The JSON.
        shown: Ids of the pairs that there are, by language.

    Raises:
        BadData: It is damaged.
    """
    try:
        stored = json.loads(text)
        check = stored.get("check", {})
        check = Check(**{**check, "offered": tuple(check.get("offered", ()))})
        tuples = {name: tuple(stored.get(name, ())) for name in ("elsewhere", "beside")}
        state = State(**{**stored, **tuples, "choices": tuple(stored["choices"]), "check": check})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadData("The stored state of a conversation cannot be read.") from error
    if state.language not in shown:
        return State(next(iter(shown)))
    allowed = shown[state.language]
    # Choices are numbered: when one of them is gone, none of the numbers can be trusted.
    choices = state.choices if set(state.choices) <= allowed else ()
    return replace(state, choices=choices, last_pair=state.last_pair if state.last_pair in allowed else None)


def with_context(state: State, text: str) -> str:
    """Return the question to match: "why?" is asked about what was asked before."""
    if state.last_question is not None and asks_on(text):
        return f"{state.last_question} {text}"
    return text


@dataclass(frozen=True, slots=True)
class Chosen:
    """The patient picked one of the offered pairs, or none of them (None)."""

    pair_id: str | None


def chosen(state: State, text: str, catalog: Catalog) -> Chosen | None:
    """Read a turn as a pick from what was offered; None when it is something else."""
    if not state.choices:
        return None
    folded = _plain(text)
    none_text = _plain(INTERFACE_TEXTS[state.language]["none_of_these"])
    number = re.fullmatch(r"(\d)", folded)
    if number and 1 <= int(number[1]) <= len(state.choices):
        return Chosen(state.choices[int(number[1]) - 1])
    if folded == none_text or (number and int(number[1]) in (0, len(state.choices) + 1)):
        return Chosen(None)
    for pair_id in state.choices:
        if folded == _plain(catalog.pair(pair_id).question):
            return Chosen(pair_id)
    place = picks(text)
    if place is None:
        return None
    if place == 0:
        return Chosen(None)
    return Chosen(state.choices[place - 1 if place > 0 else place]) if abs(place) <= len(state.choices) else None


def offered(state: State, catalog: Catalog) -> tuple[Part, ...]:
    """Return what may be chosen now, in the order shown."""
    if state.held_back is not None:
        return way_out(state)
    if not state.choices:
        return ()
    questions = tuple(content(catalog.pair(pair_id), "question") for pair_id in state.choices)
    return (*questions, interface(state.language, "none_of_these"))


def way_out(state: State) -> tuple[Part, ...]:
    """Return the button that calls the open alarm off; it says what is the case, not what it is called."""
    return (interface(state.language, "chest_breast" if state.chest else "no_emergency"),)


def says_no_emergency(state: State, text: str, wording: Wording = NEUTRAL) -> bool:
    """Whether the patient calls off the open alarm: with a button of the wording, or in words of either language."""
    if not state.alarmed:
        return False
    buttons = {_plain(each) for each in wording.ways_out}
    picked = state.held_back is not None and _plain(text) == "1"
    return picked or _plain(text) in buttons or (calls_off(text) and not declines_help(text))


def is_of_chat(text: str, wording: Wording = NEUTRAL) -> bool:
    """Whether a message is said to the chat itself: the button that calls off an alarm, or a goodbye."""
    buttons = {_plain(each) for each in (*NEUTRAL.ways_out, *wording.ways_out)}
    return _plain(text) in buttons or small_talk(text) == "goodbye" or short_reaction(text) == "farewell"


def says_emergency(state: State, text: str) -> bool:
    """Whether the patient confirms that a possible emergency is one: "ja", "ja, wirklich ganz schlimm"."""
    said = _plain(text)
    first = said.partition(" ")[0]
    return state.alarmed and (agrees(said) or (agrees(first) and "?" not in text and len(said.split()) <= CONFIRMING))


def says_it_again(state: State, text: str) -> bool:
    """Whether a message has the very words that raised the open alarm: no new danger is said."""
    return state.alarmed and state.held_back is not None and _plain(text) == _plain(state.held_back)


def wants_easier(state: State, text: str) -> bool:
    """Whether a whole message asks for the easy answer to what was answered last."""
    return state.last_pair is not None and asks_easier(text)


def emergency(state: State) -> Reply:
    """Reply to a confirmed emergency; it can still be called off."""
    return Reply(state.language, (interface(state.language, "urgent"),), choices=way_out(state))


def _plain(text: str) -> str:
    """Fold without the question mark: patients leave it out, or add one."""
    return " ".join(words(text))


def show_pair(
    state: State, pair_id: str, catalog: Catalog, *, sample: bool, before: Sequence[Part] = ()
) -> tuple[Reply, State]:
    """Reply with a pair's answer, the short one first; `before` stands in front of it.

    What the answer says of just what was asked is not said again by a short answer.
    """
    pair = catalog.pair(pair_id)
    shown = _answer(pair, simple=state.simple in SIMPLE)
    said = [part.text for part in before if isinstance(part, Content)]
    if any(text in shown[0].text or shown[0].text in text for text in said):
        shown = shown[1:] or shown
    parts: list[Part] = [*before, *shown]
    folded = bool(said) or len(shown) > 1
    if sample:
        parts.append(interface(state.language, "sample_label"))
    after = State(state.language, last_pair=pair_id, folded=folded, simple=state.simple)
    return Reply(state.language, tuple(parts)), after


def _answer(pair: Pair, *, simple: bool) -> tuple[Content, ...]:
    """Return what answers a question by itself, where there is such a text, and the answer.

    `simple`: the easy answer comes first, to who writes simply.
    """
    whole = content(pair, "answer")
    lead: WholeField = "easy_answer" if simple and pair.easy_answer is not None else "short_answer"
    return (content(pair, lead), whole) if getattr(pair, lead) is not None else (whole,)


def _fixed(state: State, key: str) -> tuple[Reply, State]:
    return Reply(state.language, (interface(state.language, key),)), state


def none_chosen(state: State) -> tuple[Reply, State]:
    """Reply to "none of these"."""
    return _fixed(replace(state, choices=()), "none_chosen")


def explain_easier(state: State, catalog: Catalog, *, sample: bool) -> Reply:
    """Reply with the easy answer to what was answered last."""
    language = state.language
    if state.last_pair is None:
        return Reply(language, (interface(language, "nothing_to_explain"),))
    pair = catalog.pair(state.last_pair)
    if pair.easy_answer is None:
        return Reply(language, (interface(language, "easy_missing"),))
    label = (interface(language, "sample_label"),) if sample else ()
    return Reply(language, (interface(language, "easy_intro"), content(pair, "easy_answer"), *label))


def show_again(  # noqa: PLR0913 - what is shown, and what stands before it
    state: State, key: str, catalog: Catalog, *, sample: bool, before: Sequence[Part] = (), short: bool = False
) -> Reply:
    """Reply with the answer shown last after the sentence of that key; `short`: the short one first."""
    language = state.language
    if state.last_pair is None:
        return Reply(language, (interface(language, "nothing_to_explain"),))
    label = (interface(language, "sample_label"),) if sample else ()
    pair = catalog.pair(state.last_pair)
    answer = _answer(pair, simple=state.simple in SIMPLE) if short and not before else (content(pair, "answer"),)
    return Reply(language, (interface(language, key), *before, *answer, *label))


def shorten(state: State, catalog: Catalog, *, sample: bool) -> Reply:
    """Reply with the short answer to what was answered last, or a shorter easy one; else with that once more."""
    pair = catalog.pair(state.last_pair) if state.last_pair is not None else None
    if pair is not None and pair.short_answer is not None:
        label = (interface(state.language, "sample_label"),) if sample else ()
        return Reply(state.language, (interface(state.language, "short_intro"), content(pair, "short_answer"), *label))
    if pair is not None and pair.easy_answer is not None and len(pair.easy_answer) < len(pair.answer):
        return explain_easier(state, catalog, sample=sample)
    return show_again(state, "shorter_missing", catalog, sample=sample)


def offer(state: State, pair_ids: Sequence[str], catalog: Catalog, *, key: str = "clarify") -> tuple[Reply, State]:
    """Ask which of the pairs is meant."""
    after = replace(known(state), choices=tuple(pair_ids))
    return Reply(state.language, (interface(state.language, key),), choices=offered(after, catalog)), after


def offer_more(state: State, shown: Collection[str], catalog: Catalog, *, sample: bool) -> tuple[Reply, State]:
    """Show the whole answer where a short one came first; else offer the pairs that are related to it."""
    if state.folded:
        return show_again(state, "whole_answer", catalog, sample=sample), replace(state, folded=False)
    related = catalog.pair(state.last_pair).related if state.last_pair is not None else ()
    found = [pair_id for pair_id in related if pair_id in shown][:MOST_OFFERED]
    if found:
        return offer(state, found, catalog, key="more_intro")
    return Reply(state.language, (interface(state.language, "more_missing"),)), known(state)


def known(state: State) -> State:
    """Return what is still known of a dialogue when something else comes in between."""
    return State(
        state.language,
        last_pair=state.last_pair,
        last_question=state.last_question,
        last_turn=state.last_turn,
        folded=state.folded,
        simple=state.simple,
        check=state.check,
        beside=state.beside,
    )


def rest_of(state: State, language: str) -> State:
    """Return what is still known in a language when something else comes in between, a complaint included."""
    told = replace(known(state), language=language, complaint=state.complaint, complained=state.complained)
    return replace(told, reminded=state.reminded)


def calming(state: State) -> tuple[str, ...]:
    """Return the keys of what is said once an alarm is called off: to be seen today, then when to call all the same."""
    if state.chest:
        return ("look_today_chest", "calmed_breast")
    return ("calmed_harm",) if state.harm else ("look_today", "calmed")  # after harm, today would be too late


def after_alarm(state: State) -> State:
    """Return what is still known once an alarm is called off: "why?" must not bring it again."""
    return replace(rest_of(state, state.language), last_question=None)


def respond(state: State, response: Response, catalog: Catalog, *, before: Sequence[Part] = ()) -> tuple[Reply, State]:
    """Reply to a question that was decided on; `before` stands in front of an answer."""
    language = response.lang
    kept = State(language, last_pair=state.last_pair, last_question=state.last_question, simple=state.simple)
    state = replace(kept, beside=state.beside)
    if response.decision == "urgent":
        return _urgent(state, response)
    if response.fixed is not None:
        return Reply(language, (foreign_sentence(response.fixed.language, response.fixed.key),)), state
    if response.too_long:
        told = interface(language, "too_long", limit=MAX_CHARACTERS)
        return Reply(language, (told, interface(language, "emergency_notice"))), state
    if response.decision == "answered" and response.pair_id is not None:
        reply, after = show_pair(state, response.pair_id, catalog, sample=response.sample, before=before)
        if response.also:
            own, label = (reply.parts[:-1], reply.parts[-1:]) if response.sample else (reply.parts, ())
            simple = state.simple in SIMPLE
            further = (_answer(catalog.pair(other.pair_id), simple=simple) for other in response.also)
            reply = replace(reply, parts=(*own, *chain.from_iterable(further), *label))
        return reply, replace(after, last_question=response.question)
    if response.decision == "clarify":
        after = replace(state, choices=response.choices)
        return Reply(language, (interface(language, "clarify"),), choices=offered(after, catalog)), after
    if response.decision == "declined" and response.level is not None:
        return _complaint(state, response, catalog)
    return Reply(language, (interface(language, "declined"),)), state


def _complaint(state: State, response: Response, catalog: Catalog) -> tuple[Reply, State]:
    """Say how soon to ask whom, then what the pair says that is likeliest meant; nobody is told that it is nothing."""
    language, advice, said = response.lang, response.advice, sanitise(response.question).text
    if response.level == "now":
        after = replace(state, complaint="now", complained=said)
        return Reply(language, (interface(language, "complaint_now"),)), after
    if advice is None:
        return Reply(language, (interface(language, "complaint_other"),)), state
    if advice.is_unsure:
        shown = [pair_id for pair_id in advice.instead if pair_id in catalog.by_id]
        reply, after = offer(state, shown, catalog) if shown else _fixed(state, "not_sure")
        told = interface(language, unsure_key(advice))
        return replace(reply, parts=(told, *reply.parts) if shown else (*reply.parts, told)), after
    soon = interface(language, f"complaint_{advice.urgency}")
    reply, after = show_pair(state, advice.pair_id, catalog, sample=response.sample, before=[soon])
    return reply, replace(after, complaint=advice.urgency, complained=said)


def unsure_key(advice: Advice) -> str:
    """Return the key of the sentence that says how soon to ask whom, to who may have a complaint."""
    return f"complaint_{advice.urgency}_unsure"


def remind(reply: Reply, told: Told) -> Reply:
    """Return a reply that begins with how soon to ask whom about the complaint that was told before."""
    key = "complaint_now" if told == "now" else f"remember_{told}"
    return replace(reply, parts=(interface(reply.language, key), *reply.parts))


def told_urgency(reply: Reply) -> Urgency | None:
    """Return how soon a reply tells a patient with a complaint to ask somebody; None where it does not."""
    keys = [part.key for part in reply.parts if isinstance(part, Interface)]  # a country's ends in its code
    told = [
        level
        for level in LEVELS
        if any(f"{key}_".startswith((f"complaint_{level}_", f"remember_{level}_")) for key in keys)
    ]
    return URGENCY.get(told[0]) if told else None


def _urgent(state: State, response: Response) -> tuple[Reply, State]:
    language = state.language
    chest = response.flag == "chest-pain"
    texts, other = (UNSURE_TEXTS, "urgent_unsure") if response.unsure else (URGENT_TEXTS, "urgent")
    parts = [interface(language, texts.get(response.flag or "", other))]
    if response.fixed is not None:  # first what the patient understands, then what anybody beside them does
        parts.insert(0, foreign_sentence(response.fixed.language, response.fixed.key))
    if chest:
        # "Schmerzen in der Brust" may be the breast or the heart: the number first, then one fixed question.
        parts.append(interface(language, "chest_question"))
    harm = response.flag in {"overdose", "suicide"}
    after = replace(state, held_back=sanitise(response.question).text, alarmed=True, chest=chest, harm=harm)
    after = replace(after, unsure=response.unsure)
    return Reply(language, tuple(parts), choices=way_out(after)), after
