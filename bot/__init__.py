"""The assistant: answers patients only with text that clinicians wrote and approved.

This is the public API; `Assistant` is the one door to the assistant. The harness imports from here and nowhere else.
"""

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
from bot.resources import data_folder
from bot.response import Method, Response
from bot.settings import Settings, usable_cores

__all__ = [
    "MAX_CHARACTERS",
    "Assistant",
    "BadData",
    "Catalog",
    "Encoder",
    "Explanation",
    "KlartextError",
    "LanguageDetector",
    "Method",
    "MissingExtra",
    "NearCopies",
    "NearCopy",
    "Pair",
    "Part",
    "Response",
    "Settings",
    "Unreachable",
    "UserFixable",
    "data_folder",
    "fold",
    "friendly_errors",
    "load_catalog",
    "locate",
    "read_question_set",
    "run_chat",
    "sanitise",
    "usable_cores",
    "words",
]
