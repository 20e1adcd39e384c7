"""What a patient can press next: choices, quick replies, steps of the interview."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from bot.sentences.reply import SENTENCES, Content, FormText, Interface, Reply
from bot.talk.conversation import Conversation, Stage
from bot.web.page.rendering import Labels
from bot.web.page.views import TAKEN

YES_NO = ("yes", "no")
# Sentences that ask for yes or no, and the words that fit.
QUICK: dict[str, tuple[str, ...]] = {
    "read_back": YES_NO,
    "read_back_none": YES_NO,
    "proposal": YES_NO,
    "proposal_yes_no": YES_NO,
    "proposal_earlier": YES_NO,
    "proposal_earlier_yes_no": YES_NO,
    "yes_or_no": YES_NO,
    "as_answer": YES_NO,
    "any_group": YES_NO,
    "another_group": YES_NO,
    "another_answer": ("no",),
    "interview_offer": YES_NO,
}
# Sentences that ask whether it is an emergency. What is offered with them says that it is none: yes stands before it.
ALARMING = frozenset({"chest_question", "is_emergency", "urgent_unsure", "urgent_suicide_unsure"})


@dataclass(frozen=True, slots=True)
class Button:
    """Something to press: either the number of a choice, or words that are sent as if they were typed."""

    label: str
    choice: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Offers:
    """What can be done next.

    Attributes:
        number: Of the last turn: a choice belongs to the list that it was shown with.
        language: Of the choices.
        heading: What the choices answer; a key of the labels.
        several: Whether more than one choice may be taken.
        changes: The lines of a summary, to be changed.
        amends: Changes the answer that is shown with the open question; None where none is.
        steps: Back, skip, why and pause, where questions are asked.
        stage: How far the interview is.
        progress: Done and all parts of the form.
        asks: Whether the open question of the interview is in sight.
    """

    number: int
    language: str
    heading: str
    buttons: tuple[Button, ...]
    several: bool
    changes: tuple[Button, ...]
    amends: Button | None
    steps: tuple[Button, ...]
    stage: Stage
    progress: tuple[int, int] | None
    asks: bool

    @property
    def can_begin(self) -> bool:
        return self.stage in ("not begun", "paused", "finished")


def offers(conversation: Conversation, last: Reply, labels: Labels, spoken: Labels, *, at: datetime) -> Offers:
    """Return what can be done after the last reply; `spoken`: the labels of the language that is spoken."""
    keys = [part.key for part in last.parts if isinstance(part, Interface)]
    language, stage = conversation.language, conversation.stage
    choices = [(place, part) for place, part in enumerate(conversation.choices, 1) if conversation.may_show(part)]
    buttons = [Button(part.text, choice=place) for place, part in choices]
    there = {button.label for button in buttons}
    quick = (SENTENCES[language][word] for key in keys for word in QUICK.get(key, ()))
    buttons += [Button(text, words=text) for text in dict.fromkeys(quick) if text not in there]
    if not ALARMING.isdisjoint(keys):
        text = SENTENCES[language]["yes"]
        buttons.insert(0, Button(text, words=text))
    if stage in ("checking", "summary"):
        buttons.append(Button(labels["summary_yes"], words=spoken["word_yes"]))
    if stage == "who":
        buttons.append(Button(labels["step_skip"], words=spoken["word_skip"]))
    if any(key.startswith("so_far") for key in keys):
        buttons.append(Button(labels["step_keep"], words=spoken["word_keep"]))
    taken = any(key.startswith(TAKEN) for key in keys)
    choosing_pairs = any(isinstance(part, Content) and part.field == "question" for part in conversation.choices)
    asks = "on_with" in keys or any(isinstance(part, FormText) for part in last.parts)
    return Offers(
        number=conversation.number,
        language=language,
        heading=_heading(stage, keys),
        buttons=tuple(buttons),
        several="several" in keys and len(buttons) > 1,
        changes=tuple(_changes(conversation, spoken, at)),
        amends=Button(labels["amend"], words=spoken["word_amend"]) if stage == "asking" and taken else None,
        steps=_steps(labels, spoken) if stage == "asking" and asks and not choosing_pairs else (),
        stage=stage,
        progress=conversation.progress if asks else None,
        asks=stage == "asking" and asks,
    )


def has_finished(last: Reply) -> bool:
    """Say whether with the last reply the questions of the radiology team were over."""
    keys = [part.key for part in last.parts if isinstance(part, Interface)]
    return any(key.startswith(("completed", "in_progress")) for key in keys)


def _changes(conversation: Conversation, spoken: Labels, at: datetime) -> Iterator[Button]:
    """Yield a button for each line of the summary that was shown: until it is sent, and afterwards."""
    waits = conversation.stage in ("checking", "summary", "choosing")
    for number, part in conversation.changes(at=at):
        yield Button(part.text, words=str(number) if waits else spoken["word_change"].format(number=number))


def _heading(stage: Stage, keys: list[str]) -> str:
    if "interview_offer" in keys:
        return "offer_heading"
    return "choose_one" if stage in ("asking", "who") else "choose"


def _steps(labels: Labels, spoken: Labels) -> tuple[Button, ...]:
    names = ("back", "skip", "why", "pause")
    return tuple(Button(labels[f"step_{name}"], words=spoken[f"word_{name}"]) for name in names)
