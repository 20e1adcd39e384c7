"""Talk to the assistant in the terminal."""

from __future__ import annotations

import sys
import uuid
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from bot.assistant import Assistant
from bot.conversation import Conversation, first_language
from bot.interface_texts import INTERFACE_TEXTS
from bot.ports import StoredConversation
from bot.reply import Content, Interface, Reply
from bot.settings import Settings
from bot.wiring import make_records

FAREWELLS = ("/quit", "/exit", "/q")


def run_chat(
    catalog: str = "mammography", *, encoder: str = "embedded", data: Path | None = None, console: Console | None = None
) -> None:
    """Chat until the patient leaves. Unanswered and flagged questions are stored for the curators."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bytes that are not UTF-8 must not end the chat
    console = console or Console()
    settings = Settings.from_environment(data=data)
    assistant = Assistant.open(catalog, settings=settings, encoder=encoder, sample=True)
    with console.status("Bereite mich vor … / Getting ready …"):
        assistant.prepare()
    opened = StoredConversation(uuid.uuid4().hex, datetime.now(UTC), first_language(assistant), "terminal")
    conversation = Conversation.begin(assistant, make_records(settings), opened)
    show_reply(console, conversation.welcome())
    while True:
        texts = INTERFACE_TEXTS[conversation.language]
        try:
            text = console.input(f"[bold cyan]{texts['you']}:[/] ")
        except (EOFError, KeyboardInterrupt):
            break
        if text.strip().lower() in FAREWELLS:
            break
        show_reply(console, conversation.turn(text, at=datetime.now(UTC)))
    console.print(INTERFACE_TEXTS[conversation.language]["goodbye"])


def show_reply(console: Console, reply: Reply) -> None:
    """Print a reply: answers in a frame, labels small, choices numbered, emergencies in red."""
    texts = INTERFACE_TEXTS[reply.language]
    label = next(
        (part.text for part in reply.parts if isinstance(part, Interface) and part.key == "sample_label"), None
    )
    console.print()
    answers = any(isinstance(part, Content) for part in reply.parts)
    for part in reply.parts:
        key = part.key if isinstance(part, Interface) else ""
        if isinstance(part, Content):
            console.print(Panel(Text(part.text), subtitle=label, subtitle_align="right", width=min(88, console.width)))
        elif key.startswith("urgent"):
            console.print(Panel(Text(part.text), border_style="bold red", width=min(88, console.width)))
        elif key == "emergency_notice":
            console.print(Text(part.text, style="red"))
        elif key != "sample_label" or not answers:
            console.print(Text(part.text))
    for number, choice in enumerate(reply.choices, 1):
        console.print(Padding(Text(f"{number}  {choice.text}"), (0, 0, 0, 2)))
    if reply.choices:
        console.print(Text(f"({texts['choose']})", style="dim"))
    console.print()
