"""What reading a reply depends on: the question, the words of its language and the day. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from bot.interview.reading.reading import Asked
from bot.interview.reading.tokens import Reply, cut
from bot.interview.reading.vocabulary import Words


@dataclass(frozen=True, slots=True)
class Context:
    """A question, as the readers of replies take it."""

    asked: Asked
    words: Words
    today: date
    prompt: Reply  # the pieces of the question as it was put

    @classmethod
    def of(cls, asked: Asked, words: Words, today: date) -> Context:
        """Return the context of a question."""
        return cls(asked, words, today, cut(asked.prompt, words.fold))

    @property
    def prompt_words(self) -> frozenset[str]:
        """The folded words of the question."""
        return frozenset(self.prompt.names)

    @property
    def asks_age(self) -> bool:
        """Tell whether the question asks for an age in years."""
        return bool(self.prompt_words & self.words.numbers.age)

    @property
    def asks_since_when(self) -> bool:
        """Tell whether the question asks since when, so that a length of time says it: "drei Wochen"."""
        return bool(self.prompt_words & self.words.dates.since)

    @property
    def month_first(self) -> bool:
        """Tell whether 3/4/1975 is 4 March: by the entry format, else by the language."""
        shown = self.asked.entry_format.strip().lower()
        return shown.startswith("m") or (self.words.dates.month_first and not shown.startswith(("d", "t")))

    def with_harmless(self, more: frozenset[str]) -> Context:
        """Return the same, with words that change nothing around a value of this question."""
        around = self.words.around
        return replace(self, words=replace(self.words, around=replace(around, harmless=around.harmless | more)))

    def with_echo(self) -> Context:
        """Return the same, with those words harmless that only echo the question: "3 Kinder"."""
        words, asked = self.words, self.prompt_words
        years = {word for word, span in words.dates.spans.items() if span == "a"} if self.asks_age else set()
        negators = {phrase[0] for phrase in words.agreement.negators.all}
        extra = asked - negators - words.around.date_limits | years
        extra |= words.numbers.pads if self.asked.type in ("integer", "decimal") else set()
        return self.with_harmless(extra) if extra else self
