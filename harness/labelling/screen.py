"""What a rater sees, and how the answer is asked for: single keys in a terminal, one line each from a pipe."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from io import TextIOWrapper
from string import Template
from typing import Any, Literal, Protocol

import yaml
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from bot import data_folder
from harness.console import printable
from harness.labelling.labels import VERDICTS, Label, Verdict, load_reasons, reasons_for

ENTER, BACK, LEFT, NOTHING = "enter", "back", "left", ""
_NAMED = {b"\r": ENTER, b"\n": ENTER, b"\x7f": BACK, b"\x08": BACK, b"\x1b": BACK, b"\x1b[D": LEFT, b"\x1bOD": LEFT}
_ESCAPE_S = 0.03  # how long the rest of an arrow key may take
SEVERAL = "+"  # for more than one reason, and for a reason of a correct answer
Action = Literal["skip", "undo", "quit"]
ACTIONS: dict[str, Action] = {"s": "skip", "u": "undo", "q": "quit"}
KEYS: dict[str, Verdict] = {"1": VERDICTS[0], "2": VERDICTS[1], "3": VERDICTS[2]}
COLOURS: dict[Verdict, str] = {"incorrect": "red", "partial": "yellow", "correct": "green"}


class ScreenWords:
    """What the screen says, in one language: English where nobody wrote another."""

    def __init__(self, language: str) -> None:
        path = data_folder("vignettes") / "labels" / "screen.yaml"
        texts = yaml.safe_load(path.read_text(encoding="utf-8"))
        self.language = language
        self._texts: Mapping[str, Any] = texts.get(language, texts["en"])

    def __getitem__(self, name: str) -> Any:
        return self._texts[name]

    def say(self, name: str, **values: object) -> str:
        """Return a text with its slots filled."""
        return Template(self._texts[name]).substitute(values)


@cache
def screen_words(language: str) -> ScreenWords:
    """Return what the screen says in a language."""
    return ScreenWords(language)


class Keyboard:
    """A terminal that gives each key at once. Ctrl-D and a closed terminal raise EOFError."""

    def __init__(self, descriptor: int, usual: list[Any]) -> None:
        self._descriptor = descriptor
        self._usual = usual  # the mode that the terminal came in

    def key(self) -> str:
        """Wait for a key: a lower-case character, a name above, or `NOTHING` for any other key."""
        self._single_keys()
        raw = os.read(self._descriptor, 1)
        if raw in (b"", b"\x04"):
            raise EOFError
        if raw == b"\x1b":
            while select.select([self._descriptor], [], [], _ESCAPE_S)[0] and len(raw) < 8:
                raw += os.read(self._descriptor, 1)
        elif raw[0] >= 0xC0:  # the rest of a character outside ASCII
            raw += os.read(self._descriptor, 1 if raw[0] < 0xE0 else 2 if raw[0] < 0xF0 else 3)
        text = raw.decode("utf-8", "ignore")
        return _NAMED.get(raw, text.lower() if text.isprintable() else NOTHING)

    def line(self, prompt: str) -> str:
        """Let the rater type a line, with the usual keys for mending it."""
        import termios

        with suppress(ImportError):
            import readline  # noqa: F401  # input() then knows arrow keys, and a letter of two bytes is one letter
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._usual)
        while True:
            with suppress(UnicodeDecodeError):
                return input(prompt).strip()

    def _single_keys(self) -> None:
        """Set each time anew: after Ctrl-Z a shell may hand the terminal back as it likes it."""
        import termios

        mode = termios.tcgetattr(self._descriptor)
        mode[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, mode)  # keys typed ahead are kept


@contextmanager
def open_keyboard() -> Iterator[Keyboard | None]:
    """Yield the keyboard of the terminal; None when standard input is a file or a pipe, or on Windows."""
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bytes that are not UTF-8 must not end the session
    if sys.platform == "win32" or not _is_terminal():
        yield None
        return
    import termios

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        yield Keyboard(descriptor, before)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _is_terminal() -> bool:
    try:
        return os.isatty(sys.stdin.fileno())
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class View:
    """One item on the screen.

    Attributes:
        rater: Who labels.
        done, total: Items labelled, of all in the queue.
        question: What the patient asked.
        answer: What the patient was shown.
        labels: Labels to decide between; empty for raters, who are blind to them.
        note: A word about the last key; often empty.
        language: Of the questions, and so of the screen.
        before: What was said in the conversation before: (patient, system) of each turn.
    """

    rater: str
    done: int
    total: int
    question: str
    answer: str
    labels: tuple[Label, ...] = ()
    note: str = ""
    language: str = "en"
    before: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> ScreenWords:
        return screen_words(self.language)


@dataclass(frozen=True, slots=True)
class Given:
    """What the rater said of an item."""

    verdict: Verdict
    reason: str = ""
    comment: str = ""


class ItemAsker(Protocol):
    """Asks a rater about one item."""

    def ask(self, view: View) -> Given | Action:
        """Return the label, or what to do instead. End of input means quit."""
        ...

    def finished(self, view: View) -> Action:
        """Say that nothing is left; return ``undo`` when the rater wants the last label back."""
        ...


@dataclass(frozen=True, slots=True)
class _Stage:
    """What has been keyed for the item on the screen."""

    verdict: Verdict | None = None
    several: bool = False  # whether more than one reason is given: the label is stored by Enter then
    reasons: tuple[str, ...] = ()
    comment: str = ""
    help: bool = False
    wrong: str = ""  # the last key, if it does nothing here


class Keys(Protocol):
    """What gives single keys: a terminal's keyboard."""

    def key(self) -> str: ...

    def line(self, prompt: str) -> str: ...


class TerminalAsker:
    """Redraws the screen for each key."""

    def __init__(self, console: Console, keyboard: Keys) -> None:
        self._console = console
        self._keyboard = keyboard

    def ask(self, view: View) -> Given | Action:
        stage = _Stage()
        while True:
            self._draw(view, stage)
            try:
                step = self._step(replace(stage, wrong=""), self._keyboard.key(), view.words)
            except EOFError:
                return "quit"
            if not isinstance(step, _Stage):
                return step
            stage = step

    def finished(self, view: View) -> Action:
        self._console.clear()
        self._console.print(_header(view))
        self._console.print(Text(f"\n{view.words['all_done']}\n\n{view.words['after_all']}"))
        try:
            return "undo" if self._keyboard.key() in ("u", LEFT) else "quit"
        except EOFError:
            return "quit"

    def _step(self, stage: _Stage, key: str, words: ScreenWords) -> _Stage | Given | Action:
        if stage.verdict is not None:
            return self._reason(stage, stage.verdict, key)
        if key in KEYS:
            verdict = KEYS[key]
            asked = bool(reasons_for(verdict)) and (verdict != "correct" or stage.several)
            return replace(stage, verdict=verdict) if asked else Given(verdict, "", stage.comment)
        if key == SEVERAL:
            return replace(stage, several=not stage.several)
        if key == "c":
            return replace(stage, comment=self._keyboard.line(words["comment"]))
        if key == "?":
            return replace(stage, help=not stage.help)
        return ACTIONS.get("u" if key == LEFT else key, replace(stage, wrong=key or " "))

    def _reason(self, stage: _Stage, verdict: Verdict, key: str) -> _Stage | Given | Action:
        if key == "q":
            return "quit"
        if key in (BACK, LEFT, "u"):
            return replace(stage, verdict=None)
        if key in (ENTER, " "):
            return Given(verdict, " ".join(stage.reasons), stage.comment)
        if key == SEVERAL:
            return replace(stage, several=not stage.several)
        if key in KEYS:  # a slip: another label
            plain = KEYS[key] == "correct" and not stage.several
            return replace(stage, verdict=None if plain else KEYS[key], reasons=())
        code = next((reason.code for reason in reasons_for(verdict) if reason.key == key), None)
        if code is None:
            return replace(stage, wrong=key or " ")
        reasons = tuple(dict.fromkeys((*stage.reasons, code)))
        return replace(stage, reasons=reasons) if stage.several else Given(verdict, code, stage.comment)

    def _draw(self, view: View, stage: _Stage) -> None:
        page = _page(view, stage, boxed=True)
        if len(self._console.render_lines(page)) >= self._console.height:
            page = _page(view, stage, boxed=False)  # the question must not scroll away
        self._console.clear()
        self._console.print(page)


class LineAsker:
    """Reads a line for each item: a digit, then perhaps a reason's key, then perhaps a comment: ``1a see the dose``."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def ask(self, view: View) -> Given | Action:
        self._console.print(Text(view.words.say("place", number=view.done + 1, total=view.total)))
        self._console.print(_item(view))
        if view.note:
            self._console.print(Text(view.note))
        while True:
            try:
                line = self._console.input(view.words["line"]).strip()
            except EOFError:
                return "quit"
            if line in ACTIONS:
                return ACTIONS[line]
            if line == "?":
                self._console.print(Text(_line_help(view.words)))
                continue
            given = _line(line)
            if isinstance(given, Given):
                return given
            self._console.print(Text(view.words["line_wrong"]))
            if given:
                self._console.print(Text(view.words.say("line_reasons", reasons=given)))

    def finished(self, view: View) -> Action:
        self._console.print(view.words["all_done"])
        return "quit"


def _line(line: str) -> Given | str:
    """Read a digit, keys of reasons and a comment; where a key is wrong return those that are right, else nothing."""
    head, _, comment = line.partition(" ")
    verdict = KEYS.get(head[:1])
    if verdict is None:
        return ""
    codes = {reason.key: reason.code for reason in reasons_for(verdict)}
    if any(key not in codes for key in head[1:]):
        return " ".join(codes)
    reasons = dict.fromkeys(codes[key] for key in head[1:])
    return Given(verdict, " ".join(reasons), comment.strip())


def _line_help(words: ScreenWords) -> str:
    """Return what the labels mean, and the keys of all reasons."""
    digits = {verdict: key for key, verdict in KEYS.items()}
    reasons = [
        f"{reason.key} {reason.said(words.language)} ({' '.join(digits[verdict] for verdict in reason.labels)})"
        for reason in load_reasons()
    ]
    return "\n".join([str(words["help"]), *reasons])


def _page(view: View, stage: _Stage, *, boxed: bool) -> Group:
    parts = [_header(view), _item(view, boxed=boxed)]
    if view.note and not stage.verdict:
        parts.append(Text(view.note, style="yellow"))
    if stage.comment:
        parts.append(Text(f"{view.words['comment']}{stage.comment}", style="italic"))
    parts.append(_reasons(stage.verdict, view.words) if stage.verdict else _keys(view.words))
    if stage.several:
        parts.append(Text(view.words.say("several", reasons=", ".join(stage.reasons) or "–"), style="yellow"))
    if stage.wrong:
        known = (
            [reason.key for reason in reasons_for(stage.verdict)]
            if stage.verdict
            else [*KEYS, SEVERAL, "c", *ACTIONS, "?"]
        )
        said = view.words.say("wrong_key", key=repr(stage.wrong), keys=" ".join(known))
        parts.append(Text(said, style="yellow"))
    if stage.help and not stage.verdict:
        parts.append(Text(view.words["help"], style="dim"))
    return Group(*parts)


def _header(view: View) -> RenderableType:
    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(no_wrap=True)
    row.add_column(ratio=1)
    row.add_column(justify="right", no_wrap=True)
    share = view.done / view.total if view.total else 1.0
    bar = ProgressBar(total=max(view.total, 1), completed=view.done)
    said = view.words.say("progress", done=view.done, total=view.total, share=f"{share:.0%}")
    row.add_row(Text(view.rater, style="bold"), bar, Text(said))
    return row


def _item(view: View, *, boxed: bool = True) -> RenderableType:
    """Return question, answer and labels: in boxes, or without where the screen is small."""
    said = [f"{mark} {printable(text)}" for turn in view.before for mark, text in zip("><", turn, strict=True) if text]
    before = [_part(view.words["before"], Text("\n".join(said), style="dim"), boxed=boxed)] if said else []
    parts = [
        *before,
        _part(view.words["asked"], Text(printable(view.question)), boxed=boxed),
        _part(view.words["shown"], Text(printable(view.answer)), boxed=boxed),
    ]
    labels = [_label(number, label, view.words, boxed=boxed) for number, label in enumerate(view.labels, 1)]
    if labels:
        parts.append(Columns(labels, equal=True) if boxed else Group(*labels))
    return Group(*parts)


def _part(title: str, text: Text, *, boxed: bool) -> RenderableType:
    if boxed:
        return Panel(text, title=title, title_align="left", border_style="dim")
    return Group(Rule(title, align="left", style="dim"), text)


def _label(number: int, label: Label, words: ScreenWords, *, boxed: bool) -> RenderableType:
    """Return a label to decide between. Who gave it is not shown, lest a name decide; what gave it is."""
    title = f"{words.say('rater', number=number)} ({words['kinds'][label.rater.kind]})"
    verdict = Text(words["verdicts"][label.label], style=f"bold {COLOURS[label.label]}")
    known = {reason.code: reason.said(words.language) for reason in load_reasons()}
    why = [line for line in (*(known.get(code, code) for code in label.reasons), printable(label.comment)) if line]
    if boxed:
        return Panel(Text("\n").join([verdict, *map(Text, why)]), title=title, title_align="left")
    return Text.assemble(f"{title}: ", verdict, *(f"; {line}" for line in why))


def _keys(words: ScreenWords) -> RenderableType:
    digits = "   ".join(
        f"[bold {COLOURS[verdict]}]{key}[/] {words['verdicts'][verdict]}" for key, verdict in KEYS.items()
    )
    others = "   ".join(f"[bold]{key}[/] {name}" for key, name in words["actions"].items())
    return Group(Text.from_markup(digits), Text.from_markup(others, style="dim"))


def _reasons(verdict: Verdict, words: ScreenWords) -> RenderableType:
    """Return the reasons in two columns: with a long answer above them they still fit 24 lines."""
    why = words.say("why", verdict=words["verdicts"][verdict])
    title = Text.assemble((why, f"bold {COLOURS[verdict]}"), "   ", (words["no_reason"], "dim"))
    grid = Table.grid(padding=(0, 2))
    cells = [Text.assemble((f"{reason.key} ", "bold"), reason.said(words.language)) for reason in reasons_for(verdict)]
    for start in range(0, len(cells), 2):
        grid.add_row(*cells[start : start + 2])
    return Group(title, grid)
