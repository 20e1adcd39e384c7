"""`klartext harness generate`: prompts become answers beside the suite, under a budget and from a store."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot import BadData, Settings
from harness.llm.answers import answer_into, kept_completions, requests_for, still_open
from harness.llm.contract import Completion, Mode, ModelCall, Request, Terms
from harness.llm.costs import add_up, in_words, write_costs
from harness.llm.opening import open_model
from harness.llm.prices import load_prices
from harness.options import progress_bar
from harness.prompts import Prompt

STORE = "answers.db"


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the options say of store and money.

    Attributes:
        replay: Only from the store.
        keep: Whether there is a store.
        store: Its file; default: in the data folder.
        prices: Price table; default: the shipped one.
        budget: Most to spend.
    """

    replay: bool = False
    keep: bool = True
    store: Path | None = None
    prices: Path | None = None
    budget: float | None = None

    def terms(self, settings: Settings, *, job: str) -> Terms:
        """Return the terms; raise BadData when the options contradict one another."""
        if self.replay and not self.keep:
            raise BadData("A replay needs the store. Leave out `--no-store`.")
        mode: Mode = "replay" if self.replay else "record" if self.keep else "off"
        return Terms(mode, self.store or settings.data / STORE, self.prices, self.budget, job)


def answer_with_model(
    prompts: Sequence[Prompt], call: ModelCall, keeping: Keeping, out: Path, *, structured: bool
) -> None:
    """Answer prompts into `out`; say what it cost, and write the costs beside it, however it ends."""
    settings = Settings.from_environment()
    terms = keeping.terms(settings, job=f"generate {out.absolute()}")
    requests = requests_for(prompts, structured=structured)
    asked_now: list[str] = []

    with open_model(settings, call, terms) as model, progress_bar("prompts") as bar:
        task = bar.add_task("prompts", total=len(prompts))

        def note(completion: Completion) -> None:
            bar.advance(task)
            if not completion.replayed:
                asked_now.append(completion.id)

        todo = still_open(requests, call, out)
        bar.advance(task, len(requests) - len(todo))
        try:
            answer_into(out, model, todo, each=note)
        finally:
            bar.stop()
            _account(requests, call, terms, out, asked_now)
            for line in model.notes:
                print(line, file=sys.stderr)


def _account(requests: Sequence[Request], call: ModelCall, terms: Terms, out: Path, asked_now: Sequence[str]) -> None:
    prices = load_prices(terms.prices)
    completions = kept_completions(requests, out, call, prices, asked_now=asked_now)
    costs = add_up(prices.currency, requests, completions)
    write_costs(costs, out.with_name(out.name.removesuffix(".answers.jsonl") + ".costs.json"))
    print(in_words(costs))
