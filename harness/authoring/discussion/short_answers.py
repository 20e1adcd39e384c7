"""Short answers: five votes, a discussion about them, five votes more; advice on disputed labels, and open questions.

Nair et al. (2023), section 5 and appendix A.4: the decider starts from the distribution of the votes instead of one
answer, the researcher points at passages and must not name an answer, and the answer with most votes in the end counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template, ascii_uppercase

from bot import fold
from harness.authoring.discussion.dialogue import Discussion, Ended, Turn, as_dialogue
from harness.authoring.discussion.texts import DiscussionTexts, cleaned, stops, without_stop
from harness.authoring.working import Ask, Unusable, Work, ask, ask_all, together

VOTES = 5
EXCHANGES = 3  # of researcher and decider, at most
LONGEST = 200  # characters of a short answer
_LABEL = re.compile(r"^\W*(?:antwort|answer|bewertung|verdict)\W*:\s*", re.IGNORECASE)
_DECIDED = re.compile(r"Answer\s*:\s*(?P<answer>.+?)\s*(?:\n|$)", re.IGNORECASE)
_RESPONSE = re.compile(r"Response\s*:\s*(?P<response>.+)", re.IGNORECASE | re.DOTALL)
_NUMBER = re.compile(r"(?<![\d.,])-?\d+(?:[.,]\d+)?(?![\d.,]*\d)")
_TRUE_OR_FALSE = re.compile(r"\b(true|false|wahr|falsch)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;]+(?=\s|$)|\n+")
# Beside a word that may be voted for, these turn it into its opposite, or leave open which is meant.
_NEGATION = re.compile(
    r"\b(?:not?|non|nor|neither|never|hardly|cannot|nicht|kein\w{0,2}|keinesfalls|keineswegs|nie|niemals|weder"
    r"|kaum)\b|n['’]t\b|\b(?:anything but|far from|alles andere als)\b|\b(?:in|un|non)[-‐‑–]\w",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ShortCase:
    """Something that has a short answer.

    Attributes:
        id: Unique in a work.
        case: What is to be judged, as the model sees it.
        asks: The question.
        options: What may be answered; empty: anything short.
    """

    id: str
    case: str
    asks: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Votes:
    """Answers to the very same prompt, in the order in which they were asked for; unusable ones are left out."""

    given: tuple[str, ...]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """Return each answer with its votes, most first; among equals the one that came first."""
        first: dict[str, str] = {}
        for answer in self.given:
            first.setdefault(fold(answer), answer)
        tally = Counter(fold(answer) for answer in self.given)
        return [(first[key], count) for key, count in tally.most_common()]

    @property
    def winner(self) -> str | None:
        """The answer with most votes, the first among equals (as the paper counts); None without any."""
        return self.counts[0][0] if self.given else None

    @property
    def tied(self) -> tuple[str, ...]:
        """The answers that share the most votes, where these are several."""
        most = [answer for answer, count in self.counts if count == self.counts[0][1]]
        return tuple(most) if len(most) > 1 else ()

    def as_text(self) -> str:
        return ", ".join(f"{answer}: {count / len(self.given):.0%}" for answer, count in self.counts)


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """What became of a case: the votes before (the paper's one-shot baseline), the discussion, the votes after."""

    case: ShortCase
    before: Votes
    discussion: Discussion
    after: Votes

    @property
    def advice(self) -> str | None:
        """What the votes after the discussion advise; None without any, and where both votes are tied."""
        return None if self.before.tied and self.after.tied else self.after.winner

    @property
    def advised(self) -> str:
        """What is advised, for people: with a word where it is only the first of several with as many votes."""
        if not self.after.tied:
            return self.advice or "none"
        tie = f"tie, {' and '.join(self.after.tied)}"
        return f"none ({tie}, and before)" if self.advice is None else f"{tie}: the first of them, {self.advice}"


def short_answer(texts: DiscussionTexts, case: ShortCase) -> Work[ShortAnswer]:
    """Vote, discuss, and vote again."""
    slots = {"case": case.case, "asks": case.asks}
    name = f"{case.id}/"
    before = yield from _vote(f"{name}vote", _messages(texts.short.answer, slots), case.options)
    if not before.given:
        return ShortAnswer(case, before, Discussion((), "unusable"), before)
    explain = _messages(texts.short.explain, {**slots, "votes": before.as_text()})
    opening = yield from ask(Ask(f"{name}opening", explain, _message))
    said = [Turn("decider", opening)] if opening else []
    ended = yield from _discuss(texts, case, slots, said)
    discussion = Discussion(tuple(said), ended)
    final = {**slots, "discussion": as_dialogue(said, texts.speakers) or texts.nothing}
    after = yield from _vote(f"{name}final", _messages(texts.short.final, final), case.options)
    return ShortAnswer(case, before, discussion, after)


def _discuss(texts: DiscussionTexts, case: ShortCase, slots: Mapping[str, str], said: list[Turn]) -> Work[Ended]:
    """Let both speak until the researcher stops, at most so many exchanges; what was said is added to `said`."""
    for number in range(1, EXCHANGES + 1):
        so_far = {**slots, "discussion": as_dialogue(said, texts.speakers) or texts.nothing}
        hint = yield from ask(Ask(f"{case.id}/{number}/researcher", _messages(texts.short.researcher, so_far), _hint))
        if hint is None:
            return "unusable"
        if not hint:
            return "stop"
        said.append(Turn("researcher", hint))
        so_far["discussion"] = as_dialogue(said, texts.speakers)
        thought = yield from ask(Ask(f"{case.id}/{number}/decider", _messages(texts.short.decider, so_far), _thought))
        if thought is None:
            return "unusable"
        said.append(Turn("decider", thought))
    return "turns"


def _vote(name: str, messages: list[dict[str, str]], options: Sequence[str]) -> Work[Votes]:
    """Ask the same thing several times at once."""
    reading = _one_of(options) if options else _short
    asks = [Ask(f"{name}/{number}", messages, reading) for number in range(1, VOTES + 1)]
    given = yield from ask_all(asks)
    return Votes(tuple(answer for answer in given if answer is not None))


def _messages(template: str, slots: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"role": "user", "content": Template(template).substitute(slots).strip()}]


def _message(answer: str) -> str:
    text = cleaned(answer).strip()
    if not text:
        raise Unusable("it is empty")
    return text


def _hint(answer: str) -> str:
    """Read what the researcher points at; empty: they have nothing to add."""
    return "" if stops(answer) else _message(answer)


def _thought(answer: str) -> str:
    """Read the decider's answer and response; an answer must be there."""
    text = cleaned(answer)
    decided, response = _DECIDED.search(text), _RESPONSE.search(text)
    if decided is None:
        raise Unusable("it holds no Answer")
    said = without_stop(response["response"]).strip() if response else ""
    return f"{said} (Answer: {decided['answer'].strip()})".strip()


def _short(answer: str) -> str:
    """Read a short answer: the first line that says something."""
    lines = (_LABEL.sub("", line).strip().strip("\"'“”„*") for line in cleaned(answer).splitlines())
    text = next((line for line in lines if fold(line)), "")
    if not text:
        raise Unusable("it is empty")
    if len(text) > LONGEST:
        raise Unusable(f"it has {len(text)} characters, and a short answer has at most {LONGEST}")
    return text


def _one_of(options: Sequence[str]) -> Callable[[str], str]:
    """Return a reader that takes an answer with exactly one of the options in it, as a word and not negated."""

    def read(answer: str) -> str:
        text = cleaned(answer)
        words = set(fold(text).split())
        named = [option for option in options if fold(option) in words]
        if len(named) != 1:
            raise Unusable(f"it names {'none' if not named else 'several'} of {', '.join(options)}")
        if any(_NEGATION.search(part) for part in _SENTENCE_END.split(text) if fold(named[0]) in fold(part).split()):
            raise Unusable("it says what the answer is not")
        return named[0]

    return read


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one rater said, without their name."""

    verdict: str
    reasons: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A question and the answer shown, on which raters differ."""

    id: str
    question: str
    shown: str
    opinions: tuple[Opinion, ...]


def advise(
    texts: DiscussionTexts, disputes: Sequence[Dispute], *, verdicts: tuple[str, ...]
) -> Work[list[ShortAnswer]]:
    """Discuss what raters differ on, all side by side. Advice only: a person who rated neither way decides."""
    return (yield from together([short_answer(texts, _as_case(texts, one, verdicts)) for one in disputes]))


# A, B, … Z, AA, AB, …: one for each rater.
_LETTERS = (*ascii_uppercase, *(first + second for first in ascii_uppercase for second in ascii_uppercase))


def _as_case(texts: DiscussionTexts, dispute: Dispute, verdicts: tuple[str, ...]) -> ShortCase:
    said = texts.dispute
    labels = "\n".join(
        Template(said.label).substitute(
            who=f"{said.who} {letter}",
            verdict=opinion.verdict,
            reason=f" ({', '.join(opinion.reasons)})" if opinion.reasons else "",
            comment=f": {opinion.comment}" if opinion.comment else "",
        )
        for letter, opinion in zip(_LETTERS, dispute.opinions, strict=False)
    )
    case = Template(said.case).substitute(question=dispute.question, shown=dispute.shown, labels=labels)
    return ShortCase(dispute.id, case.strip(), said.asks, verdicts)


@dataclass(frozen=True, slots=True)
class Compared:
    """A short answer beside the expected one.

    Attributes:
        answer: Votes and discussion.
        expected: The right answer.
        exact: Whether a model says that they are the same, for the answer before and after; None: not read.
        similar: How like a model says they are, 0 to 1, for the answer before and after; None: not read.

    Where all votes were unusable there is no answer: it is not exact, and like nothing.
    """

    answer: ShortAnswer
    expected: str
    exact: tuple[bool | None, bool | None]
    similar: tuple[float | None, float | None]


def open_answer(texts: DiscussionTexts, case: ShortCase, expected: str) -> Work[Compared]:
    """Answer an open question before and after a discussion, and compare both answers with the expected one."""
    answer = yield from short_answer(texts, case)
    votes = {"before": answer.before.winner, "after": answer.after.winner}
    given = {when: one for when, one in votes.items() if one is not None}
    scores: Sequence[float] | None = None
    if given:
        pairs = "\n".join(f"{expected} | {one}" for one in given.values())
        similar = Ask(f"{case.id}/similar", _messages(texts.short.similar, {"pairs": pairs}), _similarities(len(given)))
        scores = yield from ask(similar)
    said = yield from ask_all(
        [
            Ask(
                f"{case.id}/exact/{when}",
                _messages(texts.short.exact, {"question": case.case, "expected": expected, "given": one}),
                _yes_or_no,
            )
            for when, one in given.items()
        ]
    )
    exact = dict(zip(given, said, strict=True))
    alike: dict[str, float | None] = dict(zip(given, scores, strict=True)) if scores else dict.fromkeys(given)
    return Compared(
        answer,
        expected,
        (exact.get("before", False), exact.get("after", False)),
        (alike.get("before", 0.0), alike.get("after", 0.0)),
    )


def _similarities(wanted: int) -> Callable[[str], list[float]]:
    """Return a reader of similarities at the ends of lines with bars; beyond 1 is 0, unless all are 100 (prompt 19)."""

    def read(answer: str) -> list[float]:
        ends = [line.rpartition("|")[2] for line in cleaned(answer).splitlines() if line.count("|") >= 2]
        numbers = [_NUMBER.findall(end) for end in ends]
        values = [float(found[-1].replace(",", ".")) for found in numbers if found]
        if len(values) != wanted:
            raise Unusable(f"it holds {len(values)} similarities instead of {wanted}")
        if all(value == 100.0 for value in values):
            return [1.0] * wanted
        return [value if 0 <= value <= 1 else 0.0 for value in values]

    return read


def _yes_or_no(answer: str) -> bool:
    """Read the first sentence that says true or false; raise Unusable where it says both, or negates what it says."""
    for part in _SENTENCE_END.split(cleaned(answer)):
        said = {word.casefold() in ("true", "wahr") for word in _TRUE_OR_FALSE.findall(part)}
        if said and (len(said) > 1 or _NEGATION.search(part)):
            raise Unusable("it does not say plainly whether True or False")
        if said:
            return said.pop()
    raise Unusable("it says neither True nor False")
