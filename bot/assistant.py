"""The one door to the assistant: questions in, responses out. `Assistant.open` wires up the parts."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bot import wiring
from bot.batching import Together
from bot.catalog.catalog import Catalog, language_files, locate
from bot.catalog.countries import Country
from bot.catalog.exam import open_exam
from bot.catalog.site import Site, open_site
from bot.errors import BadData
from bot.languages.opening import open_languages
from bot.matching.complaints import LEVELS, URGENCY, Level, judge_complaint
from bot.matching.context import Context
from bot.matching.decide import (
    Answered,
    Candidate,
    Clarify,
    Decision,
    Declined,
    Thresholds,
    Unread,
    decide_by_cosine,
    decide_message,
    last_questions,
    offer_asked,
    read_stories,
    says_nothing,
    unreadable,
    word_for_word,
)
from bot.matching.emergency import CALM, Lookout, Verdict, decision_of
from bot.matching.explain import Explanation
from bot.matching.fit_head import Part
from bot.matching.foreign import Emergency, Foreign
from bot.matching.head import Head, Judged
from bot.matching.red_flags import is_spelt_out, load_red_flags
from bot.matching.remarks import Remark, hear_remarks, is_unsure
from bot.ports import Encoder, Neighbour, Vectors
from bot.resources import numeric_threads
from bot.response import Advice, DecisionName, Fixed, Method, Reason, Response, combine, without_texts
from bot.sentences.foreign_texts import URGENT, foreign_key, written_in
from bot.sentences.spelling import released
from bot.sentences.wording import NO_HOUSE, House, Wording, wording_of
from bot.settings import Settings
from bot.text import AUTO, LanguageDetector, Sanitised, sanitise, seen, segments, story_pieces

if TYPE_CHECKING:
    from bot.release.in_force import ChatState, InForce

LISTED = 5  # candidates reported with every decision
BATCH = 256  # questions scored at once: more would only cost memory
ADVISED = 0.1  # probability from which another pair than the default says what to do about a complaint
TOGETHER = 32  # questions of different patients decided at once: more would let the first wait for the last


class Assistant:
    """Answers questions from one catalog, in all its languages."""

    def __init__(
        self,
        languages: dict[str, wiring.Opened],
        encoder: Encoder,
        *,
        sample: bool,
        house: House = NO_HOUSE,
        in_force: InForce | None = None,
    ) -> None:
        self._in_force = in_force
        self._opened = languages
        self._encoder = encoder
        self._sample = sample
        self._house = house
        self._released = {language: released(opened.catalog, house.country) for language, opened in languages.items()}
        self._detector = LanguageDetector({language: _texts(opened.catalog) for language, opened in languages.items()})
        self._foreign = Foreign(self._detector.known)
        self._red_flags = {language: load_red_flags(language) for language in languages}
        self._lookouts: dict[str, Lookout] = {}
        self._contexts: dict[str, Context] = {}
        # Several questions at once cost a third of what they cost one by one.
        self._together = Together(self._decide_some, at_most=TOGETHER)

    @classmethod
    def open(  # noqa: PLR0913 - the front door has many bells
        cls,
        catalog: str | Path = "mammography",
        *,
        data: Path | None = None,
        settings: Settings | None = None,
        encoder: str | Encoder = "embedded",
        sample: bool = False,
        today: date | None = None,
        languages: Sequence[str] | None = None,
        only: Collection[str] | None = None,
        in_force: InForce | None = None,
    ) -> Assistant:
        """Open a catalog by name or folder.

        Args:
            catalog: A shipped exam's name, or a folder.
            data: Where index and heads are kept; default: the settings' folder.
            settings: Default: read from the environment.
            encoder: ``embedded``, ``sentence-transformers:MODEL``, ``openai:MODEL``, or an Encoder.
            sample: Show drafts too.
            today: Decides which approvals have expired; default: today.
            languages: Which of the catalog's languages to open; default: all.
            only: Ids of the pairs to answer from, as if the others were not there; default: all.
            in_force: The release that lies in the folder, as it counts now; default: it is none.

        Raises:
            UserFixable: Anything that the caller can mend, in one line.
        """
        # For the whole process: spinning threads of linear algebra get in each other's way.
        threadpool_limits(numeric_threads(), user_api="blas")
        settings = settings or Settings.from_environment(data=data)
        folder = locate(catalog)
        adapter = wiring.make_encoder(encoder, settings) if isinstance(encoder, str) else encoder
        chosen = None if only is None else frozenset(only)
        released = in_force.shown if in_force is not None else None
        showing = wiring.Showing(sample=sample, today=today or date.today(), only=chosen, released=released)
        spoken = _in_order(tuple(languages or language_files(folder)), settings.first_language)
        open_languages(settings.languages, spoken)
        opened = {language: wiring.open_language(folder, language, adapter, settings, showing) for language in spoken}
        approved = sample or in_force is not None  # what a release holds was approved when it was made
        site = open_site(settings.site, exam=folder, languages=tuple(opened), sample=approved, today=showing.today)
        wording = wording_of(open_exam(folder, sample=approved, today=showing.today), spoken)
        house = House(settings.country, site, wording)
        return cls(opened, adapter, sample=sample, house=house, in_force=in_force)

    def prepare(self) -> None:
        """Embed and train every language now; otherwise each is prepared by its first question."""
        for opened in self._opened.values():
            _ = opened.trained, opened.remarks

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self._opened)

    @property
    def encoder(self) -> Encoder:
        return self._encoder

    @property
    def sample(self) -> bool:
        return self._sample

    @property
    def house(self) -> House:
        """Whose chat it is: what replies may say of place and exam."""
        if self._in_force is None or self._in_force.tells:
            return self._house
        return replace(self._house, site=None)

    @property
    def country(self) -> Country | None:
        """Whose emergency numbers patients are told; None: those of all."""
        return self._house.country

    @property
    def site(self) -> Site | None:
        """What patients may be told of the place; None where that is nothing."""
        return self.house.site

    @property
    def wording(self) -> Wording:
        """The fixed sentences, as they speak of this exam."""
        return self._house.wording

    @property
    def release(self) -> str:
        """The release that answers, as ``number@hash``; empty where it is none."""
        return self._in_force.name if self._in_force is not None else ""

    def approved(self, pair_id: str, language: str) -> tuple[str, date] | None:
        """Return who approved a pair of the release, and when; None where there is no release."""
        return self._in_force.approved(pair_id, language) if self._in_force is not None else None

    @property
    def asks(self) -> bool:
        """Whether the questions of the radiology team may be asked now."""
        return self._in_force is None or self._in_force.asks

    @property
    def is_closed(self) -> bool:
        """Whether nothing but emergencies is answered now."""
        return self._in_force is not None and self._in_force.is_closed

    @property
    def chat_state(self) -> ChatState | None:
        """How the chat stands now: whether it is closed, and what has expired; None where there is no release."""
        return self._in_force.state if self._in_force is not None else None

    def catalog(self, language: str) -> Catalog:
        """Return the catalog of a language, spelt as in the country; raise BadData when it is not open."""
        self._of(language)
        return self._released[language]

    def shown(self, language: str) -> frozenset[str]:
        """Return the ids of the pairs that may be shown now."""
        return self.learned(language) - self.withheld(language)

    def learned(self, language: str) -> frozenset[str]:
        """Return the ids of the pairs that questions are compared with, those among them that may not be shown now."""
        return frozenset(self._of(language).shown)

    def withheld(self, language: str) -> frozenset[str]:
        """Return the pairs that were learned, and may not be shown now."""
        return self._in_force.withheld(language) if self._in_force is not None else frozenset()

    def thresholds(self, language: str) -> Thresholds:
        return self._of(language).trained.thresholds

    def detect(self, text: str, *, fallback: str | None = None, margin: float = 1.0) -> str:
        """Return the language of a text among the catalog's languages; another than `fallback` if ahead by `margin`."""
        clean = sanitise(text).text
        told = clean.replace(" ", "") if is_spelt_out(clean) else clean
        return self._detector.detect(told, fallback=fallback or self.languages[0], margin=margin)

    def foreign(self, text: str) -> str | None:
        """Return the language (ISO 639-1) of a text in none of the catalog's languages; None for every other text."""
        return self._foreign.language(sanitise(text).text)

    def answer(self, text: str, lang: str = AUTO, *, method: Method = "hybrid", ignore_flags: bool = False) -> Response:
        """Decide on one question, together with those that other threads ask meanwhile.

        `ignore_flags` only after the patient has said that it is no emergency.
        """
        clean = sanitise(text)
        language = self.detect(clean.text) if lang == AUTO else lang
        self._of(language)  # raises when it is not open
        return self._together.ask((language, method, Asked(text, clean, ignore_flags)))

    def answer_all(
        self,
        texts: Sequence[str],
        lang: str | Sequence[str] = AUTO,
        *,
        method: Method = "hybrid",
        ignore_flags: bool = False,
    ) -> list[Response]:
        """Decide on many questions, in order; `lang` is one language for all, or one for each."""
        wanted = [lang] * len(texts) if isinstance(lang, str) else list(lang)
        clean = [sanitise(text) for text in texts]
        languages = [
            self.detect(text.text) if choice == AUTO else choice for text, choice in zip(clean, wanted, strict=True)
        ]
        result: dict[int, Response] = {}
        for language in dict.fromkeys(languages):
            opened = self._of(language)
            numbers = [number for number, other in enumerate(languages) if other == language]
            for start in range(0, len(numbers), BATCH):
                chunk = numbers[start : start + BATCH]
                asked = [Asked(texts[number], clean[number], ignore_flags) for number in chunk]
                result.update(zip(chunk, self._decide(opened, asked, method), strict=True))
        return [result[number] for number in range(len(texts))]

    def nearest(self, text: str, lang: str, *, k: int) -> list[Neighbour]:
        """Return the k curated texts nearest in meaning, as the index finds them."""
        return self._of(lang).index.nearest(self._encoder.encode([sanitise(text).text])[0], k=k)

    def head(self, language: str) -> tuple[Head, tuple[str, ...]]:
        """Return what compares questions with the pairs, and the ids of the pairs in its order."""
        opened = self._of(language)
        return opened.trained.head, opened.shown

    def without(self, *parts: Part) -> Assistant:
        """Return this assistant with heads trained without parts of the matcher, for studies; nothing is stored."""
        opened = {language: one.without(frozenset(parts), self._encoder) for language, one in self._opened.items()}
        return Assistant(
            opened,
            self._encoder,
            sample=self._sample,
            house=self._house,
        )

    def red_flag(self, text: str, *, fallback: str, rules_only: bool = False) -> str | None:
        """Return the language in which a text raises a red flag: by rule in any, else by the learned alarm in its own.

        One that is raised in a language that the catalog lacks is answered in `fallback`.
        `rules_only`: the words are not the patient's own, so that only the rules count.
        """
        whole, own = seen(text), self.detect(text, fallback=fallback)
        by_rule = (language for language in (own, *self._red_flags) if self._red_flags[language].check(whole))
        language = next(by_rule, None)
        if language is None and self._foreign.emergency(whole) is not None:
            return fallback
        if language is not None or rules_only or not whole or self.foreign(text) is not None:
            return language
        verdict = self._lookout(own).judge([whole])[0]
        if verdict.flag is None:
            return None
        (remark,) = hear_remarks(self._of(own).remarks, self._encoder.encode([whole]), [whole])
        return None if remark is not None and remark.calms(verdict, whole) else own

    def context(self, language: str) -> Context:
        """Return what listens to messages after answers."""
        if language not in self._contexts:
            opened = self._of(language)
            head = opened.trained.head
            self._contexts[language] = Context(self.catalog(language), opened.shown, head, self._encoder)
        return self._contexts[language]

    def explain(self, text: str, lang: str = AUTO, *, about: Sequence[str] = ()) -> Explanation:
        """Say what decided on a question: nearest texts, scores of the views, thresholds.

        Args:
            text: The question.
            lang: Its language.
            about: Pairs whose scores are wanted even if they are not among the likeliest.
        """
        clean = sanitise(text).text
        language = self.detect(clean) if lang == AUTO else lang
        opened = self._of(language)
        vector = self._encoder.encode([clean])
        views = opened.trained.head.evidence.views(vector, [clean])
        return Explanation.of(
            nearest=opened.index.nearest(vector[0], k=5),
            views=views,
            probabilities=opened.trained.head.fusion.probabilities(views)[0],
            pair_ids=opened.shown,
            thresholds=opened.trained.thresholds,
            alarm=self._lookout(language).judge([seen(text)])[0],
            about=about,
        )

    def _lookout(self, language: str) -> Lookout:
        if language not in self._lookouts:
            self._lookouts[language] = Lookout(
                self._red_flags[language], self._of(language).trained.alarm, self._encoder, decision_of(language)
            )
        return self._lookouts[language]

    def _of(self, language: str) -> wiring.Opened:
        if language not in self._opened:
            raise BadData(
                f"This catalog has no language {language!r} (it has {', '.join(self._opened)}). Choose with `--lang`."
            )
        return self._opened[language]

    def _decide_some(self, questions: Sequence[tuple[str, Method, Asked]]) -> list[Response]:
        """Decide on questions of several patients, in order."""
        result: dict[int, Response] = {}
        for language, method in dict.fromkeys((language, method) for language, method, _ in questions):
            numbers = [number for number, other in enumerate(questions) if other[:2] == (language, method)]
            asked = [questions[number][2] for number in numbers]
            result.update(zip(numbers, self._decide(self._of(language), asked, method, keep=True), strict=True))
        return [result[number] for number in range(len(questions))]

    def _decide(
        self, opened: wiring.Opened, asked: Sequence[Asked], method: Method, *, keep: bool = False
    ) -> list[Response]:
        """Decide on messages and, with the same encoding, on the parts of those that ask two things.

        `keep`: responses hold what was worked out of the message; of many thousand they would take much memory.
        """
        started = time.perf_counter()
        reads = [method == "hybrid" and not one.clean.too_long for one in asked]
        parts = [segments(one.clean.text) if read else () for one, read in zip(asked, reads, strict=True)]
        stories = [story_pieces(one.clean.text) if read else () for one, read in zip(asked, reads, strict=True)]
        pieces = [
            Asked(text, sanitise(text), one.ignore_flags) for one, of in zip(asked, parts, strict=True) for text in of
        ]
        everything = [*asked, *pieces]
        texts = [*(question.clean.text for question in everything), *(text for of in stories for text in of)]
        vectors = self._encoder.encode(texts)
        scores, complaint, pairs = self._judged(opened, vectors, texts, method)
        read = [
            method == "hybrid" and not one.clean.too_long and not says_nothing(one.clean.text) for one in everything
        ]
        remarks = hear_remarks(
            opened.remarks if any(read) else None, vectors[: len(everything)], texts[: len(everything)]
        )
        flags = self._flags(opened, vectors[: len(everything)], everything, remarks)
        questions = [*last_questions(scores, stories), *(None for _ in pieces)]
        scores = read_stories(scores, [*(len(of) for of in stories), *(0 for _ in pieces)])
        order = np.argsort(-scores, axis=1, kind="stable")[:, :LISTED]
        found = [
            self._response(
                opened,
                one,
                _Found(flag.flag, scores[number], order[number], complaint[number], remarks[number], questions[number]),
                method,
            )
            for number, (one, flag) in enumerate(zip(everything, flags, strict=True))
        ]
        share_ms = (time.perf_counter() - started) * 1000 / len(asked)
        found = [
            self._to_foreign(
                replace(
                    response,
                    elapsed_ms=share_ms,
                    remarks=(heard,) if heard and heard.kind and reads_ else (),
                    unsure=flag.flag is not None and is_unsure(flag),
                    judged=Judged(vectors[number], pairs[number]) if keep and len(pairs) else None,
                ),
                one,
            )
            for number, (response, one, heard, reads_, flag) in enumerate(
                zip(found, everything, remarks, read, flags, strict=True)
            )
        ]
        rest = iter(found[len(asked) :])
        answers = [[next(rest) for _ in of] for of in parts]
        decided = [
            whole if whole.fixed is not None else combine(whole, of)
            for whole, of in zip(found[: len(asked)], answers, strict=True)
        ]
        held = self.withheld(opened.catalog.language)
        return [without_texts(response, held) for response in decided] if held else decided

    def _to_foreign(self, response: Response, asked: Asked) -> Response:
        """Return the response to a message in a language that the catalog lacks; every other one as it was.

        What the learned alarm hears in such a message is a guess; the rules count, in every language.
        """
        sign = None if asked.ignore_flags else self._foreign.emergency(asked.seen)
        language = sign.language if sign is not None else self._foreign.language(asked.clean.text)
        if language is None:
            return response
        if sign is None and response.flag is not None and self._red_flags[response.lang].check(asked.seen):
            sign = Emergency(language, response.flag)
        own = written_in(language, response.lang)
        key = foreign_key(self.languages) if sign is None else URGENT
        there = f"{key}_{self._house.country.lower()}" if self._house.country else key
        return replace(
            response,
            decision="declined" if sign is None else "urgent",
            pair_id=None,
            choices=(),
            answer=None,
            flag=None if sign is None else sign.flag,
            reason=f"the text is in a language that the catalog lacks: {language}",
            fixed=Fixed(key, own, self.wording.sentences[own][there]),
            why="other-language",
            level=None,
            advice=None,
            unsure=False,
        )

    def _flags(
        self, opened: wiring.Opened, vectors: Vectors, asked: Sequence[Asked], remarks: Sequence[Remark | None]
    ) -> list[Verdict]:
        """Return what the alarm says of all the text of each question; `remarks`: what is heard beside it."""
        looked = [number for number, question in enumerate(asked) if not question.ignore_flags and question.seen]
        cut = any(asked[number].clean.too_long for number in looked)
        verdicts: list[Verdict] = self._lookout(opened.catalog.language).judge(
            [asked[number].seen for number in looked], None if cut else vectors[looked]
        )
        flags = [CALM] * len(asked)
        for number, verdict in zip(looked, verdicts, strict=True):
            remark = remarks[number]
            flags[number] = CALM if remark is not None and remark.calms(verdict, asked[number].seen) else verdict
        return flags

    def _judged(
        self, opened: wiring.Opened, vectors: Vectors, texts: Sequence[str], method: Method
    ) -> tuple[Vectors, npt.NDArray[np.float64], Vectors]:
        """Return the score of every pair for every text, how likely each text is a complaint of each level, and all
        that the head says of the pairs: nothing under another method.
        """
        none = np.tile([1.0, *(0.0 for _ in LEVELS)], (len(texts), 1))
        if method == "cosine":
            return np.asarray(vectors @ opened.canonical.T, dtype=np.float32), none, np.zeros((0, 0), np.float32)
        judged = opened.trained.head.judge(vectors, texts)
        complaint = judged.complaint if judged.complaint is not None else none
        return judged.pairs[:, :-1], complaint, judged.pairs

    def _response(self, opened: wiring.Opened, asked: Asked, found: _Found, method: Method) -> Response:
        catalog = self.catalog(opened.catalog.language)
        ranked = tuple(Candidate(opened.shown[column], float(found.scores[column])) for column in found.order)
        own, thresholds = None, opened.trained.thresholds
        if method == "cosine":
            decision = unreadable(asked.clean) or decide_by_cosine(asked.clean.text, ranked, thresholds)
        else:
            last = offer_asked(found.question, opened.shown, thresholds) if found.question is not None else None
            own = word_for_word(asked.clean.text, ranked, lambda pair_id: catalog.by_id[pair_id].question)
            decision = decide_message(asked.clean, ranked, thresholds, asked=own, last=last)
        level = judge_complaint(found.complaint, answered=isinstance(decision, Answered)) if own is None else None
        instead: tuple[str, ...] = ()
        if level is not None and found.remark is not None and found.remark.is_no_complaint(found.complaint):
            level = None
        if level is not None and not isinstance(decision, Unread):
            instead = tuple(choice.pair_id for choice in decision.choices) if isinstance(decision, Clarify) else ()
            decision = Declined(f"a complaint ({level})")
        advice = self._advice(opened, found, level) if isinstance(decision, Declined) and not found.flag else None
        if advice is not None:
            advice = replace(advice, instead=instead)
        answered = decision.best if isinstance(decision, Answered) and not found.flag else None
        choices = decision.choices if isinstance(decision, Clarify) and not found.flag else ()
        why: Reason = ""
        if not found.flag and isinstance(decision, Declined):
            why = "too-long" if asked.clean.too_long else "complaint" if advice else "out-of-scope"
        return Response(
            question=asked.raw,
            lang=catalog.language,
            decision="urgent" if found.flag else _NAMES[type(decision)],
            pair_id=answered.pair_id if answered else None,
            score=ranked[0].score,
            candidates=ranked,
            choices=tuple(choice.pair_id for choice in choices),
            answer=catalog.by_id[answered.pair_id].answer if answered else None,
            also=(),
            flag=found.flag,
            method=method,
            catalog=catalog.ref,
            sample=self._sample,
            too_long=asked.clean.too_long,
            reason=decision.reason if isinstance(decision, Declined) else "",
            elapsed_ms=0.0,
            why=why,
            level=level,
            advice=advice,
        )

    def _advice(self, opened: wiring.Opened, found: _Found, level: Level | None) -> Advice | None:
        """Return what the pair that is likeliest meant says about a complaint; None where no such pair may be shown."""
        pairs, urgency = opened.catalog.complaints, URGENCY.get(level) if level is not None else None
        if pairs is None or urgency is None:
            return None
        likely = {
            pair_id: float(score)
            for pair_id, score in zip(opened.shown, found.scores, strict=True)
            if pair_id in pairs.pairs
        }
        best = max(likely, key=lambda pair_id: likely[pair_id], default=None)
        if best is None:
            return None
        chosen = best if likely[best] >= ADVISED or pairs.default not in likely else pairs.default
        text = self.catalog(opened.catalog.language).by_id[chosen].answer
        return Advice(chosen, urgency, text, 1 - float(found.complaint[0]))


@dataclass(frozen=True, slots=True)
class _Found:
    """What the steps before a decision found.

    Attributes:
        flag: The red flag that was raised.
        scores: Of every pair, shape (pairs,).
        order: Numbers of the best pairs, best first.
        complaint: P(no complaint), then of each level, shape (1 + levels,).
        remark: The likeliest one.
        question: Scores of every pair for the last question of a story by itself, shape (pairs,).
    """

    flag: str | None
    scores: Vectors
    order: npt.NDArray[np.intp]
    complaint: npt.NDArray[np.float64]
    remark: Remark | None
    question: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question on its way through: as it came, cleaned, and whether red flags were ruled out."""

    raw: str
    clean: Sanitised
    ignore_flags: bool

    @property
    def seen(self) -> str:
        """Where red flags are looked for: in all of the text, also where it is cut off for an answer."""
        return seen(self.raw) if self.clean.too_long else self.clean.text


_NAMES: dict[type[Decision], DecisionName] = {
    Answered: "answered",
    Clarify: "clarify",
    Declined: "declined",
    Unread: "declined",
}


def _texts(catalog: Catalog) -> list[str]:
    return [text for pair in catalog.pairs for text in (pair.question, pair.answer, *(v.text for v in pair.variants))]


def _in_order(languages: tuple[str, ...], first: str) -> tuple[str, ...]:
    """Return a catalog's languages with that first in which patients are greeted."""
    if first and first not in languages:
        raise BadData(f"`--lang` is {first!r}, and the catalog has {', '.join(languages)}. Choose one of them.")
    return tuple(sorted(languages, key=lambda each: each != first)) if first else languages
