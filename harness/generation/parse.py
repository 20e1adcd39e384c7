"""Read a model's answer as a list of questions, defensively, and say what was dropped and why. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise

from bot import MAX_CHARACTERS, LanguageDetector, fold, sanitise, words
from harness.files import without_controls
from harness.patients.suites import Dropped

# Language is told apart by log-likelihood; broken language and foreign words must not count as another language.
LANGUAGE_MARGIN = 12.0
MIN_WORDS_LANGUAGE = 4
# A number before another digit is no numbering: "12:30 Uhr, geht das?"
_NUMBERING = re.compile(r"^\s*(?:[-•–—▪●]+\s*|\*\s+|\(?\d{1,3}\s*[.):](?!\d)\s*|\(?[a-jA-J][.)]\s+|#{1,6}\s+)+")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_INLINE_NUMBER = re.compile(r"(?:^|\s+)(\d{1,2})[.)]\s+(?=\S)")
_LABEL = re.compile(r"^(?:\*\*)?(?:frage|question|variante|variation|q)\s*\d*\s*:(?:\*\*)?\s*", re.IGNORECASE)
_BOLD = re.compile(r"^\*\*([^*]+)\*\*$")
_FENCED = re.compile(r"```[a-z]*\s*([\[{].*?)```", re.DOTALL)
# A patient may begin with a bracket, "[laughs] does it hurt?", but not with one of these.
_JSON_BEGINS = re.compile(r"[\[{]\s*[\"'\[{]")
_JSON_PIECE = re.compile(rf"{_JSON_BEGINS.pattern}|[\"']\w+[\"']\s*:\s*[\"'\[{{]")
_JSON_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"(?=\s*[,\]}])')
# What models with reasoning put before their answer; without an end the answer never came.
_THOUGHTS = re.compile(r"^\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
_ENDS = (".", "?", "!", "…")
_QUOTES = (
    *(('"', '"'), ("'", "'"), ("„", "“"), ("„", "”"), ("“", "”"), ("‚", "‘"), ("‘", "’")),
    *(("«", "»"), ("»", "«"), ("‹", "›"), ("›", "‹")),
)
_PREAMBLE = re.compile(
    r"^(?:hier (?:sind|finden|kommen)|natürlich|gerne?[,!:]|klar[,!]|selbstverständlich|here (?:are|is)|sure[,!]|"
    r"of course|certainly|okay[,!:]|ok[,!:]|below are|folgende|ich hoffe|i hope|let me know|lassen sie mich wissen|"
    r"diese (?:fragen|varianten)|these (?:questions|variations)|hope (?:this|these)|vielen dank|bitte schön)",
    re.IGNORECASE,
)
# An anxious patient is sorry too: "I'm sorry, I am so nervous: does it hurt?"
_REFUSAL = re.compile(
    r"\b(?:es tut mir leid, (?:aber )?ich (?:kann|darf|bin nicht)|als (?:ki|sprachmodell)|as an ai|"
    r"i(?:'|’)?m sorry,? (?:but )?i(?:(?:'|’)?m| am)? (?:can|won|must|unable|not able|do not|don))",
    re.IGNORECASE,
)
# Patients say this too, in a question: "Ich kann das nicht lesen, was steht da?"
_UNABLE = re.compile(
    r"\b(?:ich kann (?:das|dabei|ihnen) (?:leider )?nicht|leider kann ich (?:das|dabei|ihnen) nicht|"
    r"i (?:cannot|can(?:'|’)t) (?:help|assist|do))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an answer held."""

    questions: tuple[str, ...]
    dropped: tuple[Dropped, ...]


def parse_answer(
    answer: str, *, prompt_id: str, count: int, language: str, detector: LanguageDetector | None = None
) -> Parsed:
    """Return at most `count` distinct questions of an answer, unedited but for numbering, bullets and quotes."""
    lines = _lines(_clean(answer))
    numbered = sum(bool(_NUMBERING.match(line)) for line in lines)
    questions: list[str] = []
    dropped: list[Dropped] = []
    seen: set[str] = set()
    if not lines:
        dropped.append(Dropped(prompt_id, "", "empty answer"))
    for line in lines:
        text = _bare(line)
        unnumbered = numbered >= max(2, len(lines) // 2) and not _NUMBERING.match(line)
        beside = unnumbered or bool(_HEADING.match(line))
        reason = _reason(text, language, detector, beside=beside)
        if not reason and fold(text) in seen:
            reason = "duplicate"
        if not reason and len(questions) >= count:
            reason = "too many"
        if reason:
            dropped.append(Dropped(prompt_id, text, reason))
            continue
        seen.add(fold(text))
        questions.append(text)
    # Each may be too short to tell its language by; together they are not.
    if questions and detector is not None and _is_foreign(" ".join(questions), language, detector):
        dropped += [Dropped(prompt_id, text, "wrong language") for text in questions]
        questions.clear()
    return Parsed(tuple(questions), tuple(dropped))


def is_broken_json(answer: str) -> bool:
    """Tell whether an answer begins as a JSON list and is none: endpoints cut answers off and say that they ended."""
    unfenced = _unfenced(answer)
    return bool(_JSON_BEGINS.match(unfenced)) and _json_list(unfenced) is None


def split_unfinished(answer: str) -> tuple[str, str]:
    """Split an answer that broke off into what is whole and the piece that is not (may be empty)."""
    text = _clean(answer).strip()
    unfenced = _unfenced(answer)
    if unfenced.startswith(("[", "{")):
        if _json_list(unfenced) is not None:
            return answer, ""
        found = list(_JSON_TEXT.finditer(unfenced))
        rest = unfenced[found[-1].end() if found else 0 :].strip(" ,\n")
        return json.dumps([json.loads(match[0]) for match in found]) if found else "", rest
    lines = _lines(text)
    if not lines or _bare(lines[-1]).endswith(_ENDS):
        return answer, ""
    return "\n".join(lines[:-1]), lines[-1]


def _clean(answer: str) -> str:
    """Return an answer without halves of surrogate pairs and without what the model thought aloud."""
    return _THOUGHTS.sub("", answer.encode("utf-8", "ignore").decode())


def _unfenced(answer: str) -> str:
    return re.sub(r"^```[a-z]*\s*", "", _clean(answer).strip())


def _lines(answer: str) -> list[str]:
    """Split an answer into its lines; a JSON list or one line with running numbers is split as meant."""
    text = re.sub(r"^\s*```[a-z]*\s*$", "", answer, flags=re.MULTILINE).strip()
    listed = _json_list(text)
    # A list without a fence around it is read as it is: its texts may hold fences.
    if listed is None and (fenced := _FENCED.search(answer)):
        listed = _json_list(fenced[1].strip())
    if listed is not None:
        return listed
    lines = [line.strip() for line in re.split(r"\r\n|\r|\n|<br\s*/?>", text) if line.strip()]
    return _at_numbers(lines[0]) if len(lines) == 1 else lines


def _at_numbers(line: str) -> list[str]:
    """Split before 1., 2., 3. and so on; dates and other numbers do not run like this."""
    starts = list(_INLINE_NUMBER.finditer(line))
    if len(starts) < 2 or [int(start[1]) for start in starts] != list(range(1, len(starts) + 1)):
        return [line]
    cuts = [0, *(start.start() for start in starts), len(line)]
    parts = [line[begin:end].strip() for begin, end in pairwise(cuts)]
    return [part for part in parts if part]


def _json_list(text: str) -> list[str] | None:
    if not text.startswith(("[", "{")):
        return None
    try:
        data, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, dict):
        data = next((value for value in data.values() if isinstance(value, list)), list(data.values()))
    texts = [text for item in data if (text := _json_text(item))]
    # What a model says after its list is no question; "[1] Does it hurt?" is a list of one number, and not meant so.
    return texts if texts or not text[end:].strip() else None


def _json_text(item: object) -> str:
    """Return a list item, or the first text inside it: {"id": 1, "question": "Tut das weh?"}."""
    if isinstance(item, dict):
        item = next((value for value in item.values() if isinstance(value, str)), "")
    return item if isinstance(item, str) else ""


def _bare(line: str) -> str:
    text = _BOLD.sub(r"\1", _NUMBERING.sub("", without_controls(line)).strip())
    text = _LABEL.sub("", _NUMBERING.sub("", text).strip())
    text = _BOLD.sub(r"\1", text.strip())
    text = re.sub(r"(?<=[\"'“”»’])\s*,$", "", text)  # a list that was nearly JSON
    for opening, closing in _QUOTES:
        inside = text[1:-1]
        if len(text) > 2 and text.startswith(opening) and text.endswith(closing) and opening not in inside:
            text = inside.strip()
            break
    return " ".join(text.split())


def _reason(text: str, language: str, detector: LanguageDetector | None, *, beside: bool) -> str:
    """Say why a text is no question; `beside` tells that it stands outside the model's list."""
    asks = text.endswith("?")
    if _REFUSAL.search(text) or (_UNABLE.search(text) and not asks):
        return "refusal"
    if not words(text):
        return "no words"
    if _JSON_PIECE.match(text):
        return "unreadable"
    if text.endswith(":") or (_PREAMBLE.match(text) and (beside or not asks)) or (beside and not asks):
        return "preamble"
    if len(text) > MAX_CHARACTERS or sanitise(text).too_long:
        return "too long"
    if detector is not None and _is_foreign(text, language, detector):
        return "wrong language"
    return ""


def _is_foreign(text: str, language: str, detector: LanguageDetector) -> bool:
    enough = len(words(text)) >= MIN_WORDS_LANGUAGE
    return enough and detector.detect(text, fallback=language, margin=LANGUAGE_MARGIN) != language
