"""What the rules make of one message, and what is said to those that ask nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.sentences.reply import Reply, interface
from bot.talk.dialogue import State, calming
from bot.talk.messages import Kind
from bot.talk.withholding import Decided

# A yes that stays one beside thanks, folded.
YES = frozenset({"ja", "jo", "joa", "gern", "gerne", "yes", "yeah", "yep", "sure", "please", "bitte"})
# What is said to reactions that ask nothing.
REPLIES: Mapping[Kind, str] = {
    "farewell": "goodbye",
    "thanks": "thanks",
    "refusal": "refusal",
    "announcement": "all_right",
    "waiting": "take_your_time",
    "hesitation": "take_your_time",
    "relief": "all_right",
    "agreement": "all_right",
}


@dataclass(frozen=True, slots=True)
class Reaction:
    """What the rules make of a message.

    Attributes:
        reply: What to show.
        after: The state of the dialogue after it.
        decided: The decision, if the message was a question or a pick.
        flags: Whether the patient complains about the last answer.
        calls_staff: Whether the patient asks for a person.
    """

    reply: Reply
    after: State
    decided: Decided | None = None
    flags: bool = False
    calls_staff: bool = False


def fixed(state: State, *keys: str) -> Reaction:
    """Return the fixed sentences of these keys."""
    return Reaction(Reply(state.language, tuple(interface(state.language, key) for key in keys)), state)


def calmed(state: State, reaction: Reaction) -> Reaction:
    """Return a reaction that begins with it, as short as it may be before an answer."""
    keys, language = [key for key in calming(state) if key != "calmed"], reaction.reply.language
    calm = Reply(language, tuple(interface(language, key) for key in keys))
    return replace(reaction, reply=joined(calm, reaction.reply))


def joined(reply: Reply, question: Reply) -> Reply:
    """Return a reply that ends with a question."""
    return Reply(question.language, (*reply.parts, *question.parts), question.choices)
