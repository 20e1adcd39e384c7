"""A small transformer encoder, fine-tuned on CPU as an evaluator: the way of seed paper 002.

Each hypothesis is read together with the text, cut at `MOST_TOKENS`, by an encoder with one linear layer on top. The
folder of any BERT-like encoder will do, also that of a sentence-transformers model; the extra of that name is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from bot import BadData, usable_cores
from harness.authoring.ranking.evaluators import Case, Floats, Solver, hypotheses

MOST_TOKENS = 256  # the paper: 512; twice the time on CPU, and answers here have 100 to 250
EPOCHS, BATCH, RATE = 4, 16, 5e-5


@dataclass(frozen=True)
class TransformerEvaluator:
    """Fine-tunes a copy of an encoder for each task and kind of text.

    Attributes:
        folder: Where the encoder lies; nothing is downloaded.
        epochs: How often the cases are read.
        rate: Learning rate.
    """

    folder: Path
    epochs: int = EPOCHS
    rate: float = RATE

    @property
    def name(self) -> str:
        return f"transformer ({self.folder.name})"

    def fit(self, cases: Sequence[Case], *, seed: int) -> Solver:
        """Fine-tune; raise BadData when there is no encoder in the folder."""
        torch.manual_seed(seed)
        torch.set_num_threads(usable_cores())
        try:
            tokenizer: Any = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
            encoder: Any = AutoModel.from_pretrained(self.folder, local_files_only=True)
        except (OSError, ValueError) as error:
            raise BadData(
                f"{self.folder} holds no transformer encoder ({type(error).__name__}). Give the folder of a downloaded "
                "model: `--evaluator transformer:FOLDER`."
            ) from error
        labels = 1 if cases[0].item.task == "quiz" else len(cases[0].item.options)
        solver = _FineTuned(tokenizer, encoder, torch.nn.Linear(encoder.config.hidden_size, labels))
        optimizer = torch.optim.AdamW(
            [*encoder.parameters(), *solver.head.parameters()], lr=self.rate, weight_decay=0.01
        )
        order = np.random.default_rng(seed)
        encoder.train()
        for _ in range(self.epochs):
            for start in range(0, len(cases), BATCH):
                if not start:
                    shuffled = [cases[number] for number in order.permutation(len(cases))]
                batch = shuffled[start : start + BATCH]
                loss = torch.stack(
                    [
                        torch.nn.functional.cross_entropy(scores[None, :], torch.tensor([case.item.right]))
                        for scores, case in zip(solver.scores(batch), batch, strict=True)
                    ]
                ).mean()
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
        encoder.eval()
        return solver


@dataclass(frozen=True)
class _FineTuned:
    tokenizer: Any
    encoder: Any
    head: torch.nn.Linear

    def scores(self, cases: Sequence[Case]) -> list[torch.Tensor]:
        """Return the logits of each case's options."""
        pairs = [(text, case.text) for case in cases for text in hypotheses(case.item)]
        firsts, seconds = [one for one, _ in pairs], [two for _, two in pairs]
        tokens = self.tokenizer(
            firsts, seconds, truncation="longest_first", max_length=MOST_TOKENS, padding=True, return_tensors="pt"
        )
        logits = self.head(self.encoder(**tokens).last_hidden_state[:, 0])
        found, at = [], 0
        for case in cases:
            if case.item.task == "quiz":
                found.append(logits[at : at + len(case.item.options), 0])
                at += len(case.item.options)
            else:
                found.append(logits[at])
                at += 1
        return found

    def probabilities(self, cases: Sequence[Case]) -> list[Floats]:
        answers: list[Floats] = []
        with torch.no_grad():
            for start in range(0, len(cases), BATCH):
                for scores in self.scores(cases[start : start + BATCH]):
                    answers.append(np.asarray(torch.softmax(scores, dim=0).double().numpy()))
        return answers
