"""A live model as judge."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bot import Settings
from harness.judging.judge_prompts import JudgePrompt
from harness.llm import ModelCall, Request, open_model
from harness.llm.generating import Keeping
from harness.options import progress_bar
from harness.recording import ModelAnswer


def answers_of(
    prompts: Sequence[JudgePrompt], call: ModelCall, keeping: Keeping, *, job: str
) -> dict[str, ModelAnswer]:
    """Ask every prompt and return the answers by prompt id; those already in the store are not asked again.

    Raises:
        UserFixable: The model cannot be asked, or the budget is reached; what was answered is in the store.
    """
    settings = Settings.from_environment()
    answers: dict[str, ModelAnswer] = {}
    with open_model(settings, call, keeping.terms(settings, job=job)) as model, progress_bar("prompts") as bar:
        task = bar.add_task("prompts", total=len(prompts))
        for completion in model.complete([Request(prompt.id, prompt.messages) for prompt in prompts]):
            answers[completion.id] = ModelAnswer(completion.id, completion.text, call.model, completion.problem)
            bar.advance(task)
        for line in model.notes:
            print(line, file=sys.stderr)
    return answers
