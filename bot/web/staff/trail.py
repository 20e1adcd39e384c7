"""Who did what: the trail, filtered, and for an auditor's own tools as FHIR."""

from __future__ import annotations

import json
from collections.abc import Sequence

from starlette.responses import Response

from bot.editorial.acts import first_flaw
from bot.editorial.acts_fhir import audit_bundle
from bot.web.staff.area import Address, Area
from bot.web.staff.visit import StaffVisit, whole_number

AT_ONCE = 100


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
        return self.renderer.page("trail", visit, acts=acts, asked=asked, more=len(acts) == AT_ONCE)

    def as_fhir(self, visit: StaffVisit) -> Response:
        acts = list(self.tools.acts.all())
        written = json.dumps(audit_bundle(acts, whole=first_flaw(acts) is None), ensure_ascii=False)
        headers = {"Content-Disposition": 'attachment; filename="trail.json"'}
        return Response(written, media_type="application/fhir+json", headers=headers)
