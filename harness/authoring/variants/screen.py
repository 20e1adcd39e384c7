"""A curator decides on drafted texts one by one: single keys in a terminal, one line each from a pipe."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from string import Template

from rich.console import Console

from bot import Catalog, data_folder
from harness.authoring.variants.queue import Decision, Queue, Queued, Verdict
from harness.console import printable
from harness.files import Record, load_yaml
from harness.labelling.screen import LEFT, Keyboard, open_keyboard

MOST_OFFERED = 9  # pairs that one key moves a text to


class ReviewWords(Record):
    """What the screen says in one language; slots as in `string.Template`."""

    progress: str
    meant: str
    verdicts: dict[Verdict, str]
    also: str
    keys: str
    which: str
    strange: str
    wrong_key: str
    nothing: str
    back: str
    alarm: str
    alarming: str
    sampled: str
    unsampled: str
    untrained: str
    gone: str
    stays: str
    copied: str
    places: dict[str, str]
    together: str
    before: str
    stopped: str
    sheet: str
    columns: tuple[str, ...]
    unanswered: str
    decisions: str
    acts: dict[str, str]
    none: str
    next: str

    def say(self, name: str, **slots: object) -> str:
        """Return a sentence with its slots filled."""
        return Template(getattr(self, name)).substitute(slots)


@cache
def review_words(language: str) -> ReviewWords:
    """Return what the screen says: in English where nobody wrote another language."""
    texts = load_yaml(data_folder("vignettes") / "authoring" / "review.yaml")
    return ReviewWords.model_validate(texts.get(language, texts["en"]))


def decide_one_by_one(queue: Queue, texts: Sequence[Queued], catalog: Catalog, console: Console) -> Queue:
    """Ask about texts until all are decided or the curator ends; every decision is kept before the next text."""
    words = review_words(catalog.language)
    todo, done, note = list(texts), list[Queued](), ""
    put_off = list[Queued]()  # since the last decision; they stand at the end
    with open_keyboard() as keyboard:
        if not todo:
            console.print(words.nothing)
            queue, todo = _taken_back(queue, keyboard, words, console)
        while len(todo) > len(put_off):
            text = todo[0]
            offered = [id_ for id_ in text.answered_by if id_ != text.pair][:MOST_OFFERED]
            if keyboard is not None:
                console.clear()
            _draw(text, offered, queue.alarming.get(text.id, ""), catalog, console)
            console.print(words.say("progress", done=len(done), total=len(done) + len(todo)), style="dim")
            if note:
                console.print(note, style="yellow")
            try:
                key, named = _asked(keyboard, words)
            except EOFError:
                break
            note = ""
            decision = _decision(text, key, named if key == "m" else _offer(offered, key))
            if key == "q":
                break
            if key == "s":
                put_off.append(todo.pop(0))
                todo.append(put_off[-1])
            elif key == "u" and put_off:
                put_off.pop()
                todo.insert(0, todo.pop())
            elif key == "u" and (last := queue.latest) is not None:  # also of an earlier sitting
                queue = queue.decide([Decision(id=last.id, act="wait")])
                todo.insert(0, last)
                done = done[:-1]
            elif decision is None or (decision.act == "move" and decision.pair not in catalog.by_id):
                note = words.say("strange", pair=repr(named)) if key == "m" else words.wrong_key
            else:
                queue = queue.decide([decision])
                done.append(todo.pop(0))
                put_off.clear()
    return queue


def _taken_back(
    queue: Queue, keyboard: Keyboard | None, words: ReviewWords, console: Console
) -> tuple[Queue, list[Queued]]:
    """Offer to take the last decision back where nothing waits; return the text of it."""
    while (last := queue.latest) is not None:
        console.print(words.back)
        try:
            key, _ = _asked(keyboard, words)
        except EOFError:
            break
        if key == "u":
            return queue.decide([Decision(id=last.id, act="wait")]), [last]
        if key == "q":
            break
        console.print(words.wrong_key)
    return queue, []


def _offer(offered: Sequence[str], key: str) -> str:
    """Return the pair that a digit stands for; empty for another key."""
    return offered[int(key) - 1] if key in "123456789"[: len(offered)] and key else ""


def _decision(text: Queued, key: str, pair: str) -> Decision | None:
    """Return what a key decides; `pair` is where the text is moved to."""
    if key == "a":
        return Decision(id=text.id, act="accept")
    if key == "d":
        return Decision(id=text.id, act="drop")
    if (key == "m" or key.isdecimal()) and pair:
        return Decision(id=text.id, act="move", pair=pair)
    return None


def _asked(keyboard: Keyboard | None, words: ReviewWords) -> tuple[str, str]:
    """Return the key that was pressed, and the pair's id behind `m`; raise EOFError at the end of input."""
    if keyboard is None:
        key, _, named = input().strip().partition(" ")
        # A whole word is no key: "ablehnen" does not begin to accept.
        exact = len(key) == 1 and (not named.strip() or key.lower() == "m")
        return (key.lower() if exact else ""), named.strip()
    key = keyboard.key()
    key = "u" if key == LEFT else key
    with suppress(KeyboardInterrupt):
        return key, keyboard.line(words.which) if key == "m" else ""
    return "", ""


def _draw(text: Queued, offered: Sequence[str], alarm: str, catalog: Catalog, console: Console) -> None:
    words = review_words(catalog.language)
    pair = catalog.by_id.get(text.pair)
    console.print()
    console.print(printable(text.text), style="bold")
    console.print()
    question = printable(pair.question) if pair is not None else ""
    console.print(words.say("meant", pair=text.pair, question=question))
    console.print(f"{text.source} {text.voice} {text.facet or ''} {text.patient}".strip(), style="dim")
    if alarm:
        console.print(words.say("alarm", sign=printable(alarm)), style="red")
    console.print(words.verdicts[text.verdict])
    if text.verdict == "agreed" and offered:
        console.print(words.also)
    for number, id_ in enumerate(offered, 1):
        other = catalog.by_id.get(id_)
        console.print(f"  {number}  {id_} – {printable(other.question) if other else ''}")
    console.print(words.keys)
