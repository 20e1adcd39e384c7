"""Long messages are cut into overlapping passages that together cover them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bot.text import LONGEST, passages

SENTENCES = st.lists(
    st.lists(st.sampled_from(["ja", "Arm", "schnell", "a", "und"]), min_size=1, max_size=60), max_size=12
)


def test_a_short_message_is_one_passage() -> None:
    assert passages("Er ist umgefallen. Er antwortet nicht.") == ("Er ist umgefallen. Er antwortet nicht.",)


def test_neighbouring_sentences_are_seen_together() -> None:
    story = "Wir waren gestern im Garten und haben bis zum Abend alle Beete umgegraben, das Wetter war ja so schön. "

    cut = passages(story + "Heute ist er umgefallen. Er antwortet nicht.")

    assert "Heute ist er umgefallen. Er antwortet nicht." in cut[-1]


def test_a_sentence_without_an_end_is_cut_with_overlap() -> None:
    words = [f"w{number}" for number in range(70)]

    cut = passages(" ".join(words))

    pairs = {pair for passage in cut for pair in pairwise(passage.split())}
    assert all(pair in pairs for pair in pairwise(words))


@given(SENTENCES)
def test_passages_are_short_and_cover_every_word(sentences: list[list[str]]) -> None:
    text = " ".join(" ".join(sentence) + "." for sentence in sentences)

    cut = passages(text)

    assert all(len(passage.split()) <= LONGEST for passage in cut)
    assert {word for passage in cut for word in passage.split()} == set(text.split())
