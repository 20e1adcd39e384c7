"""Times counted from the present: "vor drei Stunden", "half an hour ago". Never literal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from bot.interview.parsing.tokens import Token
from bot.interview.parsing.units import unit_at
from bot.interview.parsing.vocabulary import Words

MOST_HOURS = 240
_MINUTES = {"h": 60, "min": 1}


@dataclass(frozen=True, slots=True)
class Counted:
    """So many minutes from now (negative: ago), said by the tokens from `first` up to `end`."""

    first: int
    end: int
    minutes: int

    def moment(self, now: datetime) -> datetime:
        """Return the moment, to the minute."""
        return (now + timedelta(minutes=self.minutes)).replace(second=0, microsecond=0)


def counted_time(tokens: Sequence[Token], words: Words) -> Counted | None:
    """Return the only time in a reply that is counted in hours or minutes from the present."""
    names = words.dates
    for start, token in enumerate(tokens):
        opened = token.text in names.ago_before | names.ahead
        place = start + opened
        while place < len(tokens) and (tokens[place].text,) in words.around.approximate:
            place += 1
        end, minutes = _span(tokens, place, words)
        if minutes is None:
            continue
        closed = end < len(tokens) and tokens[end].text in names.ago_after
        if opened or closed:
            ahead = token.text in names.ahead and not closed
            return Counted(start, end + closed, minutes if ahead else -minutes)
    return None


def _span(tokens: Sequence[Token], start: int, words: Words) -> tuple[int, int | None]:
    """Return where "einer halben Stunde", "2 hours" or "anderthalb Stunden" ends, and its minutes."""
    place, number, halved = start, None, False
    while place < min(start + 3, len(tokens)):
        token = tokens[place]
        if token.kind in ("digits", "number", "article") and number is None:
            number = token.value
        elif token.text in words.dates.half and not halved:
            halved = True
        else:
            break
        place += 1
    end, codes = unit_at(tokens, place, words, ()) if place < len(tokens) else (place, ())
    unit = next((_MINUTES[code] for code in codes if code in _MINUTES), None)
    if place == start or unit is None:
        return start, None
    following = [token.text for token in tokens[end : end + 3]]
    more = words.numbers.and_a_half.length_at(following, 0)
    count = (Decimal("0.5") if halved else number or Decimal(1)) + (Decimal("0.5") if more else 0)
    minutes = count * unit
    if abs(minutes) > MOST_HOURS * 60:
        return start, None
    return end + more, int(minutes)
