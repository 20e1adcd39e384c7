"""The assistant: answers patients only with text that clinicians wrote and approved.

This is the front door; `Assistant` is the one way to ask. Whoever builds on the interview alone enters by its rooms:
`bot.interview` says which names are for others.
"""

from bot.assistant import Assistant
from bot.catalog.amounts import amounts, plain_thousands, without_labels
from bot.catalog.catalog import Catalog, Pair, load_catalog, locate, pair_hash
from bot.catalog.exchange.question_set import read_question_set
from bot.catalog.quiz import Quiz
from bot.catalog.readability import measure, syllables
from bot.catalog.turning import turned_round
from bot.errors import BadData, KlartextError, MissingExtra, Unreachable, UserFixable, friendly_errors, is_installed
from bot.matching.explain import Explanation
from bot.matching.fit_head import Part
from bot.matching.red_flags import plain_letters
from bot.ports import Encoder
from bot.private_files import make_private_database
from bot.resources import data_folder, usable_cores
from bot.response import Method, Response
from bot.sentences.telephones import strange_telephones
from bot.settings import Settings
from bot.text import (
    MAX_CHARACTERS,
    LanguageDetector,
    NearCopies,
    NearCopy,
    decoded,
    fold,
    plain_text,
    sanitise,
    seen,
    words,
)
from bot.text import sentences as split_sentences
from bot.wiring import make_encoder, make_summaries

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
    "Quiz",
    "Response",
    "Settings",
    "Unreachable",
    "UserFixable",
    "amounts",
    "data_folder",
    "decoded",
    "fold",
    "friendly_errors",
    "is_installed",
    "load_catalog",
    "locate",
    "make_encoder",
    "make_private_database",
    "make_summaries",
    "measure",
    "pair_hash",
    "plain_letters",
    "plain_text",
    "plain_thousands",
    "read_question_set",
    "sanitise",
    "seen",
    "split_sentences",
    "strange_telephones",
    "syllables",
    "turned_round",
    "usable_cores",
    "without_labels",
    "words",
]
