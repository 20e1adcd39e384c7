"""Recognise remarks: what patients write that no pair is about, of their feelings, of manners, and of the place.

A head of its own, of the same kind as that of the pairs, with a class for each kind of remark. It learns from the
``remarks.tsv`` of its language, which no catalog owns, against a sample of what the catalog learns from. A few whole
messages are known beforehand (`remark_texts/plain.yaml`). It decides nothing that the pairs, the complaints or the
alarm decide: what it hears stands beside their decision (docs/architecture.md, "Order of precedence").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bot.catalog.catalog import Catalog
from bot.catalog.site import Fact
from bot.languages.files import cached, digest, joint, load_rows
from bot.matching.emergency import Verdict
from bot.matching.features import Floats
from bot.matching.fit_head import BACKGROUND, Example, train
from bot.matching.head import Head
from bot.matching.red_flags import load_examples
from bot.matching.training import CONFLICT, indexed_texts
from bot.ports import Encoder, Vectors
from bot.text import fold, words

# What is felt, and manners; the other remarks are about facts of the place.
Feeling = Literal[
    "fear",
    "sleepless",
    "shame",
    "sadness",
    "anger",
    "annoyed",
    "insult",
    "confused",
    "refusal",
    "praise",
    "robot",
    "chatter",
    "hello",
    "farewell",
    "thanks",
    "okay",
    "aside",
]
FEELINGS: tuple[Feeling, ...] = get_args(Feeling)
REMARKS: tuple[str, ...] = (*FEELINGS, *get_args(Fact))
NO_REMARK = "none"  # the kind of examples that are questions about exams, so that small catalogs have some, too
MOST_OTHERS = 3500  # texts of the catalog that remarks are told from: more only take longer
URGENT_STEP = 2  # every so many of the alarm's urgent examples is one
HEARD = 0.4  # probability from which a remark counts where no pair answers
BESIDE = 0.75  # and from which it counts beside an answer


# Kinds that are no sign of danger, unlike grief, fear or confusion, and how sure one must be to call off an alarm that
# no rule raised and that is less likely than not.
HARMLESS = frozenset(
    {
        *get_args(Fact),
        "shame",
        "anger",
        "annoyed",
        "insult",
        "praise",
        "robot",
        "chatter",
        "hello",
        "farewell",
        "thanks",
    }
)
SURELY, UNSURE = 0.85, 0.65
# "I am not afraid" has all the words of fear.
_NO_FEAR = re.compile(
    r"\b(?:kein(?:e|erlei)?|null|gar keine) (?:\w+ )?angst\b|\bnicht (?:\w+ )?(?:aengstlich|nervoes)\b|"
    r"\bno fear\b|\b(?:not|never|isn t|aren t|wasn t) (?:\w+ )?(?:afraid|scared|frightened|nervous|anxious)\b"
)
# "My phone has died" has all the words of grief.
_NO_GRIEF = re.compile(
    r"\b(?:handy|akku|telefon|telephone|smartphone|natel|batterie|tablet|laptop|computer|pc|drucker|auto|wlan|internet|navi|"
    r"phone|mobile|battery|printer|car|wifi|satnav|portable|ordi\w*|batterie|voiture)(?: \w+){0,3} "
    r"(?:gestorben|verstorben|tot|stirbt|hin|leer|weg|verloren|died|dead|dying|lost|gone|morte?|decede\w*|perdu)\b|"
    r"\b(?:lost|verloren|verlegt|mislaid|perdu) (?:\w+ ){0,2}(?:phone|letter|form|keys?|handy|brief|zettel|schluessel|"
    r"telephone|lettre|formulaire|convocation)\b"
)
MOST_CALMED = 200  # characters
# Of a remark, of complaints about breast or exam, and of any: who lies awake for hours has no emergency.
CERTAIN, OF_THE_EXAM, LIKELY_COMPLAINT = 0.95, 0.05, 0.9


def is_unsure(verdict: Verdict) -> bool:
    """Say whether an alarm was raised by no rule, and is not very likely."""
    return verdict.by != "rule" and verdict.probability < UNSURE


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark in a message: its kind, one of `REMARKS`, and its probability, 0 to 1.

    `plain`: whether the whole message says it in words that are known; without a kind it is no remark and no complaint.
    """

    kind: str
    probability: float
    plain: bool = False

    def calms(self, verdict: Verdict, text: str) -> bool:
        """Say whether an alarm is taken for false since all of a message is surely something harmless.

        Of a long message that is never said: much harmless talk must not drown what stands beside it.
        """
        heard = not self.plain and is_unsure(verdict) and len(text) <= MOST_CALMED
        return heard and self.kind in HARMLESS and self.probability >= SURELY

    def is_no_complaint(self, complaint: npt.NDArray[np.float64]) -> bool:
        """Say whether a message is no complaint since it is surely a remark, and says nothing of breast or exam.

        Args:
            complaint: P(no complaint), then of each level, shape (1 + levels,).
        """
        of_the_exam, any_level = float(complaint[2:-1].sum()), 1 - float(complaint[0])
        harmless = self.kind in HARMLESS or self.kind == "sleepless"
        if self.plain:
            return True
        return harmless and self.probability >= CERTAIN and of_the_exam < OF_THE_EXAM and any_level < LIKELY_COMPLAINT

    @property
    def is_feeling(self) -> bool:
        return self.kind in FEELINGS


# Texts never change while a process runs; their vectors are those of an encoder.
_known: dict[tuple[str, str, str], tuple[Vectors, Vectors, list[str]]] = {}


@cached
def remark_texts(language: str) -> tuple[tuple[str, str, str], ...]:
    """Return kind, author and text of every example in a language; empty when none were written in it."""
    return tuple((row["kind"], row["author"], row["text"]) for row in load_rows(language, "remarks.tsv"))


def remarks_digest(language: str) -> str:
    """Return what changes with any text that remarks are learned from beside the catalog's."""
    return digest(language, "remarks.tsv")


def train_remarks(catalog: Catalog, vectors: Vectors, encoder: Encoder) -> Head | None:
    """Train what recognises remarks; None in a language that no remarks were written in.

    Args:
        catalog: Whose own texts are no remarks.
        vectors: Of its `indexed_texts`, in that order, shape (texts, dimensions).
        encoder: That made them.
    """
    examples = remark_texts(catalog.language)
    if not examples:
        return None
    key = (encoder.name, catalog.language, remarks_digest(catalog.language))
    if key not in _known:
        urgent = [text for _, text in load_examples(catalog.language).urgent[::URGENT_STEP]]
        _known[key] = encoder.encode([text for _, _, text in examples]), encoder.encode(urgent), urgent
    own, alarming, urgent = _known[key]
    remarks = own[[kind != NO_REMARK for kind, _, _ in examples]]
    texts = indexed_texts(catalog)
    some = np.arange(0, len(texts), max(1, -(-len(texts) // MOST_OTHERS)))
    # A pair may well be about what a remark is about: such a text would say that it is none.
    others = some[(vectors[some] @ remarks.T).max(axis=1) < CONFLICT]
    label = {kind: number for number, kind in enumerate((*REMARKS, NO_REMARK))}
    taught = [Example(text, label[kind], author) for kind, author, text in examples]
    taught += [Example(texts[number][1], label[NO_REMARK], BACKGROUND) for number in others]
    taught += [Example(text, label[NO_REMARK], BACKGROUND) for text in urgent]
    return train(taught, np.concatenate([own, vectors[others], alarming]), len(REMARKS) + 1)[0]


def hear_remarks(head: Head | None, vectors: Floats, texts: Sequence[str]) -> list[Remark | None]:
    """Return the likeliest remark of each text with its raw vector; None where it is less likely than `HEARD`."""
    plain = [_said_plainly(text) for text in texts]
    if head is None or not texts:
        return plain
    found = head.probabilities(vectors, texts)[:, :-1]
    denied = [_NO_FEAR.search(fold(text)) is not None for text in texts]
    found[denied, REMARKS.index("fear")] = 0
    of_things = [_NO_GRIEF.search(fold(text)) is not None for text in texts]
    found[of_things, REMARKS.index("sadness")] = 0
    best = found.argmax(axis=1)
    likely = found[np.arange(len(texts)), best]
    learned = [
        Remark(REMARKS[column], float(probability)) if probability >= HEARD else None
        for column, probability in zip(best, likely, strict=True)
    ]
    return [known or heard for known, heard in zip(plain, learned, strict=True)]


def _said_plainly(text: str) -> Remark | None:
    """Return what a whole message says in words that are known; None for any other."""
    if len(text) > MOST_CALMED:
        return None
    said = " ".join(words(text))
    for kind, pattern in _plain().items():
        if pattern.fullmatch(said):
            known = kind != NO_REMARK
            return Remark(kind if known else "", float(known), plain=True)
    return None


@cached
def _plain() -> dict[str, re.Pattern[str]]:
    return {kind: re.compile("|".join(f"(?:{one})" for one in listed)) for kind, listed in joint("plain.yaml").items()}
