"""Single pairs of a language file change, and nothing else does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import date

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bot.catalog.catalog import CountryText, Extract, Loader, Pair, Review, Source, Variant, pair_from
from bot.catalog.edge import Author
from bot.catalog.quiz import Quiz
from bot.catalog.yaml_edit import ORDER, edit_pairs
from bot.errors import BadData
from bot.resources import data_folder

FILE = """\
# A catalog of the house. Ask Dr. A before you change it.
catalog: house
language: de
version: "3"   # counted by hand
pairs:
  # --- on the day ---
  - id: parking   # was: car-park
    question: 'Wo kann ich parken?'
    answer: >-   # agreed with the porter
      Das Parkhaus liegt hinter dem
      Haupteingang.

    words_target: 20  # short is enough
    review: {status: approved, by: Dr. A, on: 2026-01-02}
    # what people call it
    variants:
      - parkplatz?
      # from the telephone
      - {text: "wo stell ich mein auto ab", by: {kind: person}}
      - Gibt es ein
        Parkhaus?

  - id: arrival
    question: Wann soll ich da sein?
    answer: |
      15 Minuten vorher.
    sources:
    - title: Leitfaden
      publisher: "Haus: Radiologie"   # the second edition
      year: 2024
    - {title: Plan, publisher: Haus, year: 2025}
    variants: [wie früh, "wann kommen"]
  # the end of the list
"""


def pairs_of(text: str) -> dict[str, Pair]:
    return {raw["id"]: pair_from(raw) for raw in yaml.load(text, Loader=Loader)["pairs"]}


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return which lines went and which came, beside the common beginning and end."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


def edited(pair_id: str, text: str = FILE, **values: object) -> str:
    return edit_pairs(text, changed=[pairs_of(text)[pair_id].model_copy(update=values)])


def test_every_field_of_a_pair_has_its_place() -> None:
    assert set(ORDER) == set(Pair.model_fields)


@pytest.mark.parametrize("text", [FILE, FILE.replace("\n", "\r\n"), "\ufeff" + FILE, FILE.rstrip("\n")])
def test_what_does_not_change_stays_byte_for_byte(text: str) -> None:
    assert edit_pairs(text, changed=list(pairs_of(text).values())) == text
    assert edit_pairs(text, changed=[]) == text


def test_a_changed_field_changes_its_lines_only_and_keeps_the_comment_beside_it() -> None:
    assert changed_lines(FILE, edited("parking", words_target=30)) == (
        ["    words_target: 20  # short is enough"],
        ["    words_target: 30  # short is enough"],
    )
    assert changed_lines(FILE, edited("parking", answer="Hinter dem Haus.")) == (
        ["    answer: >-   # agreed with the porter", "      Das Parkhaus liegt hinter dem", "      Haupteingang."],
        ['    answer: "Hinter dem Haus."  # agreed with the porter'],
    )


def test_a_changed_variant_leaves_the_others_and_their_comments() -> None:
    pair = pairs_of(FILE)["parking"]
    first, second, third = pair.variants

    after = edited("parking", variants=(first, second, Variant(text="Parkhaus?"), Variant(text="no")))
    assert changed_lines(FILE, after) == (
        ["      - Gibt es ein", "        Parkhaus?"],
        ['      - "Parkhaus?"', '      - "no"'],
    )
    assert changed_lines(FILE, edited("parking", variants=(first, third))) == (
        ['      - {text: "wo stell ich mein auto ab", by: {kind: person}}'],
        [],
    )
    assert changed_lines(FILE, edited("parking", variants=(Variant(text="neu"), *pair.variants))) == (
        [],
        ['      - "neu"'],
    )


def test_a_field_that_was_not_there_comes_in_the_usual_place_and_one_that_goes_takes_its_lines() -> None:
    assert changed_lines(FILE, edited("arrival", easy_answer="Kommen Sie früh.")) == (
        [],
        ['    easy_answer: "Kommen Sie früh."'],
    )
    assert changed_lines(FILE, edited("parking", words_target=None)) == (
        ["    words_target: 20  # short is enough"],
        [],
    )
    assert changed_lines(FILE, edited("parking", variants=()))[1] == []


def test_a_new_pair_comes_last_as_the_others_are_written_and_a_removed_one_leaves_the_comments() -> None:
    new = Pair(id="lift", question="Gibt es einen Aufzug?", answer="Ja.", review=Review(), related=("parking", "on"))

    after = edit_pairs(FILE, changed=[new], removed=["parking"])

    assert pairs_of(after) == {"arrival": pairs_of(FILE)["arrival"], "lift": new}
    assert after.endswith(
        '    variants: [wie früh, "wann kommen"]\n\n'
        '  - id: lift\n    question: "Gibt es einen Aufzug?"\n    answer: "Ja."\n    review: {status: draft}\n'
        '    related: [parking, "on"]\n  # the end of the list\n'
    )
    assert "# --- on the day ---" in after


def test_all_pairs_may_be_replaced_by_others() -> None:
    new = Pair(id="lift", question="Aufzug?", answer="Ja.")

    assert pairs_of(edit_pairs(FILE, changed=[new], removed=["parking", "arrival"])) == {"lift": new}


@pytest.mark.parametrize(
    ("text", "changed", "removed", "message"),
    [
        (FILE, [], ["absent"], "no pair 'absent' to remove"),
        (FILE, [], ["parking", "arrival"], "No pair would be left"),
        (FILE, ["parking", "parking"], [], "'parking' is to be changed or removed twice"),
        (FILE, ["parking"], ["parking"], "'parking' is to be changed or removed twice"),
        ("pairs:\n  - id: [", ["parking"], [], r"not valid YAML"),
        ("- a\n", ["parking"], [], "no language file"),
        ("pairs: [{id: a}]", ["parking"], [], "stand in brackets"),
        ("pairs:\n  - {id: a}\n", ["a"], [], "'a' in the file breaks the schema"),
        ("pairs:\n  - &a {id: a}\n  - *a\n", ["a"], [], "uses YAML aliases"),
        ("catalog: x\n", ["parking"], [], "it has no pairs"),
    ],
)
def test_what_cannot_be_done_is_refused(text: str, changed: list[str], removed: list[str], message: str) -> None:
    pairs = [Pair(id=each, question="Q?", answer="A.") for each in changed]

    with pytest.raises(BadData, match=message):
        edit_pairs(text, changed=pairs, removed=removed)


def test_a_pair_in_brackets_is_written_anew_and_the_others_stay() -> None:
    text = "pairs:\n- {id: a, question: 'Q?', answer: 'A.'} # one\n- {id: b, question: 'Q?', answer: 'B.'}\n"

    after = edit_pairs(text, changed=[Pair(id="a", question="Q?", answer="C.")])

    assert pairs_of(after)["a"].answer == "C."
    assert after.endswith("- {id: b, question: 'Q?', answer: 'B.'}\n")


@pytest.mark.proof
@pytest.mark.parametrize("language", ["de", "en"])
def test_one_pair_of_the_shipped_catalog_changes_within_two_seconds_and_no_other_line(language: str) -> None:
    text = (data_folder("qa_pairs") / "mammography" / f"{language}.yaml").read_text(encoding="utf-8")
    assert edit_pairs(text, changed=[]) == text
    before = pairs_of(text)
    pair = list(before.values())[len(before) // 2]
    new = pair.model_copy(update={"answer": f"{pair.answer} Fragen Sie uns.", "variants": pair.variants[1:]})

    start = time.perf_counter()
    after = edit_pairs(text, changed=[new])
    took = time.perf_counter() - start

    first = after.index(f"- id: {pair.id}\n")
    lines = "  " + after[first : after.index("\n  - id: ", first)]
    assert pair_from(yaml.load(lines, Loader=Loader)[0]) == new
    old, came = changed_lines(text, after)
    assert set(old) - set(came) <= set(text[first:].splitlines()[:300])
    assert len(set(came) - set(old)) <= 15  # the answer's lines
    assert took < 2


# --- any pairs, any change --------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=60).filter(str.strip)
LONG = st.lists(st.sampled_from(["Bitte", "kommen", "Sie", "#früh", "- an", "a: b", "'", '"x"', "💡"]), min_size=1).map(
    " ".join
)
AUTHORS = st.none() | st.builds(
    Author, kind=st.sampled_from(["person", "model"]), profile=st.none() | st.sampled_from(["on", "slips", "a b"])
)
VARIANTS = st.builds(Variant, text=TEXTS, facet=st.none() | st.just("no"), by=AUTHORS)
SOURCES = st.builds(
    Source,
    title=TEXTS,
    publisher=TEXTS,
    year=st.integers(1950, 2100),
    url=st.none() | st.just("https://example.org/#a"),
    checked=st.none() | st.dates(date(2000, 1, 1), date(2030, 1, 1)),
)
EXTRACTS = st.builds(Extract, facet=TEXTS, text=TEXTS | LONG)
QUIZZES = st.builds(
    Quiz,
    topic=st.none() | TEXTS,
    context=st.none() | TEXTS,
    question=TEXTS,
    answer=TEXTS.map("ja {}".format),
    distractors=st.tuples(TEXTS.map("nein {}".format), st.just("no: never")) | st.tuples(st.just("yes")),
    by=AUTHORS,
)
COUNTRY = st.builds(
    CountryText, answer=TEXTS | LONG, short_answer=st.none() | TEXTS, extracts=st.lists(EXTRACTS, max_size=2).map(tuple)
)


def a_pair(pair_id: str) -> st.SearchStrategy[Pair]:
    return st.builds(
        Pair,
        id=st.just(pair_id),
        question=TEXTS,
        answer=TEXTS | LONG,
        easy_answer=st.none() | LONG,
        words_target=st.none() | st.integers(10, 400),
        facets=st.lists(TEXTS, max_size=3).map(tuple),
        variants=st.lists(VARIANTS, max_size=5).map(tuple),
        sources=st.lists(SOURCES, max_size=2).map(tuple),
        extracts=st.lists(EXTRACTS, max_size=2).map(tuple),
        countries=st.dictionaries(st.sampled_from(["AT", "CH", "DE"]), COUNTRY, max_size=2),
        quizzes=st.lists(QUIZZES, max_size=2).map(tuple),
        review=st.builds(Review, status=st.sampled_from(["draft", "approved"]), by=st.none() | TEXTS),
    )


def written(pairs: Mapping[str, Pair], *, comments: bool) -> str:
    """Return a file by another writer than ours, with comments between the pairs."""
    document = {"catalog": "x", "language": "de", "version": "1"}
    text = yaml.safe_dump(document) + "pairs:\n"
    for pair in pairs.values():
        raw = pair.model_dump(mode="json", exclude_defaults=True)
        block = yaml.safe_dump([raw], allow_unicode=True, sort_keys=False, width=60)
        text += (f"# before {pair.id}\n" if comments else "") + block
    return text + ("# after\n" if comments else "")


@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(old=st.tuples(a_pair("a"), a_pair("b"), a_pair("c")), new=a_pair("b"), comments=st.booleans())
def test_any_change_of_a_pair_is_read_back_and_touches_its_lines_only(
    old: tuple[Pair, Pair, Pair], new: Pair, comments: bool
) -> None:
    text = written({pair.id: pair for pair in old}, comments=comments)
    old = pairs_of(text)["a"], pairs_of(text)["b"], pairs_of(text)["c"]  # the other writer loses some characters
    assert edit_pairs(text, changed=old) == text

    after = edit_pairs(text, changed=[new])

    assert pairs_of(after) == {"a": old[0], "b": new, "c": old[2]}
    head, tail = text[: text.index("- id: b\n")], text[text.index("- id: c\n") :]
    assert after.startswith(head)
    assert after.endswith(tail)
    # And back again: the same pairs.
    assert pairs_of(edit_pairs(after, changed=[old[1]])) == pairs_of(text)
    assert pairs_of(edit_pairs(after, changed=[], removed=["b"])) == {"a": old[0], "c": old[2]}
