"""The assistant: answers patients only with text that clinicians wrote and approved.

This is the public API; `Assistant` is the one door to the assistant. The harness imports from here and nowhere else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.assistant import Assistant
from bot.catalog import Catalog, Pair, load_catalog, locate
from bot.chat import run_chat
from bot.curation.importing import read_question_set
from bot.errors import BadData, KlartextError, MissingExtra, Unreachable, UserFixable, friendly_errors
from bot.explain import Explanation
from bot.matching.language import LanguageDetector
from bot.matching.near_copies import NearCopies, NearCopy
from bot.matching.text import MAX_CHARACTERS, fold, sanitise, words
from bot.matching.train import Part
from bot.ports import Encoder
from bot.readability import measure, syllables
from bot.resources import data_folder
from bot.response import Method, Response
from bot.settings import Settings, usable_cores

if TYPE_CHECKING:
    from bot.fhir_files import shipped_terminology
    from bot.interview.answer import Answer
    from bot.interview.assemble import Heading
    from bot.interview.check_response import check_response
    from bot.interview.definition import load_form
    from bot.interview.engine import AskItem, Done, Engine, Show
    from bot.interview.filling import Given, NoMore, Shown, Skipped
    from bot.interview.indexed import index_questionnaire
    from bot.wiring import make_encoder

# The interview takes a fifth of a second to import, and most commands do without it.
_LATE = {
    "Answer": "bot.interview.answer",
    "AskItem": "bot.interview.engine",
    "Done": "bot.interview.engine",
    "Engine": "bot.interview.engine",
    "Heading": "bot.interview.assemble",
    "Given": "bot.interview.filling",
    "NoMore": "bot.interview.filling",
    "Show": "bot.interview.engine",
    "Shown": "bot.interview.filling",
    "Skipped": "bot.interview.filling",
    "check_response": "bot.interview.check_response",
    "index_questionnaire": "bot.interview.indexed",
    "load_form": "bot.interview.definition",
    "make_encoder": "bot.wiring",
    "shipped_terminology": "bot.fhir_files",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'bot' has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


__all__ = [
    "MAX_CHARACTERS",
    "Answer",
    "AskItem",
    "Assistant",
    "BadData",
    "Catalog",
    "Done",
    "Encoder",
    "Engine",
    "Explanation",
    "Given",
    "Heading",
    "KlartextError",
    "LanguageDetector",
    "Method",
    "MissingExtra",
    "NearCopies",
    "NearCopy",
    "NoMore",
    "Pair",
    "Part",
    "Response",
    "Settings",
    "Show",
    "Shown",
    "Skipped",
    "Unreachable",
    "UserFixable",
    "check_response",
    "data_folder",
    "fold",
    "friendly_errors",
    "index_questionnaire",
    "load_catalog",
    "load_form",
    "locate",
    "make_encoder",
    "measure",
    "read_question_set",
    "run_chat",
    "sanitise",
    "shipped_terminology",
    "syllables",
    "usable_cores",
    "words",
]
