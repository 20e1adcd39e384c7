"""What a message comes to after an answer: what was shown before is evidence of what it means, never a rewrite of it.

Whether a message is urgent is decided on its own words, before anything here: what stood before raises no alarm and
hides none. Messages that stand alone are answered as if nothing had been said before; those that ask two things, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.assistant import Assistant
from bot.matching.context import WISHES, Move, Said
from bot.matching.remarks import BESIDE, HEARD
from bot.response import DecisionName, Response
from bot.sentences.reply import Part, Reply, extract, folded, interface
from bot.talk.dialogue import (
    MOST_REMINDED,
    State,
    Told,
    explain_easier,
    known,
    offer_more,
    remind,
    respond,
    shorten,
    show_again,
    with_context,
)
from bot.talk.errands import felt
from bot.talk.matters import answered_by_words
from bot.talk.messages import ails, asks_to_wait, picks, remarks
from bot.talk.remarks import (
    announces_for_team,
    beside_answer,
    felt_again,
    meet,
    placed,
    reply_to_remark,
    settles,
    surely_apart,
)
from bot.text import words

# After a complaint, what is taken for a question of its own: a question about it that is answered with a leaflet harms.
SURELY_ALONE = 0.7


_APART = ("alone", "none", "reaction")  # moves that are not about what was shown


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message came to.

    Attributes:
        reply: What to show.
        after: The state of the dialogue after it.
        response: The decision; None where nothing was asked.
        stays: Whether it was about the complaint that was told before.
    """

    reply: Reply
    after: State
    response: Response | None
    stays: bool = False


def hear(assistant: Assistant, state: State, text: str, language: str) -> Heard:
    """Answer a message in its language; what was told of a complaint before is not forgotten over it."""
    heard = _heard(assistant, state, text, language)
    told = state.complaint
    if told is None or heard.stays or heard.after.complaint is not None:
        return heard
    if heard.response is None:  # thanks, or the answer to the complaint in other words
        return replace(heard, after=replace(heard.after, complaint=told, reminded=state.reminded))
    if heard.response.decision == "urgent" or heard.response.fixed is not None or heard.response.level is not None:
        return heard
    return replace(heard, reply=remind(heard.reply, told))


def _heard(assistant: Assistant, state: State, text: str, language: str) -> Heard:
    context = assistant.context(language)
    if context.weights is None:  # fitted for no such language, or another encoder
        response = answered_by_words(assistant, assistant.answer(with_context(state, text), language))
        return _answered(assistant, state, response)
    response = felt(placed(answered_by_words(assistant, assistant.answer(text, language))))
    told = response.level is not None or response.fixed is not None  # a complaint, or another language
    by_itself = response.decision == "urgent" or response.too_long or bool(response.also) or told
    shown = state.last_pair
    # A number, or a pick where nothing is on offer, says nothing about the answer shown.
    if (
        by_itself
        or picks(text) is not None
        or not any(word.isalpha() for word in words(text))
        or shown is None
        or shown not in assistant.learned(language)
    ):
        return _answered(assistant, state, response)
    if (asked := _asked_for(assistant, state, text, language)) is not None:
        return _answered(
            assistant, state, replace(response, decision="answered", pair_id=asked, answer=None, choices=())
        )
    here = replace(state, language=language)
    if felt_again(assistant, here, response) and "?" not in text:
        return Heard(*meet(assistant, known(here), response.remarks[0].kind), response)
    closely = state.complaint is not None
    move = context.move(Said(text, shown, state.last_question, response.decision, response.judged, closely))
    # "Really?" resembles a remark, too: where it may be about what was shown, it has to be a likely one.
    if surely_apart(response):  # "somebody from the team, please" is no wish for a shorter answer
        return _answered(assistant, state, response)
    if move.action not in WISHES and response.pair_id in assistant.withheld(language):
        return _answered(assistant, state, response)  # another answer, shown once more, would be a wrong one
    if move.action not in WISHES and settles(response, least=HEARD if move.action in _APART else BESIDE):
        return _answered(assistant, state, response)
    leans = move.alone < SURELY_ALONE and move.action not in ("reaction", *WISHES)
    if state.complaint is not None and (leans or asks_to_wait(text)):
        return _about_complaint(assistant, here, response, move, state.complaint)
    return _moved(assistant, here, response, move)


def _asked_for(assistant: Assistant, state: State, text: str, language: str) -> str | None:
    """Return the pair whose own question a message is, letter by letter: curators have said what it means.

    None where it is a question of the pair shown, too, or of several; and after a complaint, which it may be about.
    """
    asked = assistant.context(language).asked_by(text) & assistant.learned(language)
    is_other = len(asked) == 1 and state.last_pair not in asked and state.complaint is None
    return next(iter(asked)) if is_other else None


def _about_complaint(assistant: Assistant, state: State, response: Response, move: Move, told: Told) -> Heard:
    """Stay with a complaint: "is that dangerous?", "how long may I wait?" are about it, whatever pairs are about that.

    How soon to ask whom is said again, at first with the answer.
    """
    rest, again = known(state), state.reminded + 1
    if again == 1:
        catalog, sample = assistant.catalog(state.language), assistant.sample
        reply = remind(show_again(rest, "again_intro", catalog, sample=sample, short=True), told)
    else:
        reply = remind(Reply(state.language, ()), told)
    after = replace(rest, complaint=told, reminded=again) if again < MOST_REMINDED else rest
    return Heard(reply, after, _otherwise(response, "declined", move), stays=True)


def announces(assistant: Assistant, state: State, text: str, language: str) -> bool:
    """Say whether what reads as an announcement is one, and no wish for the last answer otherwise: "erzähl mal mehr".

    What is announced to the team gets its number: "I am running ten minutes late".
    """
    if announces_for_team(assistant.answer(text, language)):
        return False
    context = assistant.context(state.language)
    if context.weights is None or state.last_pair is None or state.last_pair not in assistant.learned(state.language):
        return True
    return context.move(Said(text, state.last_pair, state.last_question, "declined")).action not in WISHES


def respond_with_extract(assistant: Assistant, state: State, response: Response) -> tuple[Reply, State]:
    """Reply to a decision, or to a remark; what an answer says of just what was asked stands before the whole of it."""
    remarked = reply_to_remark(assistant, state, response)
    if remarked is not None:
        return remarked
    before = () if response.also else _extract(assistant, response.pair_id, response)
    reply, after = respond(state, response, assistant.catalog(response.lang), before=before)
    return beside_answer(assistant, response, reply), after


def _answered(assistant: Assistant, state: State, response: Response) -> Heard:
    return Heard(*respond_with_extract(assistant, state, response), response)


def _moved(assistant: Assistant, state: State, response: Response, move: Move) -> Heard:
    """Do what a message means after the answer that was shown last."""
    language, sample, rest = state.language, assistant.sample, known(state)
    catalog = assistant.catalog(language)
    if move.action in WISHES and state.last_pair in assistant.withheld(language):
        # Whatever is wanted of it: nothing of it is shown, and no other answer in its place.
        return Heard(show_again(rest, "again_intro", catalog, sample=sample), rest, None)
    match move.action:
        case "alone":
            return _answered(assistant, state, response)
        case "show" if move.pair_ids[0] != state.last_pair:
            return _answered(assistant, state, _otherwise(response, "answered", move, move.pair_ids[0]))
        case "offer":
            return _answered(assistant, state, _otherwise(response, "clarify", move))
        case "reaction" if (response.remarks or remarks(response.question)) and not ails(response.question):
            return Heard(Reply(language, (interface(language, "all_right"),)), rest, None)
        case "none" | "reaction":  # weighed as a reaction, and known as none: "arm taub" must never get "all right"
            return _answered(assistant, state, _otherwise(response, "declined", move))
        case "more":
            return Heard(*offer_more(rest, assistant.shown(language), catalog, sample=sample), None)
        case "easier":
            return Heard(explain_easier(rest, catalog, sample=sample), rest, None)
        case "shorter":
            return Heard(shorten(rest, catalog, sample=sample), rest, None)
    asked_on = move.action == "show"
    before = _extract(assistant, state.last_pair, response) if asked_on else ()
    key = "same_intro" if asked_on else "again_intro"
    reply = show_again(rest, key, catalog, sample=sample, before=before, short=not asked_on)
    rest = replace(rest, folded=bool(folded(reply)))
    return Heard(reply, rest, _otherwise(response, "answered", move, state.last_pair) if asked_on else None)


def _otherwise(response: Response, decision: DecisionName, move: Move, pair_id: str | None = None) -> Response:
    """Return what a message came to in context, in place of what it came to alone."""
    choices = move.pair_ids if decision == "clarify" else ()
    score = move.score or response.score
    return replace(response, decision=decision, pair_id=pair_id, answer=None, choices=choices, score=score)


def _extract(assistant: Assistant, pair_id: str | None, response: Response) -> tuple[Part, ...]:
    """Return what an answer says of just what was asked; empty where unclear."""
    language = response.lang
    pair = assistant.catalog(language).pair(pair_id) if pair_id is not None else None
    if pair is None or not pair.extracts:
        return ()
    said = assistant.context(language).extract(pair, response.question, response.judged)
    return (extract(pair, said),) if said is not None else ()
