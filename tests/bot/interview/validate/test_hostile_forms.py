"""Whatever a Questionnaire holds, it is loaded or refused; nothing else happens."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.interview.form.support import UnsupportedQuestionnaire
from bot.interview.load import load_form
from bot.interview.walk.engine import Done, Engine
from tests.bot.interview.random_forms import Patient, questionnaires
from tests.bot.interview.resources import Json

junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**12)
    | st.text(max_size=5)
    | st.sampled_from(("i1", "group", "2020")),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(("item", "code", "linkId", "url")), inner)
    ),
    max_leaves=5,
)


def places(node: Any) -> list[tuple[Any, Any]]:
    """Return every (holder, key) in a JSON document."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    return [(node, key) for key in keys] + [place for key in keys for place in places(node[key])]


@pytest.mark.proof
@settings(max_examples=300)
@given(questionnaires(), st.lists(junk, min_size=1, max_size=4), st.integers(0, 2**32))
def test_a_spoilt_form_is_asked_to_its_end_or_refused(questionnaire: Json, spoilers: list[Any], seed: int) -> None:
    spoilt, random = deepcopy(questionnaire), Random(seed)
    for spoiler in spoilers:
        holder, key = random.choice(places(spoilt))
        holder[key] = spoiler

    try:
        engine = Engine(load_form(spoilt), now=datetime(2026, 11, 22, tzinfo=UTC))
    except UnsupportedQuestionnaire:
        return

    patient, filling = Patient(random, 5), engine.start()
    for _ in range(1000):
        step = engine.next(filling)
        if isinstance(step, Done):
            break
        filling = engine.apply(filling, patient.reply(engine, filling, step))
    assert isinstance(engine.next(filling), Done)
    engine.open_problems(filling)
