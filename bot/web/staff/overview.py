"""The first page after logging in: what waits for this person, and the long work that runs."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from starlette.responses import JSONResponse, Response

from bot.web.staff.area import Address, Area
from bot.web.staff.rendering import StaffProblem, go_to
from bot.web.staff.visit import StaffVisit, whole_number

MOST_JOBS = 20


class Overview(Area):
    """Where everybody begins."""

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "", self.home, "look", menu="menu_home"),
            Address("GET", "/jobs/{id}", self.job, "look"),
            Address("POST", "/jobs/{id}/cancel", self.cancel, "look"),
        ]

    def home(self, visit: StaffVisit) -> Response:
        person, renderer = visit.who, self.renderer
        waiting = renderer.badges(person)
        mine = [each for each in renderer.menu if person.may(each.task) and each.path]
        return renderer.page("home", visit, waiting=waiting, places=mine, jobs=self.tools.jobs.newest(most=MOST_JOBS))

    def job(self, visit: StaffVisit) -> Response:
        job = self.tools.jobs.get(_number(visit))
        if job is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        if visit.wants_json:
            told = self.renderer.labels(visit.language).get(job.told, job.told)
            said = {"state": job.state, "share": job.share, "told": told, "result": job.result}
            return JSONResponse(said)
        return self.renderer.page("job", visit, job=job)

    def cancel(self, visit: StaffVisit) -> Response:
        number = _number(visit)
        job = self.tools.jobs.get(number)
        if job is None:
            raise StaffProblem(HTTPStatus.NOT_FOUND)
        if job.by != visit.who.name and not visit.may("release"):
            raise StaffProblem(HTTPStatus.FORBIDDEN)
        stopped = self.tools.jobs.cancel(number, by=visit.who.name, now=self.tools.now())
        return go_to(f"/jobs/{number}", told="cancelled" if stopped else "")


def _number(visit: StaffVisit) -> int:
    number = whole_number(visit.parts["id"])
    if number is None:
        raise StaffProblem(HTTPStatus.NOT_FOUND)
    return number
