"""Answer prompts with a model, as lines of an OpenAI Batch output file, under a budget and from a store."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bot import BadData, Settings, Unreachable
from harness.console import counted, progress_bar
from harness.files import cut_unfinished, private_opener, writing
from harness.llm.batch_files import read_answers
from harness.llm.contract import Completion, Model, ModelCall, Request, StoreMode, Terms, key_of
from harness.llm.opening import open_model
from harness.llm.prices import Costs, PriceTable, add_up, in_words, load_prices, write_costs
from harness.patients.prompts import AGAIN

STORE = "answers.db"
ROUND_SAMPLES = 1_000  # more than how often a plan asks the very same prompt


class Askable(Protocol):
    """A prompt that a model may be asked.

    Attributes:
        id: Unique among what is asked together; asked once more, it ends in `AGAIN` and a number.
        messages: What the model sees.
        hash: Of the messages.
        labels: Whom the cost is attributed to.
        schema: JSON schema of the answer, for endpoints with structured output; None: no JSON is wanted.
    """

    @property
    def id(self) -> str: ...

    @property
    def messages(self) -> list[dict[str, str]]: ...

    @property
    def hash(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def schema(self) -> Mapping[str, Any] | None: ...


def requests_for(prompts: Sequence[Askable], *, structured: bool = False) -> list[Request]:
    """Return a request for each prompt; prompts with the same words are samples of one another."""
    seen: Counter[str] = Counter()
    requests = []
    for prompt in prompts:
        # Asked once more in the same words, another answer is wanted: not the one that is in the store.
        _, _, round_ = prompt.id.partition(AGAIN)
        anew = ROUND_SAMPLES * (int(round_) - 1) if round_ else 0
        schema = prompt.schema if structured else None
        requests.append(Request(prompt.id, prompt.messages, prompt.labels, schema, anew + seen[prompt.hash]))
        seen[prompt.hash] += 1
    return requests


def still_open(requests: Sequence[Request], call: ModelCall, out: Path) -> list[Request]:
    """Return the requests that `out` has no good answer to; a line that a kill left unfinished is cut off.

    Raises:
        BadData: Its answers are to other requests, or it cannot be written.
    """
    keys = {request.id: key_of(request, call) for request in requests}
    with writing(out, "Choose another folder with `--out`."), open(out, "ab+", opener=private_opener) as file:
        cut_unfinished(file)
    answers = {id_: answer for id_, answer in read_answers([out]).items() if not answer.problem}
    other = [id_ for id_, answer in answers.items() if answer.key and id_ in keys and answer.key != keys[id_]]
    if other:
        raise BadData(
            f"{out} holds {len(other)} answers to other requests, for example {other[0]}: model, temperature, seed or "
            "prompts have changed since. Give the same as then, or another `--out`, or remove the file."
        )
    return [request for request in requests if request.id not in answers]


def answer_into(
    out: Path, model: Model, requests: Sequence[Request], *, each: Callable[[Completion], None] = lambda _: None
) -> None:
    """Answer requests, appending Batch output lines to `out` as they come; `each` is told every one that is written.

    Raises:
        UserFixable: The model stopped (see `Model.complete`), or left requests without an answer; the rest is kept.
    """
    failed: list[Completion] = []
    # Half a surrogate pair, as in an answer that was cut off, becomes a JSON escape.
    with open(out, "a", encoding="utf-8", errors="backslashreplace", opener=private_opener) as file:
        for completion in model.complete(requests):
            file.write(json.dumps(_line(completion), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
            failed += [completion] if completion.problem else []
            each(completion)
    if failed:
        reasons = Counter(completion.problem for completion in failed)
        said = ", ".join(f"{reason}: {number}" for reason, number in reasons.most_common(5))
        raise Unreachable(
            f"{counted(len(failed), 'prompt')} without an answer ({said}), for example {failed[0].id}; {out} keeps the "
            "others. Run this again to ask for the missing ones, or make the suite without them: `--answers` and "
            "`--allow-short`."
        )


def kept_completions(
    requests: Sequence[Request], out: Path, call: ModelCall, prices: PriceTable, *, asked_now: Iterable[str]
) -> list[Completion]:
    """Return what `out` says of the requests, for their costs: also what was answered before this run."""
    answers, fresh, price = read_answers([out]), set(asked_now), prices.of(call.model)
    completions = []
    for request in requests:
        answer = answers.get(request.id)
        if answer is None or answer.problem:
            continue
        usage = answer.tokens(request.messages)
        cost = price.of(usage) if price else None
        replayed = request.id not in fresh
        completions.append(Completion(request.id, answer.content, usage=usage, cost=cost, replayed=replayed))
    return completions


def _line(completion: Completion) -> dict[str, Any]:
    """Return one Batch output line; `key` is ours, readers of Batch files ignore it."""
    line = {"id": completion.key[:16], "custom_id": completion.id, "key": completion.key}
    if completion.problem:
        return {**line, "response": None, "error": {"code": "no_answer", "message": completion.problem}}
    body = completion.response
    response = {"status_code": 200, "request_id": body.get("id"), "body": body}
    return {**line, "response": response, "error": None}


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
        mode: StoreMode = "replay" if self.replay else "record" if self.keep else "off"
        return Terms(mode, self.store or settings.data / STORE, self.prices, self.budget, job)


@dataclass
class Asking:
    """One command's questions to a model: several rounds, with one file of answers and one bill."""

    call: ModelCall
    keeping: Keeping
    out: Path
    structured: bool = False
    _requests: dict[str, Request] = field(default_factory=dict)
    _asked_now: list[str] = field(default_factory=list)
    _notes: dict[str, None] = field(default_factory=dict)

    def ask(self, prompts: Sequence[Askable]) -> None:
        """Answer prompts into the file; the costs of all rounds are written beside it, however this one ends."""
        settings = Settings.from_environment()
        terms = self.keeping.terms(settings, job=f"generate {self.out.absolute()}")
        requests = requests_for(prompts, structured=self.structured)
        with open_model(settings, self.call, terms) as model:
            todo = still_open(requests, self.call, self.out)
            self._requests.update((request.id, request) for request in requests)
            try:
                with progress_bar("prompts", len(prompts)) as advance:
                    advance(len(requests) - len(todo))

                    def note(completion: Completion) -> None:
                        advance()
                        if not completion.replayed:
                            self._asked_now.append(completion.id)

                    answer_into(self.out, model, todo, each=note)
            finally:
                self._notes.update(dict.fromkeys(model.notes))
                write_costs(self._costs(), self.out.with_name(f"{self._name}.costs.json"))

    @property
    def _name(self) -> str:
        return self.out.name.removesuffix(".answers.jsonl")

    def _costs(self) -> Costs:
        prices, requests = load_prices(self.keeping.prices), list(self._requests.values())
        completions = kept_completions(requests, self.out, self.call, prices, asked_now=self._asked_now)
        return add_up(prices.currency, requests, completions)

    def tell(self) -> None:
        """Print what all rounds cost, and what people must know of the answers; nothing when nobody was asked."""
        if self._requests:
            print(in_words(self._costs()))
        for line in self._notes:
            print(line, file=sys.stderr)
