"""What an editor is told beside each field while typing: figures, findings of lint, hard words, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from bot.catalog.catalog import Catalog, Pair
from bot.catalog.lint import (
    ANSWER_WORDS,
    EASY_SHARE,
    EASY_WORDS,
    OFF_TARGET,
    OFF_TARGET_WORDS,
    SHORT_SENTENCES,
    SHORT_WORDS,
    lint_pair,
)
from bot.catalog.readability import formula, measure
from bot.curation.highlights import highlights
from bot.editorial.pair_fields import seen_texts
from bot.sentences.telephones import strange_telephones
from bot.web.staff.wording import Label, in_words, said_of

_MEASURED = ("short_answer", "answer", "easy_answer")


@dataclass(frozen=True, slots=True)
class Item:
    """One remark: ``error``, ``warning`` or ``info``, and what it says; `rule`: a label of it."""

    kind: str
    rule: str
    text: str


@dataclass
class Notes:
    """All that is said beside one field.

    Attributes:
        figure: Words, sentences and reading ease, in the language of the console; empty where there is no text.
        good: Whether the figures are as they should be.
        items: Findings.
        hard: Words that patients may not know, each with what to write instead.
    """

    figure: str = ""
    good: bool = True
    items: list[Item] = field(default_factory=list)
    hard: list[tuple[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


Labels = Mapping[str, Label]


@dataclass(frozen=True, slots=True)
class Written:
    """A pair in one language as it is typed.

    Attributes:
        fields: By name.
        flaws: What is wrong with fields that make no pair, in a word, by name.
        pair: What they make, where they make one.
        meant: What of the variants the flaw is about.
        copies: Variants that say nearly what stands elsewhere: the text, and a pair's id or ``suite`` and the like.
    """

    fields: Mapping[str, str]
    flaws: Mapping[str, str]
    pair: Pair | None
    meant: str = ""
    copies: Sequence[tuple[str, str]] = ()


def notes_on(
    catalogs: Mapping[str, Catalog], written: Mapping[str, Written], labels: Labels, *, site: str, today: date
) -> dict[str, Notes]:
    """Return the notes by ``language.field``.

    Args:
        catalogs: That the pair belongs to, by language, as they are released.
        written: What is typed, by language.
        labels: Of the console, in its language.
        site: The site's file: its telephone numbers are known.
        today: Decides whether a review has expired.
    """
    found: dict[str, Notes] = {}
    for language, typed in written.items():
        target = typed.fields.get("words_target", "")
        for name, text in typed.fields.items():
            key = name.rpartition(".")[2]
            if key in _MEASURED and text:
                note = found[f"{language}.{name}"] = _measured(key, text, language, target, labels)
                if told := telephone_warning([text], language, catalogs, site, labels):
                    note.items.append(Item("warning", labels["pairs_rule_telephone"], told))
        for name, flaw in typed.flaws.items():
            note = found.setdefault(f"{language}.{name}", Notes())
            note.items.append(
                Item("error", labels["pairs_rule_schema"], labels[f"pairs_flaw_{flaw}"].format(text=typed.meant))
            )
        for text, place in typed.copies:
            note = found.setdefault(f"{language}.variants", Notes())
            where = labels.get(f"inbox_copy_{place.replace(' ', '_')}", f"„{place}“")
            told = labels["pairs_copy"].format(text=text, where=where)
            note.items.append(Item("error", labels["pairs_rule_near_copy"], told))
    pairs = {language: each.pair for language, each in written.items() if each.pair is not None}
    for each in lint_pair(catalogs, pairs, today=today) if pairs else ():
        note = found.setdefault(f"{each.language}.{each.field}", Notes())
        rule = labels.get(f"pairs_rule_{each.finding.rule.replace('-', '_')}", each.finding.rule)
        if each.finding.rule != "jargon":  # these are marked word by word
            note.items.append(Item(each.finding.severity, rule, in_words(said_of(each.finding), labels)))
    return found


def telephone_warning(
    texts: Iterable[str], language: str, catalogs: Mapping[str, Catalog], site: str, labels: Labels
) -> str:
    """Return what is said of telephone numbers in texts that nobody has vouched for; empty where there is none."""
    strange = sorted({each for text in texts for each in strange_telephones(text, language, _known(catalogs, site))})
    return labels["pairs_telephone_strange"].format(n=len(strange), numbers=", ".join(strange)) if strange else ""


def _known(catalogs: Mapping[str, Catalog], site: str) -> Iterator[str]:
    """Yield the texts whose telephone numbers somebody has signed."""
    yield site
    for catalog in catalogs.values():
        yield from (text for pair in catalog.pairs for name, text in seen_texts(pair) if not name.startswith("quizzes"))


def _measured(key: str, text: str, language: str, target: str, labels: Labels) -> Notes:
    read, how = measure(text, language), formula(language)
    ease, mean = f"{read.reading_ease:.0f}", f"{read.words_per_sentence:.1f}".replace(".", labels["decimal_point"])
    figure = labels["pairs_figure"].format(words=read.words, sentences=read.sentences, mean=mean, ease=ease)
    aim = int(target) if target.isascii() and target.isdigit() and len(target) < 4 else None
    if key == "short_answer":
        least = how.short if how is not None else 0
        good = read.sentences <= SHORT_SENTENCES and read.words <= SHORT_WORDS and read.reading_ease >= least
        wanted = labels["pairs_wanted_short"].format(n=SHORT_SENTENCES, words=SHORT_WORDS, ease=f"{least:.0f}")
    elif key == "easy_answer":
        most = EASY_WORDS if aim is None else max(EASY_WORDS, round(EASY_SHARE * aim))
        least = how.easy if how is not None else 0
        good = read.words < most and read.reading_ease >= least
        wanted = labels["pairs_wanted_easy"].format(words=most - 1, ease=f"{least:.0f}")
    else:
        low, high = ANSWER_WORDS
        if aim is not None:
            off = max(OFF_TARGET_WORDS, round(OFF_TARGET * aim))
            low, high = aim - off, aim + off
        good = low <= read.words <= high
        wanted = labels["pairs_wanted_answer"].format(low=low, high=high)
    hard = {text[each.start : each.end]: each.plain for each in highlights(text, language) if not each.explained}
    return Notes(f"{figure} {wanted}", good, hard=list(hard.items()))
