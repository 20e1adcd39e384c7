"""A finished conversation as FHIR: one transaction Bundle. Pure: no I/O, no clock, no randomness.

Plain JSON is built, and decimals keep their digits. Ids and identifiers follow from the conversation's id, so that what
is sent twice is there once.
"""

from __future__ import annotations

from bot.fhir_export.bundle import make_bundle, make_red_flag_bundle
from bot.fhir_export.subject import Exchange, Export, Ids, Interview, Made, Software
from bot.fhir_export.unsupported import unsupported_extraction

__all__ = [
    "Exchange",
    "Export",
    "Ids",
    "Interview",
    "Made",
    "Software",
    "make_bundle",
    "make_red_flag_bundle",
    "unsupported_extraction",
]
