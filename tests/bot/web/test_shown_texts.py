"""Who may make a text that patients see: the guard's module from approved text, and fixed sentences. Nobody else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

BOT = Path(__file__).parents[3] / "bot"
WEB = sorted((BOT / "web").rglob("*.py"))
ALL = sorted(path for path in BOT.rglob("*.py") if "_data" not in path.parts)
PARTS = {"Content", "SiteText", "OtherExam", "Interface", "FormText", "Entry"}
# Makes parts from what is approved; reads them back from storage. The guard checks them all.
MAKERS = {"sentences/reply.py", "talk/stored_reply.py"}
SHOWN = {"PartView", "ChoiceView", "Bubble", "ChannelReply", "Button"}
# What a request may bring in. Nothing of it may get into a text that goes out.
PATIENTS = {"said", "message", "comment", "question", "body", "sender", "text"}


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_only_the_module_of_the_guard_makes_parts_of_replies() -> None:
    made = {str(path.relative_to(BOT)): _made(path) for path in ALL}

    assert {name for name, parts in made.items() if parts & _imported(BOT / name)} - MAKERS == set()
    assert made["sentences/reply.py"] >= {"Content", "Interface", "FormText"}


def _made(path: Path) -> set[str]:
    return {_name(call) for call in _calls(_tree(path))} & PARTS


def _imported(path: Path) -> set[str]:
    return {
        alias.name
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.ImportFrom) and node.module == "bot.sentences.reply"
        for alias in node.names
    }


@pytest.mark.parametrize("path", WEB, ids=lambda path: str(path.relative_to(BOT)))
def test_what_the_web_shows_of_a_reply_is_the_text_of_a_part_as_it_is(path: Path) -> None:
    for call in (call for call in _calls(_tree(path)) if _name(call) in SHOWN and call.keywords):
        if path.name == "offers.py":  # buttons of the page: texts of parts, and labels
            label = ast.unparse(call.args[0])
            assert label in {"part.text", "part.label.text", "text"} or label.startswith("labels["), label
            continue
        if _name(call) == "ChannelReply":  # a bubble with the name of whom it is for
            assert {word.arg or ast.unparse(word.value) for word in call.keywords} == {"recipient_id", "dict(each)"}
            continue
        texts = [word.value for word in call.keywords if word.arg in {"text", "title", "payload"}]
        assert texts
        for value in texts:
            assert isinstance(value, ast.Attribute), ast.unparse(call)
            # A line is what a member of staff wrote, under their name: a bubble of its own, and no part of a reply.
            assert (value.attr, ast.unparse(value.value)) in {("text", "part"), ("text", "choice"), ("whole", "line")}


@pytest.mark.parametrize("path", WEB, ids=lambda path: str(path.relative_to(BOT)))
def test_no_sentence_of_the_web_is_made_of_what_was_sent(path: Path) -> None:
    """Sentences of errors are fixed; what is formatted into one comes from our own lists."""
    for call in (call for call in _calls(_tree(path)) if _name(call) in {"Problem", "respond"}):
        for node in ast.walk(call):
            if isinstance(node, ast.JoinedStr | ast.BinOp):
                used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                used |= {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
                assert not used & PATIENTS, ast.unparse(call)


def test_every_way_to_a_stored_or_new_reply_passes_the_guard() -> None:
    """`Taken` pairs a turn with what the patient gets: each is made of a reply that came out of the guard."""
    made = []
    for path in ALL:
        for call in (call for call in _calls(_tree(path)) if _name(call) == "Taken"):
            made.append((path.name, ast.unparse(call.args[1])))

    assert made
    conversation = (BOT / "talk" / "conversation.py").read_text(encoding="utf-8")
    reception = (BOT / "talk" / "reception.py").read_text(encoding="utf-8")
    assert "        shown = _shown_again(turn, assistant, form)" in reception
    assert "        return _shown_again(turn, other.assistant, form)" in reception
    assert "        return guard(reply, catalog, shown=shown, heard=heard, house=assistant.house)" in reception
    assert "reply = self._guarded(self._with_decision(reaction.reply, decided, at))" in conversation
    assert {source for source, _ in made} == {"conversation.py", "reception.py"}
    assert all(
        reply == "reply" if source == "conversation.py" else reply.startswith("self._shown_again(")
        for source, reply in made
    )
