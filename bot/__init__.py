"""The assistant: answers patients only with text that clinicians wrote and approved.

This is the public API; `Assistant` is the one door to the assistant. The harness imports from here and nowhere else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bot.assistant import Assistant, Method, Response
from bot.catalog.catalog import Catalog, Pair, load_catalog, locate
from bot.catalog.importing import read_question_set
from bot.catalog.readability import measure, syllables
from bot.commands.chat import run_chat
from bot.errors import BadData, KlartextError, MissingExtra, Unreachable, UserFixable, friendly_errors
from bot.matching.explain import Explanation
from bot.matching.fit_head import Part
from bot.ports import Encoder
from bot.resources import data_folder
from bot.settings import Settings, usable_cores
from bot.text import MAX_CHARACTERS, LanguageDetector, NearCopies, NearCopy, fold, sanitise, words

if TYPE_CHECKING:
    from bot.catalog.fhir_files import shipped_terminology
    from bot.interview.form.indexed import index_questionnaire
    from bot.interview.load import load_form
    from bot.interview.validate.response import check_response
    from bot.interview.values.answer import Answer
    from bot.interview.walk.assemble import Heading
    from bot.interview.walk.engine import AskItem, Done, Engine, Show
    from bot.interview.walk.filling import Given, NoMore, Shown, Skipped
    from bot.wiring import make_encoder


# The interview takes a fifth of a second to import, and most commands do without it.
_LATE = {
    "Answer": "bot.interview.values.answer",
    "AskItem": "bot.interview.walk.engine",
    "Done": "bot.interview.walk.engine",
    "Engine": "bot.interview.walk.engine",
    "Heading": "bot.interview.walk.assemble",
    "Given": "bot.interview.walk.filling",
    "NoMore": "bot.interview.walk.filling",
    "Show": "bot.interview.walk.engine",
    "Shown": "bot.interview.walk.filling",
    "Skipped": "bot.interview.walk.filling",
    "check_response": "bot.interview.validate.response",
    "index_questionnaire": "bot.interview.form.indexed",
    "load_form": "bot.interview.load",
    "make_encoder": "bot.wiring",
    "shipped_terminology": "bot.catalog.fhir_files",
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
