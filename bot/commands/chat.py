"""Talk to the assistant in the terminal."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from bot.assistant import Assistant
from bot.errors import BadData
from bot.handover.handover import hand_over_rest
from bot.interview.values.fhir_json import JsonObject
from bot.interview_wiring import Interviewers, for_terminology
from bot.ports import StoredConversation
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import SENTENCES, Content, FormText, Interface, Part, Reply, SiteText, emergency_notice
from bot.settings import Settings
from bot.talk.conversation import Conversation, first_language
from bot.talk.exams import exam_of
from bot.talk.interviewing import Interviewer
from bot.wiring import make_records

FAREWELLS = ("/quit", "/exit", "/q")
SHORT_LIST, SHORT_LINE = 4, 60
_STYLES = {
    "emergency_notice": "red",
    "progress": "dim",
    "progress_part": "dim",
    "instance": "bold",
    "computed_text": "bold",
    "interview_begin": "dim",
}


@dataclass(frozen=True, slots=True)
class Visit:
    """What is talked about: a conversation to go on with, and the questions to ask; by default new and the shipped.

    Attributes:
        terminology_server: Expands value sets that are not at hand.
        launch: Resources that formulas of the form may use, by name.
    """

    conversation: str | None = None
    questionnaire: Path | None = None
    terminology_server: str | None = None
    launch: Mapping[str, JsonObject] = field(default_factory=dict)


def run_chat(
    catalog: str = "mammography",
    *,
    encoder: str = "embedded",
    data: Path | None = None,
    visit: Visit | None = None,
    console: Console | None = None,
) -> None:
    """Chat until the patient leaves. Unanswered and flagged questions are stored for curators, answers for the team."""
    visit = visit or Visit()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bytes that are not UTF-8 must not end the chat
    console = console or Console()
    settings = for_terminology(Settings.from_environment(data=data), visit.terminology_server)
    assistant = Assistant.open(catalog, settings=settings, encoder=encoder, sample=True)
    with console.status("Bereite mich vor … / Getting ready …"):
        assistant.prepare()
    id_ = visit.conversation or uuid.uuid4().hex
    interviewers = Interviewers.open(settings, assistant, exam=catalog, questionnaire=visit.questionnaire)
    interviewer = replace(interviewers, launch=visit.launch).of(id_)
    for line in interviewer.form.gap_lines() if interviewer is not None else ():
        print(f"klartext: {line}", file=sys.stderr)
    conversation = _conversation(assistant, id_, settings, interviewer)
    show_reply(console, conversation.welcome())
    offer = conversation.offer(at=_now())
    if offer is not None:
        console.print(Text(f"{SENTENCES[conversation.language]['conversation_code']} {id_}", style="dim"))
        show_reply(console, offer)
    while True:
        texts = INTERFACE_TEXTS[conversation.language]
        try:
            text = console.input(f"[bold cyan]{texts['you']}:[/] ")
        except (EOFError, KeyboardInterrupt):
            break
        if text.strip().lower() in FAREWELLS:
            break
        show_reply(console, conversation.turn(text, at=_now()))
        console.print(Text(emergency_notice(conversation.language, assistant.country).text, style="dim"))
    console.print(INTERFACE_TEXTS[conversation.language]["goodbye"])
    handover = interviewers.handover(id_)
    if handover is not None:
        hand_over_rest(handover, interviewers.interviews, at=_now())


def _now() -> datetime:
    return datetime.now().astimezone()


def _conversation(assistant: Assistant, id_: str, settings: Settings, interviewer: Interviewer | None) -> Conversation:
    """Go on with a conversation, or begin it."""
    records, exam = make_records(settings), exam_of(assistant)
    opened = StoredConversation(id_, _now(), first_language(assistant), "terminal", exam=exam)
    known = records.conversation(id_)
    if known is not None and known.exam not in (None, exam):
        raise BadData(f"That conversation is about {known.exam!r}, and not about {exam!r}. Name it with `--catalog`.")
    return Conversation.open(assistant, records, opened, interviewer=interviewer)


def show_reply(console: Console, reply: Reply) -> None:
    """Print a reply: answers in a frame, labels small, choices numbered, emergencies in red."""
    label = next(
        (part.text for part in reply.parts if isinstance(part, Interface) and part.key == "sample_label"), None
    )
    console.print()
    answers = any(isinstance(part, Content) for part in reply.parts)
    for part in reply.parts:
        if isinstance(part, Content) and part.field in ("quiz_context", "quiz_question"):
            console.print(Text(part.text, style="bold" if part.field == "quiz_question" else ""))
        elif isinstance(part, Content):
            console.print(Panel(Text(part.text), subtitle=label, subtitle_align="right", width=min(88, console.width)))
        elif isinstance(part, SiteText):
            console.print(Padding(Text(part.text, style="bold"), (0, 0, 0, 2)))
        elif isinstance(part, Interface) and part.key.startswith("urgent"):
            console.print(Panel(Text(part.text), border_style="bold red", width=min(88, console.width)))
        elif not (isinstance(part, Interface) and part.key == "sample_label" and answers):
            console.print(Text(part.text, style=_style(part)))
    _show_choices(console, reply)
    console.print()


def _style(part: Part) -> str:
    if isinstance(part, FormText):
        return "bold" if part.field == "question" else "italic"
    return _STYLES.get(part.key, "") if isinstance(part, Interface) else ""


def _show_choices(console: Console, reply: Reply) -> None:
    """Print what can be chosen: on one line where it fits, else one a line."""
    texts = [f"{number}  {choice.text}" for number, choice in enumerate(reply.choices, 1)]
    line = "     ".join(texts)
    if len(texts) <= SHORT_LIST and len(line) <= SHORT_LINE:
        texts = [line] if texts else []
    for text in texts:
        console.print(Padding(Text(text), (0, 0, 0, 2)))
    if reply.choices:
        asks_back = any(isinstance(choice, Content) for choice in reply.choices)
        hint = INTERFACE_TEXTS[reply.language]["choose"] if asks_back else ""
        console.print(Text(f"({hint})", style="dim")) if hint else None
