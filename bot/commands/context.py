"""What `klartext qa context` gathers: dialogues and calibration questions, with what each message comes to alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bot.assistant import Assistant
from bot.matching.context import Context
from bot.matching.context_fit import Corpus, Outcome, alone_after_others, follow_ups, gather, read_dialogues
from bot.matching.context_report import Study, study_context
from bot.talk.messages import short_reaction, small_talk


def studied(assistant: Assistant, folder: Path) -> Study:
    """Fit on the dialogues of a catalog, and judge authors left out.

    Raises:
        BadData: A language has no dialogues, or too few authors.
    """
    corpora, contexts = [], []
    for language in assistant.languages:
        context = assistant.context(language)
        corpora.append(_corpus(assistant, folder, language, context))
        contexts.append(context)
    catalogs = [assistant.catalog(language) for language in assistant.languages]
    return study_context(corpora, contexts, catalogs, assistant.encoder.name)


def _corpus(assistant: Assistant, folder: Path, language: str, context: Context) -> Corpus:
    catalog = assistant.catalog(language)
    ids = [pair.id for pair in catalog.pairs if pair.id in assistant.shown(language)]

    def ask(texts: Sequence[str]) -> list[Outcome]:
        responses = assistant.answer_all(texts, language)
        return [(each.decision, (each.pair_id,) if each.pair_id is not None else each.choices) for each in responses]

    rows = follow_ups(read_dialogues(folder / "dialogues" / f"{language}.tsv", ids), ask)
    rows += [
        row
        for row in alone_after_others(catalog, ids, ask, np.random.default_rng(0))
        if small_talk(row.said.text) is None and short_reaction(row.said.text) is None  # the chat hears those before
    ]
    return gather(catalog, context, assistant.encoder, rows, ids)
