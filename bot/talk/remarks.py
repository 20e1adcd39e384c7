"""What is said to remarks: to feelings and manners a kind sentence that leads on, about the place the site's facts.

What pairs, complaints and the alarm decide goes before all of it. Beside an answer a fact of the place is added, and
fear gets its sentence first; only what no pair answers is answered by a remark alone. No sentence comes three times in
a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.assistant import Assistant
from bot.catalog.site import FACTS, Fact, Site
from bot.interview.manners.listening import question_like
from bot.matching.remarks import BESIDE, HEARD, Remark
from bot.response import Response
from bot.sentences.reply import SENTENCES, Content, Interface, Part, Reply, SiteText, folded, interface, site_text
from bot.talk.dialogue import State, known, show_pair, unsure_key
from bot.talk.messages import ails
from bot.talk.situation import fact_named
from bot.talk.withholding import Decided
from bot.text import asks_in_story, sanitise

# What is answered about the place in one turn.
MOST_FACTS = 2
# Feelings that are met with a sentence before an answer, too.
BEFORE_ANSWERS = frozenset({"fear", "shame", "sadness", "sleepless"})
# Manners, which are a message by themselves where it asks nothing and is no longer, in words, or they are sure.
MANNERS = frozenset({"hello", "thanks", "farewell", "okay", "aside"})
MOST_MANNERS, SURE_MANNERS = 12, 0.9
# Sentences that send to a human being, whose number and hours then follow.
WITHHELD = "withheld"  # what stands for an answer that may not be shown just now
CALLING = (
    *("not_passed_on", "threat"),
    *("declined", "none_chosen", "not_sure", "refusal", "staff_called", "call_somebody", "place_unknown"),
    WITHHELD,
    *("more_missing", "easy_missing", "same_intro_third", "no_pairs", "feel_fear", "feel_sleepless", "feel_sadness"),
    *("exam_not_known", "exam_gone", "exam_neither", "exam_only", "exam_invited", "exam_shut"),
    *("feel_shame_again", "feel_anger", "feel_annoyed", "feel_insult_again", "feel_confused_again", "feel_robot"),
)
# What is said to a remark whose sentence is that of a whole message of its kind.
SENTENCE = {
    "refusal": "refusal",
    "hello": "greeting",
    "farewell": "goodbye",
    "thanks": "thanks",
    "okay": "all_right",
    "aside": "take_your_time",
}


def placed(response: Response) -> Response:
    """Return a decision with what of the place its words name, where no pair answers, and nobody complains."""
    fact = fact_named(response.question) if response.decision in ("declined", "clarify") else None
    if fact is None or response.level is not None or response.fixed is not None:
        return response
    return replace(response, decision="declined", choices=(), remarks=(Remark(fact, 1.0),))


def settles(response: Response, *, least: float = HEARD) -> bool:
    """Say whether a message that no pair answers is answered as a remark that is at least so likely.

    Where a pair may be meant, a remark has to be as likely as beside an answer.
    """
    complains = response.advice is not None and not response.advice.is_unsure
    if response.too_long or response.fixed is not None or complains:
        return False
    likeliest = response.remarks[0] if response.remarks else None
    if likeliest is None or _is_more_than_manners(likeliest, response.question, response.lang):
        return False
    if likeliest.kind in BEFORE_ANSWERS and asks_in_story(response.question):
        return False  # what somebody feels while asking is met beside the reply, and the question stays open
    if response.advice is not None and likeliest.kind not in BEFORE_ANSWERS:
        least = BESIDE
    least = {"declined": least, "clarify": BESIDE}.get(response.decision, 2.0)
    unlikely = response.advice is not None or response.level in (None, "other")
    return unlikely and likeliest.probability >= least


def _is_more_than_manners(remark: Remark, text: str, language: str) -> bool:
    """Say whether there is more to a message than manners: a greeting must swallow no story."""
    if remark.kind not in MANNERS:
        return False
    long = len(text.split()) > MOST_MANNERS and remark.probability < SURE_MANNERS
    return "?" in text or long or ails(text) or question_like(text, language) != "no"


def reply_to_remark(assistant: Assistant, state: State, response: Response) -> tuple[Reply, State] | None:
    """Reply to a message that is a remark and no more; None where it is something else."""
    if not settles(response):
        return None
    language, likeliest = response.lang, response.remarks[0]
    rest = replace(known(state), language=language)
    # What may be a complaint all the same is told after it.
    net = (interface(language, unsure_key(response.advice)),) if response.advice is not None else ()
    if not likeliest.is_feeling:
        facts = _facts(assistant.site, response.remarks, language)
        return Reply(language, (*(facts or (interface(language, "place_unknown"),)), *net)), rest
    facts = (*_facts(assistant.site, response.remarks[1:], language), *net)
    return meet(assistant, rest, likeliest.kind, facts, state.said)


def meet(
    assistant: Assistant, rest: State, kind: str, facts: Sequence[Part] = (), said: str = ""
) -> tuple[Reply, State]:
    """Reply to what somebody feels, or means to do, with its sentence and, once, with the pair that helps.

    Args:
        assistant: Whose catalog and site it is.
        rest: What is still known of the dialogue.
        kind: Of the remark, or "cancelling".
        facts: Of the place, to be told with it.
        said: The sentence that the last reply began with.
    """
    language = rest.language
    if kind == "cancelling":  # is done by phone, not here; nobody asks for the reasons
        how = site_text(assistant.site, "move", language) if assistant.site is not None else None
        return Reply(
            language, (interface(language, "nothing_cancelled"), how or interface(language, "refusal"), *facts)
        ), rest
    lead = interface(language, SENTENCE.get(kind, f"feel_{kind}"))
    pair_id = assistant.catalog(language).remarks.get(kind)
    again = said == lead.key or rest.last_pair == pair_id
    if pair_id is None or pair_id not in assistant.learned(language) or again:
        return Reply(language, (lead, *facts)), rest
    reply, after = show_pair(rest, pair_id, assistant.catalog(language), sample=assistant.sample)
    return replace(reply, parts=(lead, *reply.parts, *facts)), after


def surely_apart(response: Response) -> bool:
    """Say whether a message is surely about the place, or about talking to a machine, and so not about an answer."""
    first = response.remarks[0] if response.remarks else None
    return first is not None and (not first.is_feeling or first.kind == "robot") and settles(response, least=BESIDE)


def announces_for_team(response: Response) -> bool:
    """Say whether what a patient announces is for the team: "I am running late" needs the number, not "All right"."""
    first = response.remarks[0] if response.remarks else None
    return first is not None and first.kind in ("move", "phone", "written") and first.probability >= BESIDE


def felt_again(assistant: Assistant, state: State, response: Response) -> bool:
    """Say whether a message is surely a feeling that was met with the answer shown last."""
    kinds = assistant.catalog(response.lang).remarks
    first = response.remarks[0] if response.remarks else None
    felt = first is not None and first.kind in BEFORE_ANSWERS and first.probability >= BESIDE
    return felt and first is not None and kinds.get(first.kind) == state.last_pair


def beside_answer(assistant: Assistant, response: Response, reply: Reply) -> Reply:
    """Return the reply to an answered question with what it says of the place, and of fear; to a story, with fear."""
    told = response.decision in ("clarify", "declined") and asks_in_story(response.question)
    if response.decision != "answered" and not (told and response.advice is None and response.fixed is None):
        return reply
    least = BESIDE if response.decision == "answered" else HEARD
    sure = [one for one in response.remarks if one.probability >= BESIDE]
    feelings = (one.kind for one in response.remarks if one.kind in BEFORE_ANSWERS and one.probability >= least)
    feeling = next(feelings, None)
    lead = (interface(reply.language, f"feel_{feeling}"),) if feeling is not None else ()
    facts = _facts(assistant.site, sure, reply.language)
    return replace(reply, parts=(*lead, *facts, *reply.parts)) if lead or facts else reply


def _facts(site: Site | None, remarks: Sequence[Remark], language: str) -> tuple[Part, ...]:
    if site is None:
        return ()
    kinds: list[Fact] = [fact for one in remarks for fact in FACTS if fact == one.kind]
    found = (site_text(site, fact, language) for fact in kinds[:MOST_FACTS])
    return tuple(part for part in found if part is not None)


def with_contact(reply: Reply, site: Site | None, *, writes: bool = False) -> Reply:
    """Return a reply that sends to a human being with the site's number and hours behind what it says of that.

    `writes`: where to write to, since the patient cannot telephone.
    """
    written = site_text(site, "written", reply.language) if writes and site is not None else None
    if written is not None:
        by_phone = [part for part in reply.parts if isinstance(part, SiteText) and part.fact in ("phone", "person")]
        told = tuple(written if part in by_phone[:1] else part for part in reply.parts if part not in by_phone[1:])
        reply = replace(reply, parts=told)
    calling = [number for number, part in enumerate(reply.parts) if _calls(part)]
    phone = site_text(site, "phone", reply.language) if site is not None and calling else None
    contact = written or phone if calling else None
    if contact is None or any(isinstance(part, SiteText) for part in reply.parts):
        return reply
    place = calling[-1] + 1
    # What stands for a withheld answer is whole; another answer may come behind it.
    while (
        not _stands_for_withheld(reply.parts[calling[-1]]) and place < len(reply.parts) and _goes_on(reply.parts[place])
    ):
        place += 1
    return replace(reply, parts=(*reply.parts[:place], contact, *reply.parts[place:]))


def _calls(part: Part) -> bool:
    return isinstance(part, Interface) and part.key.startswith(CALLING)


def _stands_for_withheld(part: Part) -> bool:
    return isinstance(part, Interface) and part.key == WITHHELD


def _goes_on(part: Part) -> bool:
    """Say whether a part belongs to the answer before it."""
    return isinstance(part, Content) or (isinstance(part, Interface) and part.key.startswith("sample_label"))


def varied(reply: Reply, before: State, after: State) -> tuple[Reply, State]:
    """Return a reply in other words where it begins as the last one or two did, and the state that knows it."""
    first = reply.parts[0] if reply.parts else None
    texts = SENTENCES[reply.language]
    if not isinstance(first, Interface) or first.slots or first.language or f"{first.key}_again" not in texts:
        return reply, replace(after, said="", times=0)
    key = first.key
    times = before.times + 1 if before.said == key else 1
    third = f"{key}_third" if f"{key}_third" in texts else "call_somebody"
    said = (key, f"{key}_again", third)[(times - 1) % 3]
    return replace(reply, parts=(interface(reply.language, said), *reply.parts[1:])), replace(
        after, said=key, times=times
    )


def promise_simple_words(assistant: Assistant, rest: State) -> tuple[Reply, State]:
    """Reply to who wants simple words and asks nothing, with who helps with the language."""
    helps = site_text(assistant.site, "interpreter", rest.language) if assistant.site is not None else None
    parts: tuple[Part, ...] = (interface(rest.language, "simple_on"),)
    return Reply(rest.language, parts if helps is None else (*parts, helps)), replace(rest, simple="on")


def with_interpreter(assistant: Assistant, reply: Reply) -> Reply:
    """Return the reply to a question beside the wish for simple words, with who helps with the language below it."""
    helps = site_text(assistant.site, "interpreter", reply.language) if assistant.site is not None else None
    return reply if helps is None or helps in reply.parts else replace(reply, parts=(*reply.parts, helps))


def in_simple_words(reply: Reply, after: State) -> tuple[Reply, State]:
    """Return a reply that says so where the easy answer comes first for the first time, and the state that knows it."""
    easy = [part for part in folded(reply).values() if part.field == "easy_answer"]
    if after.simple != "asked" or not easy:
        return reply, after
    place, told = reply.parts.index(easy[0]), interface(reply.language, "simple_intro")
    return replace(reply, parts=(*reply.parts[:place], told, *reply.parts[place:])), replace(after, simple="on")


def decided_as(response: Response, reply: Reply) -> Decided:
    """Return what a message came to; what was answered as a remark is no open question."""
    known_place = not any(isinstance(part, Interface) and part.key.startswith("place_unknown") for part in reply.parts)
    return Decided(
        language=response.lang,
        question=sanitise(response.question).text,
        decision="talk" if settles(response) and known_place else response.decision,
        pair_id=response.pair_id,
        score=response.score,
        catalog=response.catalog,
    )


def helps(response: Response, text: str) -> bool:
    """Say whether what the assistant has to say is shown while questions are asked: answers only to questions."""
    asks = question_like(text, response.lang) != "no"
    return (
        response.decision == "urgent"
        or response.advice is not None
        or settles(response, least=BESIDE)
        or (asks and response.decision in ("answered", "clarify"))
    )
