"""Read a model's answer as a list of questions, defensively, and say what was dropped and why. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from bot import MAX_CHARACTERS, LanguageDetector, fold, sanitise, words

# Language is told apart by log-likelihood; broken language and foreign words must not count as another language.
LANGUAGE_MARGIN = 8.0
MIN_WORDS_LANGUAGE = 4

_NUMBERING = re.compile(r"^\s*(?:[-*•–—▪●]+\s+|\(?\d{1,3}\s*[.):]\s*|\(?[a-jA-J][.)]\s+|#{1,6}\s+)+")
_INLINE_NUMBER = re.compile(r"\s+(?=\d{1,2}[.)]\s+\S)")
_LABEL = re.compile(r"^(?:frage|question|variante|variation)\s*\d*\s*:\s*", re.IGNORECASE)
_QUOTES = (('"', '"'), ("„", "“"), ("„", "”"), ("“", "”"), ("«", "»"), ("»", "«"), ("‚", "‘"), ("‘", "’"), ("'", "'"))
_PREAMBLE = re.compile(
    r"^(?:hier (?:sind|finden|kommen)|natürlich|gerne?[,!:]|klar[,!]|selbstverständlich|here (?:are|is)|sure[,!]|"
    r"of course|certainly|okay[,!:]|ok[,!:]|below are|folgende|ich hoffe|i hope|let me know|lassen sie mich wissen|"
    r"diese (?:fragen|varianten)|these (?:questions|variations))",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"(?:^|\b)(?:es tut mir leid, (?:aber )?ich|ich kann (?:das|dabei|ihnen) (?:leider )?nicht|als (?:ki|sprachmodell)|"
    r"i(?:'|’)?m sorry,? (?:but )?i|i (?:cannot|can(?:'|’)t) (?:help|assist|do)|as an ai)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line that did not become a question.

    Attributes:
        prompt_id: The prompt it answered.
        text: The line.
        reason: empty answer, refusal, preamble, duplicate, too many, wrong language, too long, or no words.
    """

    prompt_id: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an answer held."""

    questions: tuple[str, ...]
    dropped: tuple[Dropped, ...]


def parse_answer(
    answer: str, *, prompt_id: str, count: int, language: str, detector: LanguageDetector | None = None
) -> Parsed:
    """Return at most `count` distinct questions of an answer, unedited but for numbering, bullets and quotes."""
    lines = _lines(answer)
    numbered = sum(bool(_NUMBERING.match(line)) for line in lines)
    questions: list[str] = []
    dropped: list[Dropped] = []
    seen: set[str] = set()
    if not lines:
        dropped.append(Dropped(prompt_id, "", "empty answer"))
    for line in lines:
        text = _bare(line)
        unnumbered = numbered >= max(2, len(lines) // 2) and not _NUMBERING.match(line)
        reason = _reason(text, language, detector, unnumbered=unnumbered)
        if not reason and fold(text) in seen:
            reason = "duplicate"
        if not reason and len(questions) >= count:
            reason = "too many"
        if reason:
            dropped.append(Dropped(prompt_id, text, reason))
            continue
        seen.add(fold(text))
        questions.append(text)
    return Parsed(tuple(questions), tuple(dropped))


def _lines(answer: str) -> list[str]:
    """Split an answer into its lines; a JSON list or one line with running numbers is split as meant."""
    text = re.sub(r"^\s*```[a-z]*\s*$", "", answer, flags=re.MULTILINE).strip()
    listed = _json_list(text)
    if listed is not None:
        return listed
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n|<br\s*/?>", text) if line.strip()]
    if len(lines) == 1 and len(_INLINE_NUMBER.split(lines[0])) > 2:
        return [part.strip() for part in _INLINE_NUMBER.split(lines[0])]
    return lines


def _json_list(text: str) -> list[str] | None:
    if not text.startswith(("[", "{")):
        return None
    try:
        data = json.loads(text)
    except ValueError:
        return None
    if isinstance(data, dict):
        data = next((value for value in data.values() if isinstance(value, list)), None)
    if not isinstance(data, list):
        return None
    return [item if isinstance(item, str) else str(next(iter(item.values()), "")) for item in data if item]


def _bare(line: str) -> str:
    text = _LABEL.sub("", _NUMBERING.sub("", line).strip())
    text = re.sub(r"^\*\*(.+)\*\*$", r"\1", text.strip())
    for opening, closing in _QUOTES:
        inside = text[1:-1]
        if len(text) > 2 and text.startswith(opening) and text.endswith(closing) and opening not in inside:
            text = inside.strip()
            break
    return " ".join(text.split())


def _reason(text: str, language: str, detector: LanguageDetector | None, *, unnumbered: bool) -> str:
    if _REFUSAL.search(text):
        return "refusal"
    talks_about_list = _PREAMBLE.match(text) and not text.endswith("?")
    if text.endswith(":") or talks_about_list or (unnumbered and not text.endswith("?")):
        return "preamble"
    if not words(text):
        return "no words"
    if len(text) > MAX_CHARACTERS or sanitise(text).too_long:
        return "too long"
    if detector is not None and len(words(text)) >= MIN_WORDS_LANGUAGE:
        found = detector.detect(text, fallback=language, margin=LANGUAGE_MARGIN)
        if found != language:
            return "wrong language"
    return ""
