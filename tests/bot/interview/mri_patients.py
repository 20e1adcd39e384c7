"""Patients who answer the shipped questions before an MRI: nothing to report, but for what a test lets them say."""

from __future__ import annotations

from bot.catalog.fhir_files import shipped_questionnaires
from bot.interview.manners.interview import Open
from bot.interview.values.fhir_json import JsonObject

YES, NO = {"de": "ja", "en": "yes"}, {"de": "nein", "en": "no"}
# Whose answer is not "no" where there is nothing to report.
_WELL = {
    "consent": YES, "age": {"de": "66", "en": "66"}, "weight": {"de": "70 kg", "en": "70 kg"},
    "height": {"de": "170 cm", "en": "170 cm"}, "contrast-before": {"de": "1", "en": "1"}, "lie-flat": YES,
    "hear-and-understand": {"de": "1", "en": "1"},
}  # fmt: skip

# What is asked of a thing that was named: left out.
_DETAILS = ("-kind", "-make", "-year", "-date", "-card", "-place", "-what", "-goggles", "-week", "kidney-value")


def mri_safety() -> JsonObject:
    """The shipped Questionnaire."""
    (found,) = (each for each in shipped_questionnaires() if each.get("id") == "mri-safety")
    return found


class MriPatient:
    """Says what a test lets them say to a question, once; else that there is nothing, and yes to what is read back."""

    def __init__(self, language: str, **told: str) -> None:
        self.language = language
        self._told = {link_id.replace("_", "-"): said for link_id, said in told.items()}

    def reply(self, waiting: Open) -> str:
        """Return what the patient says to what is open."""
        if waiting.kind in ("read-back", "proposal", "checking"):
            return YES[self.language]
        if waiting.kind == "summary":
            return self._told.pop("summary", YES[self.language])
        if waiting.kind == "question" and waiting.link_id in self._told:
            return self._told.pop(waiting.link_id)
        if waiting.kind == "question" and waiting.link_id in _WELL:
            return _WELL[waiting.link_id][self.language]
        if waiting.kind == "question" and waiting.link_id.endswith(_DETAILS):
            return {"de": "überspringen", "en": "skip"}[self.language]
        return NO[self.language]
