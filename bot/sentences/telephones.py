"""Telephone numbers in a text that nobody has vouched for: not of the place, for emergencies, or signed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.catalog.amounts import telephones
from bot.catalog.countries import LINES
from bot.languages.files import cached
from bot.sentences.emergency_texts import out_of_hours

# Of the countries that the program speaks of; a number may stand with it or without.
_COUNTRY = re.compile(rf"^(?:00)?(?:{'|'.join(lines.dialled for lines in LINES.values())})(?=\d{{6}})")


def strange_telephones(text: str, language: str, known: Iterable[str]) -> list[str]:
    """Return the telephone numbers of a text that are strange, digits only.

    Args:
        text: That patients would read.
        language: Of it.
        known: Texts whose numbers are known, such as the site's file; looked at only where there is a number.
    """
    left = {each: _national(each) for each in telephones(text)}
    left = {each: own for each, own in left.items() if own not in _for_emergencies(language)}
    for one in known if left else ():
        there = {_national(each) for each in telephones(one)}
        left = {each: own for each, own in left.items() if own not in there}
        if not left:
            break
    return sorted(left)


@cached
def _for_emergencies(language: str) -> frozenset[str]:
    """Return the numbers that the program itself names, and those of its countries for what cannot wait."""
    lines = [each for of in LINES.values() for each in (of.emergency, of.poison, *of.counsel)]
    said = telephones(" ".join((*out_of_hours(language), *out_of_hours("de"), "112")))
    return frozenset(_national(re.sub(r"\D", "", each)) for each in (*lines, *said))


def _national(digits: str) -> str:
    """Return a number as it is within its country, without the zero in front."""
    bare = digits if re.match(r"0[1-9]", digits) else _COUNTRY.sub("", digits, count=1)
    return bare.lstrip("0")
