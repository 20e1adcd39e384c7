"""Teach the learned alarm with few examples, where small catalogs are trained and none is judged by its alarm.

To encode all of them and to fit takes about twenty-five seconds of processor time for every language of a catalog.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot.matching.red_flags import Examples, load_examples

FEW = "TESTS_TEACH_FEW_ALARM_EXAMPLES"  # set in the environment of a command


def few_examples(language: str) -> Examples:
    """Return every fortieth example."""
    examples = load_examples(language)
    return Examples(examples.urgent[::40], examples.harmless[::40], ())


RemarkTexts = Callable[[str], tuple[tuple[str, str, str], ...]]


def few_of(texts: RemarkTexts) -> RemarkTexts:
    """Return what gives every twentieth text that remarks are learned from."""
    return lambda language: texts(language)[::20]


@contextmanager
def few_taught() -> Iterator[None]:
    """Teach alarm and remarks with few examples meanwhile, in this process."""
    import pytest  # commands that are taught few need none of it

    from bot.matching import remarks, training

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(training, "load_examples", few_examples)
        patched.setattr(training, "_known_examples", {})
        patched.setattr(remarks, "remark_texts", few_of(remarks.remark_texts))
        patched.setattr(remarks, "_known", {})
        yield


def teach_few_if_told() -> None:
    """In a process of its own: teach with few examples from now on if its environment says so."""
    if FEW in os.environ:
        from bot.matching import remarks, training  # which starts threads: not in what is forked

        vars(training)["load_examples"] = few_examples
        vars(remarks)["remark_texts"] = few_of(remarks.remark_texts)
