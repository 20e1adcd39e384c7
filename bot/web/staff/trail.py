"""Who did what: the trail, filtered, and for an auditor's own tools as FHIR."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from starlette.responses import Response

from bot.editorial.acts import first_flaw
from bot.editorial.acts_fhir import audit_bundle
from bot.web.staff.area import Address, Area
from bot.web.staff.visit import StaffVisit, whole_number

AT_ONCE = 100


def about(what: str, labels: Mapping[str, str]) -> str:
    """Return what an act was done to, such as ``pair duration de``, in words; what has none stays as it is."""
    kind, _, rest = what.partition(" ")
    if what.startswith("near miss "):
        kind, rest = "near-miss", what.removeprefix("near miss ")
    named, _, language = rest.rpartition(" ")
    if f"language_{language or rest}" in labels:
        rest = f"{named} ({labels[f'language_{language or rest}']})".strip()
    label = labels.get(f"trail_of_{kind}") or labels.get(f"sign_kind_{kind}") or labels.get(f"job_{kind}")
    return f"{label} {rest}".strip() if label else what


class Trail(Area):
    """What auditors read."""

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/trail", self.trail, "trail", menu="menu_trail"),
            Address("GET", "/trail/fhir", self.as_fhir, "trail"),
        ]

    def trail(self, visit: StaffVisit) -> Response:
        asked = {name: visit.query.get(name, "").strip() for name in ("what", "by")}
        before = visit.query.get("before", "")
        acts = self.tools.acts.read(
            what=asked["what"],
            by=asked["by"],
            before=whole_number(before),
            most=AT_ONCE,
        )
        labels = self.renderer.labels(visit.language)
        done = [(act, labels.get(f"trail_did_{act.action.replace(' ', '_')}", act.action)) for act in acts]
        told_of = {act.what: about(act.what, labels) for act in acts}
        return self.renderer.page("trail", visit, done=done, told_of=told_of, asked=asked, more=len(acts) == AT_ONCE)

    def as_fhir(self, visit: StaffVisit) -> Response:
        acts = list(self.tools.acts.all())
        written = json.dumps(audit_bundle(acts, whole=first_flaw(acts) is None), ensure_ascii=False)
        headers = {"Content-Disposition": 'attachment; filename="trail.json"'}
        return Response(written, media_type="application/fhir+json", headers=headers)
