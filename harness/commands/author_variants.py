"""`klartext author variants`: how patients ask, written by a model in many voices, checked blind, for a curator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot import BadData, Catalog, Settings, data_folder, friendly_errors, load_catalog, locate, make_encoder
from bot.catalog.exam import Exam, load_exam
from harness.commands import options
from harness.commands.authoring import carry_on
from harness.console import counted, money, plain_console, plain_table, print_json, progress_bar
from harness.llm.batch_files import read_answers
from harness.llm.work_folder import WorkFolder

if TYPE_CHECKING:
    from harness.authoring.variants.asking import Kind, Prompting
    from harness.authoring.variants.making import Borrowing, Drafting, Made
    from harness.authoring.variants.sifting import PersonalIn, Sieve
    from harness.authoring.working import Work

LANGUAGES_WITH_NAMES = ("de", "en")  # of which there are lists of names
PERSONAL = frozenset({"email", "web", "phone", "number"})  # kinds of `bot.curation.patterns`
DATE_WITH_YEAR = re.compile(r"\b(?:19|20)\d\d\b|\d[./-]\s?\d{1,2}[./-]\s?\d\d\b")
HALVES: Mapping[str, int] = {"near-misses": 0, "unanswered": 1}  # which half of the voices writes, unless named
FEWEST_TO_TELL, HALF = 20, 0.5  # of a voice's texts: below, the blind check says nothing of it or much


@dataclass(frozen=True, slots=True)
class DraftSource:
    """For which pairs texts are written, and by whom."""

    catalog: options.CatalogPath = "mammography"
    lang: Annotated[str, typer.Option("--lang", help="Language of the catalog's file.", metavar="LANG")] = "de"
    voices: Annotated[
        str | None, typer.Option("--voices", help="Ids of voices, with commas. Default: all.", metavar="IDS")
    ] = None
    voices_file: Annotated[
        Path | None, typer.Option("--voices-file", help="Voices of your own (YAML).", metavar="FILE")
    ] = None
    pairs: Annotated[
        str | None,
        typer.Option("--pairs", help="Ids of pairs, with commas, or a file. Default: all.", metavar="IDS|LIST"),
    ] = None
    per_pair: Annotated[
        int, typer.Option("--per-pair", min=1, max=40, help="Texts that one prompt asks for, or that a pair borrows.")
    ] = 15
    vignette: Annotated[
        list[str] | None,
        typer.Option(
            "--vignette", help="Who asks calibration questions, repeatable; `all`. Default: the paper's three."
        ),
    ] = None
    exam: Annotated[
        str,
        typer.Option("--exam", help='How the exam is spoken of: "about MRI scans". Default: as exam.yaml says.'),
    ] = ""
    encoder: options.Encoder = "embedded"

    def content(self) -> Catalog:
        """Return the catalog."""
        return load_catalog(locate(self.catalog), self.lang)

    def drafting(self, kind: Kind, catalog: Catalog) -> Drafting:
        """Return the work; raise BadData when voices, pairs or patients are unknown."""
        from harness.authoring.variants.asking import (
            BY_PATIENT,
            PURPOSES,
            Patient,
            Prompting,
            load_texts,
            neighbours_of,
        )
        from harness.authoring.variants.making import Drafting
        from harness.authoring.variants.voices import load_voices, voices_file
        from harness.patients.vignettes import load_folder, load_vignettes

        texts = load_texts(self.lang)
        names = options.ids_of(self.voices) if self.voices is not None else ()
        if self.voices is not None and not names:
            raise BadData("`--voices` names no voice. Leave it out for all of them, or name some.")
        voices = load_voices(self.lang, PURPOSES[kind], file=self.voices_file, names=names)
        if not names and kind in HALVES:  # what is learned from, and what tests it, are by different voices
            if len(voices) < len(HALVES):
                raise BadData(
                    f"{self.voices_file or voices_file(self.lang)} has {counted(len(voices), 'voice')} for "
                    "calibration; near misses, which the assistant learns from, and `unanswered`, which tests it, are "
                    "by different ones. Give two or more of its voices `for: calibration`, or name one with `--voices`."
                )
            voices = voices[HALVES[kind] :: 2]
        pairs = [catalog.pair(id_) for id_ in options.read_list(self.pairs)] if self.pairs else catalog.pairs
        patients: list[Patient] = []
        if kind in BY_PATIENT:
            spoken = {language for one in load_folder(data_folder("vignettes")) for language in one.languages}
            # A patient's description is for the model: where nobody wrote it in this language, English will do.
            known = load_vignettes(self.lang if self.lang in spoken else "en", names=self.vignette or ())
            patients = [Patient(one.id, one.literacy.stratum, one.description) for one in known]
        elif self.vignette:
            raise BadData(f"`--vignette` says who asks calibration questions; this makes {kind}. Leave it out.")
        encoder = make_encoder(self.encoder, Settings.from_environment())
        about = self.exam or spoken_of(catalog, texts.about)
        neighbours = neighbours_of(catalog, encoder)
        return Drafting(Prompting(texts, catalog, kind, about, neighbours, self.per_pair), voices, pairs, patients)


@dataclass(frozen=True, slots=True)
class VariantSource(DraftSource):
    """The same for variants, which may be another catalog's."""

    borrow_from: Annotated[
        str | None,
        typer.Option(
            "--borrow-from", help="Take variants of another exam's catalog instead, where they fit.", metavar="PATH"
        ),
    ] = None
    same: Annotated[
        list[str] | None,
        typer.Option("--same", help="A pair, and the other catalog's that is like it; repeatable.", metavar="ID=ID"),
    ] = None

    def borrowing(self, kind: Kind, catalog: Catalog) -> Borrowing:
        """Return what there is to borrow; raise BadData where nothing can be, or an option has no meaning here."""
        from harness.authoring.variants.asking import Prompting, load_texts
        from harness.authoring.variants.borrowing import Naming, Spoken, borrow, load_name_words, special_words
        from harness.authoring.variants.making import Borrowing

        if kind != "variants":
            raise BadData(f"`--borrow-from` takes variants; this makes {kind}. Leave it out.")
        if self.voices or self.voices_file or self.vignette:
            raise BadData("What is borrowed is written: `--voices` and `--vignette` say who writes. Leave them out.")
        other = load_catalog(locate(self.borrow_from or ""), self.lang)
        if other.name == catalog.name:
            raise BadData(f"{catalog.ref} cannot borrow from itself. Name another exam with `--borrow-from`.")
        names = load_name_words(self.lang)
        matching = self._matching(catalog, other)
        own, theirs = (Spoken.of(each, load_exam(each.path.parent) or Exam(), names) for each in (catalog, other))
        special = special_words(catalog, other, frozenset(matching.values()))
        borrowed = borrow(catalog, other, matching, Naming(names, own, theirs, special))
        texts = load_texts(self.lang)
        prompting = Prompting(texts, catalog, kind, self.exam or spoken_of(catalog, texts.about), {}, self.per_pair)
        return Borrowing(prompting, matching, borrowed)

    def _matching(self, catalog: Catalog, other: Catalog) -> dict[str, str]:
        """Return the pair of the other catalog that is asked the same, by the pair of this one."""
        named = {}
        for each in self.same or ():
            own, equals, theirs = (part.strip() for part in each.partition("="))
            if not equals:
                raise BadData(
                    f"`--same {each}` names no two pairs. Write ID=ID: first this catalog's, then the other's."
                )
            named[catalog.pair(own).id] = other.pair(theirs).id
        pairs = [catalog.pair(id_) for id_ in options.read_list(self.pairs)] if self.pairs else catalog.pairs
        found = {pair.id: named.get(pair.id, pair.id) for pair in pairs}
        if not (matching := {own: theirs for own, theirs in found.items() if theirs in other.by_id}):
            raise BadData(
                f"None of these pairs has the id of one of {other.ref}. Say which are asked the same: `--same ID=ID`."
            )
        return matching


@dataclass(frozen=True, slots=True)
class DraftWork:
    """What is made, and where the work lies."""

    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of this work; given again, it is gone on with.", metavar="FOLDER"),
    ] = None
    kind: Annotated[
        Literal["variants", "calibration", "near-misses", "unanswered"], typer.Option("--kind", help="What is written.")
    ] = "variants"
    keep_out: Annotated[
        list[str] | None,
        typer.Option(
            "--keep-out",
            help="Nothing like the texts of a suite or file, which test what is learned; repeatable.",
            metavar="SUITE|FILE",
        ),
    ] = None
    plan: Annotated[bool, typer.Option("--plan", help="Say what it takes; ask nobody, write nothing.")] = False
    enough: Annotated[
        bool, typer.Option("--enough", help="Say whether more variants are worth it (trains four times).")
    ] = False
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Accuracy with 0, 5, 10, … all variants a pair, asked by `--voices` (held out)."),
    ] = False


@dataclass(frozen=True, slots=True)
class NearMissWork(DraftWork):
    """The same, for near misses unless another kind is named."""

    kind: Annotated[
        Literal["variants", "calibration", "near-misses", "unanswered"], typer.Option("--kind", help="What is written.")
    ] = "near-misses"


def spoken_of(catalog: Catalog, unnamed: str) -> str:
    """Return how a prompt speaks of a catalog's exam."""
    exam = load_exam(catalog.path.parent)
    said = exam.phrases.get(catalog.language, {}).get("about") if exam is not None else None
    return said or Template(unnamed).safe_substitute(name=catalog.name)


def variants(source: VariantSource, work: DraftWork, asking: options.ModelOptions, json_: options.Json = False) -> None:
    """Have a model write how patients ask, in many voices; other calls check blind; a curator decides."""
    if source.borrow_from is None and not source.same:
        _draft(source, work, asking, json_=json_)
    else:
        _borrow(source, work, asking, json_=json_)


def near_misses(
    source: DraftSource, work: NearMissWork, asking: options.ModelOptions, json_: options.Json = False
) -> None:
    """Have other voices write what sounds like a pair's question and no pair answers; as `variants` otherwise."""
    with friendly_errors():
        if work.kind not in HALVES:
            raise BadData(
                f"`author near-misses` writes {' or '.join(HALVES)}. Use `author variants --kind {work.kind}`."
            )
    _draft(source, work, asking, json_=json_)


def _draft(source: DraftSource, work: DraftWork, asking: options.ModelOptions, *, json_: bool) -> None:
    with friendly_errors():
        catalog = source.content()
        if work.enough:
            _show_enough(catalog, source.encoder, json_=json_)
            return
        if work.curve:
            names = options.ids_of(source.voices) if source.voices else ()
            _show_curve(catalog, source.encoder, names, json_=json_)
            return
        drafting = source.drafting(work.kind, catalog)
        if work.plan:
            _show_plan(drafting, asking, json_=json_)
            return
        folder = _folder_of(work, identity := drafting.identity(source.encoder))
        mixing = [voice.id for voice in drafting.voices if voice.mixed_with]
        sieve = _sieve_of(folder, work, drafting.prompting, mixing, json_=json_)
        if asking.allow_short and not asking.live:
            drafting = drafting.without_unanswered({**folder.answers(), **read_answers(asking.answers or [])})
            if not drafting.drafts():
                raise BadData(f"Nothing is drafted in {work.out} yet: there is nothing to go on with.")
        made = _finished(folder, identity, lambda: drafting.all(sieve), asking)
        skipped = len(drafting.skipped)
        if skipped and not json_:
            print(f"Done without {counted(skipped, 'prompt')} that nobody answered.")
        _show_made(made, folder.path, catalog, json_=json_)


def _borrow(source: VariantSource, work: DraftWork, asking: options.ModelOptions, *, json_: bool) -> None:
    """Take variants of another catalog, and have them sifted and checked as drafts are."""
    from harness.authoring.variants.voices import load_voices, voices_file

    with friendly_errors():
        if source.borrow_from is None:
            raise BadData("`--same` says which pairs are asked the same in another catalog. Name it: `--borrow-from`.")
        if work.enough or work.curve:
            raise BadData("`--enough` and `--curve` measure what a catalog has. Leave `--borrow-from` out.")
        catalog = source.content()
        borrowing = source.borrowing(work.kind, catalog)
        if work.plan or not json_:
            _show_borrowed(borrowing, source, catalog, json_=json_)
        if work.plan:
            return
        folder = _folder_of(work, identity := borrowing.identity())
        known = load_voices(source.lang, "variants") if voices_file(source.lang).is_file() else ()
        mixing = [voice.id for voice in known if voice.mixed_with]
        sieve = _sieve_of(folder, work, borrowing.prompting, mixing, json_=json_)
        made = _finished(folder, identity, lambda: borrowing.all(sieve), asking)
        _show_made(made, folder.path, catalog, json_=json_)


def _folder_of(work: DraftWork, identity: Mapping[str, str]) -> WorkFolder:
    from harness.authoring.workshop import NOTE

    if work.out is None:
        raise BadData("Say where the work shall lie: `--out FOLDER`; or see what it takes with `--plan`.")
    return WorkFolder.claim(work.out, identity, note=NOTE)


def _sieve_of(
    folder: WorkFolder, work: DraftWork, prompting: Prompting, mixing: Collection[str], *, json_: bool
) -> Sieve:
    """Return what rejects texts of a work; how much is kept out is said."""
    from harness.authoring.variants.sifting import Sieve
    from harness.authoring.variants.taken import taken_of, texts_to_keep_out
    from harness.commands.making import detector_of

    catalog = prompting.catalog
    kept_out = {name: texts_to_keep_out(name) for name in work.keep_out or ()}
    for name, texts in kept_out.items() if not json_ else ():
        print(f"Kept out: {counted(len(texts), 'text')} of {name}.")
    return Sieve(
        language=catalog.language,
        detector=detector_of(catalog.path.parent),
        mixing=frozenset(mixing),
        personal_in=_personal_in(catalog.language),
        examples=prompting.texts.examples,
        taken=taken_of(folder.path, catalog, kept_out),
    )


def _finished(
    folder: WorkFolder, identity: Mapping[str, str], begin: Callable[[], Work[Made]], asking: options.ModelOptions
) -> Made:
    """Go on with a work to its end, and write what a curator decides on."""
    from harness.authoring.variants.queue import write_queue
    from harness.authoring.workshop import Workshop

    made = carry_on(Workshop.open(folder.path, identity, begin), asking).result
    if made is None:
        raise ValueError("a work that waits for nothing has a result")
    write_queue(folder.path, made.queued)
    return made


def _personal_in(language: str) -> PersonalIn:
    """Return what finds names, numbers, dates of birth and addresses; names only where there are lists of names."""
    from bot.curation.patterns import spans
    from bot.curation.people import people_finder

    known = language if language in LANGUAGES_WITH_NAMES else "en"
    finder = people_finder(language) if language in LANGUAGES_WITH_NAMES else None

    def personal_in(text: str) -> list[str]:
        # A day without a year tells of nobody: "my appointment is on the 3rd of June".
        kinds = [
            kind
            for kind, start, end in spans(text, known)
            if kind in PERSONAL or (kind == "date" and DATE_WITH_YEAR.search(text[start:end]))
        ]
        return [*kinds, *("name" for _ in (finder.find(text) if finder is not None else ()))]

    return personal_in


def _show_borrowed(borrowing: Borrowing, source: DraftSource, catalog: Catalog, *, json_: bool) -> None:
    """Show what can be borrowed, and what is left out and why."""
    from harness.authoring.variants.borrowing import WHY
    from harness.authoring.variants.plan import BATCH

    found, matching, most = borrowing.borrowed, borrowing.matching, borrowing.prompting.count
    a_pair = Counter(draft.pair for draft in found.drafts)
    checks = ceil(sum(min(most, number) for number in a_pair.values()) / BATCH)
    if json_:
        numbers = {"variants": found.looked_at, "borrowed": len(found.drafts), "renamed": found.renamed}
        print_json({**numbers, "left_out": found.left_out, "pairs": matching, "checks": checks})
        return
    console = plain_console(soft_wrap=True)
    console.print(
        f"{counted(len(matching), 'pair')} of {found.source}: {len(found.drafts)} of {found.looked_at} variants can be "
        f"borrowed, {found.renamed} of them with a name replaced; at most {most} a pair, and "
        f"{counted(checks, 'blind check')}. Left out:"
    )
    for why, number in found.left_out.items():
        console.print(f"  {number} {WHY[why]}")
    if not source.pairs and (without := [pair.id for pair in catalog.pairs if pair.id not in matching]):
        console.print(f"No pair there has the id of {', '.join(without)}; `--same ID=ID` says which is asked the same.")
    if poor := sum(len(pair.variants) < most for pair in catalog.pairs if pair.id not in matching):
        # Measured: docs/content.md, "Borrow what every exam is asked".
        console.print(
            f"Pairs that borrow none and have fewer than {most}: {poor}. They lose: have theirs written, too."
        )


def _show_made(made: Made, folder: Path, catalog: Catalog, *, json_: bool) -> None:
    from harness.authoring.variants.queue import MEANING, Queue
    from harness.authoring.variants.sifting import counted_reasons

    queue = Queue.of(folder)
    verdicts, reasons = Counter(text.verdict for text in queue.texts), counted_reasons(made.dropped)
    if json_:
        beyond = {"beyond": made.beyond} if made.beyond else {}
        print_json({"drafted": made.drafted, "dropped": reasons, **beyond, "check": verdicts, "queue": queue.counts()})
        return
    console = plain_console(soft_wrap=True)
    came = "borrowed" if any(text.source for text in queue.texts) else "drafted"
    console.print(f"{counted(made.drafted, 'text')} {came}, {counted(len(made.dropped), 'text')} rejected:")
    for reason, number in reasons.items():
        console.print(f"  {number} {reason}")
    if made.beyond:
        console.print(f"{counted(made.beyond, 'text')} more than a pair takes (`--per-pair`).")
    said = ", ".join(f"{verdicts[verdict]} {meaning}" for verdict, meaning in MEANING.items() if verdicts[verdict])
    console.print(f"{counted(len(queue.texts), 'text')} to decide on. The blind check: {said or 'nothing to check'}.")
    for voice in dict.fromkeys(text.voice for text in queue.texts):
        own = [text.verdict == "agreed" for text in queue.texts if text.voice == voice]
        if len(own) >= FEWEST_TO_TELL and sum(own) < HALF * len(own):
            console.print(f"With the voice {voice} it agrees in {sum(own)} of {len(own)} only: read its texts first.")
    console.print(f"Next: klartext author review --out {queue.folder} --catalog {catalog.path.parent}")


def _show_enough(catalog: Catalog, encoder: str, *, json_: bool) -> None:
    from harness.measuring.enough import MORE, TRAININGS, enough

    with progress_bar("trainings", TRAININGS) as advance:
        found = enough(catalog, make_encoder(encoder, Settings.from_environment()), advance)
    if json_:
        print_json({**asdict(found), "gain": found.gain, "enough": found.enough})
        return
    console = plain_console(soft_wrap=True)
    console.print(
        f"Held-out voices, {counted(found.asked, 'question')}: first candidate right in {found.now:.3f} with "
        f"{found.variants:.0f} variants a pair, in {found.half:.3f} with half of them."
    )
    console.print(f"{MORE} more a pair are expected to gain {100 * found.gain:.1f} points.")
    if found.enough:
        console.print(f"Below half a point: enough. What is easily confused: klartext qa lint {catalog.path.parent} -v")
    else:
        console.print("More voices are worth more than more texts of the same: add some with `--voices-file`.")


def _show_curve(catalog: Catalog, encoder: str, names: Sequence[str], *, json_: bool) -> None:
    from harness.measuring.enough import SIZES, curve

    with progress_bar("trainings", len(SIZES) + 1) as advance:
        found = curve(catalog, make_encoder(encoder, Settings.from_environment()), names, advance)
    if json_:
        points = [{"variants": round(variants, 1), "top1": top1} for variants, top1 in found.points]
        print_json({"held_out": found.held_out, "asked": found.asked, "points": points})
        return
    console = plain_console(soft_wrap=True)
    table = plain_table(f"{catalog.ref} ({catalog.language})", "variants a pair", "first candidate right")
    for variants, top1 in found.points:
        table.add_row(f"{variants:.0f}", f"{top1:.3f}")
    console.print(table)
    console.print(
        f"Asked: {counted(found.asked, 'question')} by {', '.join(found.held_out)}; the last line: all others."
    )


def _show_plan(drafting: Drafting, asking: options.ModelOptions, *, json_: bool) -> None:
    from harness.authoring.variants.plan import load_curve, planned
    from harness.llm.prices import load_prices

    prompting, prices, curve = drafting.prompting, load_prices(asking.prices), load_curve()
    model = asking.written_for
    plan = planned(
        drafting.drafts(),
        prompting.check(()),
        count=prompting.count,
        pairs=len(drafting.pairs),
        price=prices.of(model),
    )
    have = sum(len(pair.variants) for pair in drafting.pairs) / max(1, len(drafting.pairs))
    expected = {round(size, 1): curve.at(size) for size in (have, have + plan.a_pair)}
    if json_:
        print_json({**plan.as_json(), "model": model, "currency": prices.currency, "expected": expected})
        return
    console = plain_console(soft_wrap=True)
    console.print(
        f"{counted(len(drafting.pairs), 'pair')}, {counted(len(drafting.voices), 'voice')}: "
        f"{counted(plan.drafts, 'prompt')} for {plan.texts} texts ({plan.a_pair:.0f} a pair), "
        f"and {counted(plan.checks, 'blind check')}."
    )
    tokens = f"About {plan.usage.input_tokens:,} tokens in and {plan.usage.output_tokens:,} out"
    if plan.cost is None:
        console.print(f"{tokens}; the price table has no price for {model} (`--prices`).")
    else:
        console.print(f"{tokens}: {money(plan.cost, prices.currency)} with {model}.")
    if prompting.kind == "variants":
        (before, now), (after, then) = expected.items()
        console.print(
            f"Questions of unseen voices whose first candidate is right, to expect: {now:.2f} with {before:.0f} "
            f"variants a pair, {then:.2f} with {after:.0f}. Measured on {curve.measured}; not all texts are accepted."
        )
