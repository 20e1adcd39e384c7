"""Ask a language model: one small entry for everything in the harness that needs answers.

    with open_model(Settings.from_environment(), ModelCall("gpt-4o-mini"), Terms(store=Path("answers.db"))) as model:
        for completion in model.complete([Request("a", messages), Request("b", messages, sample=1)]):
            print(completion.id, completion.problem or completion.text)

`complete` is synchronous; inside, up to `ModelCall.parallel` requests are under way at once, faults that may pass are
tried again, answers are kept before they are handed out and never asked for twice, and a budget holds. Completions come
in the order in which they arrive, so look at their ids. What concerns one request only is its `problem`; what would
befall every further request is raised when everything that was under way has been handed out. Tests of callers need no
endpoint: `Model` is a Protocol. `scores` reads scores out of what a critic or a judge wrote. Imports no room.
"""

from harness.llm.budget import BudgetReached
from harness.llm.contract import Completion, Message, Model, ModelCall, Request, Terms, Usage
from harness.llm.opening import MissingRecord, open_model

__all__ = [
    "BudgetReached",
    "Completion",
    "Message",
    "MissingRecord",
    "Model",
    "ModelCall",
    "Request",
    "Terms",
    "Usage",
    "open_model",
]
