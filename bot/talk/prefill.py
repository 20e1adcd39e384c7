"""What a patient answered before: proposed again, with where it is from, and never taken without a yes.

A new interview may propose what the same patient, by the pseudonym of their links, agreed to in an earlier one of the
same form. Nothing is proposed that has to be said anew each time: what must be answered (the reason, a pregnancy), an
agreement, and every no, for a denial grows old unnoticed.
"""

from __future__ import annotations

import logging

from bot.errors import BadData
from bot.interview.form.form import Form, Item
from bot.interview.manners.agreement import asks_consent, is_no
from bot.interview.manners.interview import Interview
from bot.interview.values.answer import Answer
from bot.ports import Interviews
from bot.talk.interviewing import asked_form, form_of, launch_of, parsed, session_of

log = logging.getLogger("klartext")


def known_before(
    interviews: Interviews, conversation: str, patient: str | None, form: Form
) -> dict[str, tuple[Answer, ...]]:
    """Return what a patient agreed to in their last interview that `form` may propose, by linkId.

    Args:
        interviews: Where interviews are kept.
        conversation: In which the new one begins.
        patient: The pseudonym; None for an anonymous patient, of whom nothing is known.
        form: What is asked now.
    """
    stored = interviews.latest_of(patient, besides=conversation) if patient else None
    if stored is None:
        return {}
    try:
        launch = launch_of(stored)
        before = form_of(parsed(asked_form(stored)), launch=launch)
        session = session_of(stored)
        if session.status == "in-progress" or not form.url or before.url != form.url:
            return {}
        asking = Interview(before, now=stored.changed_at, launch=launch)
        session = asking.open(session)
    except BadData as error:
        log.warning("nothing proposed from an earlier interview: %s", error)
        return {}
    given, known = session.filling.answers, dict[str, tuple[Answer, ...]]()
    for item in form.walk():
        path = tuple((link_id, 0) for link_id in item.line)
        answers = given.get(path, ())
        alike = item.link_id in before.by_link_id and _same(item, before.by_link_id[item.link_id])
        if answers and alike and _may_be_proposed(form, item):
            question = asking.engine.ask(session.filling, path)
            alone = [option.answer for option in item.options if option.exclusive]
            if not is_no(question, answers, session.language) and not any(each in alone for each in answers):
                known[item.link_id] = answers
    return known


def _may_be_proposed(form: Form, item: Item) -> bool:
    """Say whether a question stands once in a form, and its answer may still be what it was."""
    around = (form.by_link_id[link_id] for link_id in item.line[:-1])
    once = all(each.type == "group" and not each.repeats for each in around)
    lasting = not (item.required or asks_consent(item) or item.type == "attachment")
    return once and lasting and item.asked and item.formulas.calculated is None


def _same(item: Item, before: Item) -> bool:
    """Say whether a question is what it was: its text, its type, and what can be chosen."""

    def meaning(each: Item) -> tuple[object, ...]:
        listed = (each.raw.get("answerOption"), each.raw.get("answerValueSet"))
        return each.line, each.type, each.repeats, each.text.base, *listed

    return meaning(item) == meaning(before)
