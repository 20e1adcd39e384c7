"""What the alarm hears in texts of a catalog, and in those that are about to enter it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from bot import wiring
from bot.catalog.catalog import language_files, read_catalog
from bot.catalog.checked import Checked
from bot.errors import BadData, Finding
from bot.matching.emergency import Lookout, decision_of
from bot.matching.red_flags import RedFlags, digest, load_red_flags
from bot.settings import Settings
from bot.text import seen


@dataclass(frozen=True)
class Ear:
    """Hears emergencies in texts as the chat does.

    Attributes:
        rules: Of the language; None where nobody wrote any.
        lookout: Hears what no rule foresaw, too; None where the catalog has not been trained here.
        name: Stands for what it has learned.
    """

    rules: RedFlags | None
    lookout: Lookout | None = None
    name: str = ""

    @classmethod
    def by_rules(cls, language: str) -> Ear:
        """Return what hears by rule alone: at once, and the same everywhere."""
        try:
            return cls(load_red_flags(language), name=digest(language))
        except BadData:
            return cls(None)

    @classmethod
    def of(cls, folder: Path, language: str, settings: Settings) -> Ear:
        """Return what hears by rule, and by the alarm of a catalog that has been trained here as it is now.

        Another catalog's alarm has learned other everyday questions: what it hears says little of this one.
        """
        ear = cls.by_rules(language)
        if ear.rules is None or not settings.data.is_dir():
            return ear
        encoder, showing = wiring.make_encoder("embedded", settings), wiring.Showing(sample=True, today=date.today())
        opened = wiring.open_language(folder, language, encoder, settings, showing)
        if not opened.is_trained():
            return ear
        lookout = Lookout(ear.rules, opened.trained.alarm, encoder, decision_of(language))
        return cls(ear.rules, lookout, f"{ear.name} {opened.catalog.content_hash}")

    def emergencies(self, texts: Sequence[str]) -> list[str]:
        """Return for each text what it is heard as, with the words that say so; empty where nothing is heard."""
        if self.rules is None:
            return [""] * len(texts)
        if self.lookout is not None:
            verdicts = self.lookout.judge([seen(text) for text in texts])
            return [f"{each.flag}: {each.evidence}" if each.flag else "" for each in verdicts]
        return [
            next((f"{sign.flag}: {sign.words}" for sign in self.rules.signs(seen(text)) if sign.firm), "")
            for text in texts
        ]


def emergencies_among_variants(folder: Path) -> list[Finding]:
    """Return which variants of a catalog raise an alarm by rule: nobody who writes them is ever answered by the pair.

    One warning a language, and a note for each: some are false alarms, and whoever asks so is told of them here.
    """
    findings: list[Finding] = []
    for language in language_files(folder):
        read, rules = read_catalog(folder, language, []), Ear.by_rules(language).rules
        if read is None or rules is None:
            continue  # `lint` says why a file cannot be read
        checked = Checked(*read)
        heard = [
            checked.found(
                pair,
                ("pairs", number, "variants", place),
                f"The variant {variant.text!r} raises the alarm ({flag}).",
                "Drop it where it is an emergency; else ask that the rules be mended.",
                "emergency",
                "info",
                code="emergency",
            )
            for number, pair in enumerate(checked.catalog.pairs)
            for place, variant in enumerate(pair.variants)
            if (flag := rules.plain_flag(seen(variant.text))) is not None
        ]
        if heard:
            total = sum(len(pair.variants) for pair in checked.catalog.pairs)
            problem = f"{len(heard)} of {total} variants raise the alarm, the first in line {heard[0].line}."
            remedy = "Who writes them gets the emergency answer, never the pair's. Read them: `--verbose` lists them."
            findings.append(Finding(checked.path, 0, "", problem, remedy, "warning", "emergency"))
        findings += heard
    return findings
