"""Every fixed sentence that Klartext itself says to patients, by language and key.

The sentences stand in `texts/*.yaml`, where a further language is one more entry. Slots hold only typed values, never
patient text; in the interview also typed answers of the patient who reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml


def _read(name: str) -> Mapping[str, Mapping[str, str]]:
    text = (Path(__file__).parent / "texts" / name).read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, str]] = yaml.load(text, Loader=yaml.CSafeLoader)
    return found


INTERFACE_TEXTS = _read("interface.yaml")
INTERVIEW_TEXTS = _read("interview.yaml")
REMARK_TEXTS = _read("remarks.yaml")
# The languages that patients can be talked to in.
LANGUAGES = tuple(INTERFACE_TEXTS)
