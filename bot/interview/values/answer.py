"""One answer of a patient in FHIR's terms. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

JsonValue = bool | int | Decimal | str | dict[str, "JsonValue"] | list["JsonValue"] | None


@dataclass(frozen=True, slots=True)
class Answer:
    """One value as it goes into a QuestionnaireResponse.

    Attributes:
        type: Completes FHIR's ``value[x]``: boolean, decimal, integer, date, dateTime, time, string, uri, attachment,
            coding, quantity or reference.
        value: Plain JSON; numbers with a fraction are `Decimal`, so that "1.50" stays what the patient wrote.
    """

    type: str
    value: JsonValue
