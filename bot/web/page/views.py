"""What the page shows of a conversation: replies as blocks, answers with what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.assistant import Assistant
from bot.catalog.catalog import Pair
from bot.errors import GuardViolation
from bot.languages.files import load
from bot.ports import FlagReason, StoredFlag
from bot.sentences.emergency_texts import Helpline, helplines, numbers
from bot.sentences.foreign_texts import RIGHT_TO_LEFT
from bot.sentences.reply import (
    Content,
    Entry,
    FormText,
    Interface,
    OtherExam,
    Part,
    Reply,
    SiteText,
    WholeField,
    content,
    folded,
    guard,
    shows_alarm,
)
from bot.talk.conversation import Taken
from bot.talk.messages import switches_to
from bot.talk.reception import is_withdrawn
from bot.web.page.rendering import Labels

Kind = Literal["answer", "place", "say", "taken", "ask", "hint", "entries", "quiet", "offer"]
ASKS = frozenset({"question", "short"})
# What the page shows by other means: as a bar of progress, a fixed notice, a label on the answer, boxes to tick.
ELSEWHERE = ("progress", "emergency_notice", "sample_label", "several")
# What was understood of the last answer, shown with the next question: one press changes it.
TAKEN = ("taken", "waits")
CLARIFY = ("clarify", "clarify_again", "clarify_third")
HEADINGS = frozenset({"check", *CLARIFY, "summary", "summary_required", "summary_problems"})
FORM_SAVED = frozenset({"form_saved", "form_more"})
# Commands behind buttons, and how a patient would call them.
COMMANDS = {
    "/staff": "call_staff",
    "/interview": "interview_heading",
    "/easy": "easier",
}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that can be asked with one press."""

    pair_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An approved text with what is known of it.

    Attributes:
        short: What is shown first, the text on demand; empty where the text is shown at once.
        easy: The text in simpler words, or empty.
        approved: By whom it was, and when; empty in sample mode.
    """

    text: str
    short: str = ""
    easy: str = ""
    approved: str = ""
    sources: tuple[str, ...] = ()
    related: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a list of the summary, or an answer; `language` where it is another than that of the reply."""

    kind: Kind
    text: str = ""
    answer: Answer | None = None
    entries: tuple[Entry, ...] = ()
    language: str = ""

    @property
    def direction(self) -> str:
        """In which direction the language is written, as HTML calls it."""
        return "rtl" if self.language in RIGHT_TO_LEFT else "ltr"


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn as the page shows it.

    Attributes:
        said: What the patient wrote or chose.
        alert: Whether it is an emergency: whom to call stands in `call`.
        helplines: Whom else the reply names, also once the alarm was called off.
        flag: What the patient said of the answer.
        can_flag: Whether there is an answer to say something of.
        withdrawn: Whether the answer was taken back since, and a sentence that says so stands in its place.
    """

    number: int
    turn_id: str
    said: str
    language: str
    blocks: tuple[Block, ...]
    alert: bool
    call: tuple[str, ...]
    helplines: tuple[Helpline, ...]
    flag: FlagReason | None
    can_flag: bool
    withdrawn: bool

    @property
    def taken(self) -> int:
        """How many blocks there are up to the one that shows what was taken of the last answer; 0 without one."""
        return next((number for number, block in enumerate(self.blocks, 1) if block.kind == "taken"), 0)


class Shown:
    """Makes views of what the assistant may show."""

    def __init__(self, assistant: Assistant, labels: Mapping[str, Labels]) -> None:
        self._assistant = assistant
        self._labels = labels

    def turns(self, taken: Sequence[Taken], flags: Sequence[StoredFlag], labels: Labels) -> list[TurnView]:
        """Return turns in order; `labels`: for what was pressed."""
        before = [(), *(turn.reply.choices for turn in taken)]
        found = [self._turn(turn, flags, labels, choices) for turn, choices in zip(taken, before, strict=False)]
        # Of a saved page of the form only that counts later, not the question that was open in the chat then.
        return [*(_shortened(view, turn) for view, turn in zip(found[:-1], taken, strict=False)), *found[-1:]]

    def _turn(self, taken: Taken, flags: Sequence[StoredFlag], labels: Labels, choices: Sequence[Part]) -> TurnView:
        exchange, reply = taken.turn.exchange, taken.reply
        said = exchange.said if exchange else ""
        keys = [part.key for part in reply.parts if isinstance(part, Interface)]
        urgent = shows_alarm(reply)
        country, language = self._assistant.country, reply.language
        mine = [flag.reason for flag in flags if exchange and flag.turn_id == exchange.turn_id]
        return TurnView(
            number=exchange.number if exchange else 0,
            turn_id=exchange.turn_id if exchange else "",
            said=_called(said, labels) or _ticked(said, choices) or said,
            language=reply.language,
            blocks=tuple(self.blocks(reply)),
            alert=urgent,
            call=numbers(country, language) if urgent else (),
            helplines=tuple(line for key in keys for line in helplines(key, country, language)),
            flag=mine[-1] if mine else None,
            can_flag=taken.turn.decision == "answered" and not is_withdrawn(reply),
            withdrawn=is_withdrawn(reply),
        )

    def blocks(self, reply: Reply, *, without: str = "no key") -> Iterator[Block]:
        """Yield what a reply says, in reading order; `without`: sentences whose key begins so."""
        entries: list[Entry] = []
        leads = folded(reply)
        asked = next(
            (part for part in reversed(reply.parts) if isinstance(part, FormText) and part.field in ASKS), None
        )
        for part in reply.parts:
            if isinstance(part, Interface) and part.key.startswith(without):
                continue
            if isinstance(part, Entry):
                entries.append(part)
                continue
            if entries:
                yield Block("entries", entries=tuple(entries))
                entries = []
            block = Block("ask", part.text) if part is asked else self._block(part, reply.language, leads)
            if block is not None:
                yield block
        if entries:
            yield Block("entries", entries=tuple(entries))

    def suggestions(self, pair_ids: Sequence[str], language: str) -> tuple[Suggestion, ...]:
        """Return those of the questions that may be shown."""
        found = ((pair_id, self._text(pair_id, "question", language)) for pair_id in pair_ids)
        return tuple(Suggestion(pair_id, text) for pair_id, text in found if text)

    def pair(self, pair_id: str, language: str) -> Block | None:
        """Return the answer of a pair by itself; None when patients may not see it."""
        if not self._text(pair_id, "answer", language):
            return None
        pair = self._assistant.catalog(language).pair(pair_id)
        lead = content(pair, "short_answer") if self._text(pair_id, "short_answer", language) else None
        return Block("answer", answer=self._answer(content(pair, "answer"), language, lead))

    def _block(self, part: Part, language: str, leads: Mapping[str, Content]) -> Block | None:
        """Return what a part looks like; `leads`: by pair what stands for its answer, and is shown with it."""
        if isinstance(part, Content):
            lead = leads.get(part.pair_id)
            if part is lead:
                return None
            if part.field in ("quiz_context", "quiz_question"):
                return Block("ask" if part.field == "quiz_question" else "say", part.text)
            whole = part.field == "answer"  # the others are followed by it, or follow it
            return Block("answer", answer=self._answer(part, language, lead) if whole else Answer(part.text))
        if isinstance(part, SiteText):
            return Block("place", part.text)
        if isinstance(part, OtherExam):
            return Block("answer", answer=Answer(part.text))
        if isinstance(part, FormText):
            return Block("say" if part.field in ASKS else "hint", part.text)
        if isinstance(part, Interface) and not part.key.startswith(ELSEWHERE):
            if part.key == "teach_offer":  # stands right above its choices
                return Block("offer", part.text)
            kind: Kind = "ask" if part.key in HEADINGS else "taken" if part.key.startswith(TAKEN) else "say"
            return Block(kind, part.text, language=part.language)
        return None

    def _answer(self, part: Content, language: str, lead: Content | None) -> Answer:
        pair = self._assistant.catalog(language).pair(part.pair_id)
        return Answer(
            text=part.text,
            short=lead.text if lead is not None else "",
            easy=""
            if lead is not None and lead.field == "easy_answer"
            else self._text(pair.id, "easy_answer", language),
            approved=self._approved(pair, language),
            sources=tuple(f"{source.title}. {source.publisher}, {source.year}" for source in pair.sources),
            related=self.suggestions(pair.related, language),
        )

    def _approved(self, pair: Pair, language: str) -> str:
        """Say who approved an answer; in sample mode nobody is claimed to have."""
        if self._assistant.sample:
            return ""
        labels, review, signed = self._labels[language], pair.review, self._assistant.approved(pair.id, language)
        if signed is not None:
            return labels["approved"].format(by=signed[0], on=signed[1].strftime(labels["date"]))
        by = review.by or labels["approved_team"]
        if review.on is None:
            return labels["approved_undated"].format(by=by)
        return labels["approved"].format(by=by, on=review.on.strftime(labels["date"]))

    def _text(self, pair_id: str, name: WholeField, language: str) -> str:
        """Return a text of a pair through the guard; empty when patients may not see it."""
        catalog, shown = self._assistant.catalog(language), self._assistant.shown(language)
        if pair_id not in catalog.by_id:
            return ""
        try:
            part = content(catalog.pair(pair_id), name)
            guard(Reply(language, (part,)), catalog, shown=shown)
        except GuardViolation:
            return ""
        return part.text


def _shortened(view: TurnView, taken: Taken) -> TurnView:
    """Return the view of a turn that saved a page of the form as one line."""
    line = next((part for part in taken.reply.parts if isinstance(part, Interface) and part.key in FORM_SAVED), None)
    return view if line is None else replace(view, blocks=(Block("say", line.text),))


def _called(said: str, labels: Labels) -> str:
    """Return what stands on the button of a command; empty for what is none."""
    language = switches_to(said) if said.startswith("/") else None
    if language is not None:
        return str(load(language, "language.yaml")["switch"])
    return labels[COMMANDS[said]] if said in COMMANDS else ""


def _ticked(said: str, choices: Sequence[Part]) -> str:
    """Return what numbers of boxes meant, as the patient saw it; empty when these are no such numbers."""
    numbers_ = [int(each) for each in said.split(", ") if each.isdecimal() and len(each) < 3]
    if (
        len(choices) < 2
        or ", ".join(map(str, numbers_)) != said
        or not all(0 < each <= len(choices) for each in numbers_)
    ):
        return ""
    return " · ".join(choices[each - 1].text for each in numbers_)
