"""The dashboard: how much patients ask, how it is answered, how soon staff come; counts alone, no words."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.catalog.exchange.tables import no_formula
from bot.catalog.quiz import QUIZ_STEPS, quiz_name
from bot.editorial.figures import KINDS, AskedText, Day, Figures, days_of, quiz_counts, responses
from bot.matching.simple_words import SHIPPED, Share, estimated_share
from bot.web.staff.area import Address, Area
from bot.web.staff.rendering import StaffRenderer
from bot.web.staff.simulated import compared, counted, group_of, read_simulated
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit
from bot.wiring import make_figures

PERIODS = (7, 30, 90, 365)  # days
USUAL = 30
MOST_MEASURED = 1000  # newest questions whose words are measured: reading texts is what takes time
MOST_PAIRS = 10


@dataclass(frozen=True, slots=True)
class Period:
    """Whole days of the place, today the last."""

    days: int
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Literacy:
    """How many of those who ask have little of the language, estimated from their words."""

    language: str
    messages: int
    recognised: int
    share: Share


class FigurePages(Area):
    """What everybody may see who logs in."""

    def __init__(self, tools: Tools, renderer: StaffRenderer) -> None:
        super().__init__(tools, renderer)
        self._figures: Figures = make_figures(tools.settings)

    def addresses(self) -> Sequence[Address]:
        return [
            Address("GET", "/figures", self.overview, "look", menu="menu_figures"),
            Address("GET", "/figures/days.csv", self.table, "look"),
        ]

    def overview(self, visit: StaffVisit) -> Response:
        period, figures = self._period(visit), self._figures
        days = self._days(period)
        asked = figures.newest_questions(period.since, period.until, most=MOST_MEASURED)
        by_pair = figures.by_pair(period.since, period.until)
        simulated = read_simulated(self.tools.settings.data)
        rates = compared(simulated, counted(asked)) if simulated is not None else []
        total = Day(days[0].day, {kind: sum(day.of(kind) for day in days) for kind in KINDS})
        if visit.wants_json:
            return JSONResponse([_row(day) for day in days])
        return self.renderer.page(
            "figures",
            visit,
            period=period,
            periods=PERIODS,
            total=total,
            rows=_weeks(days) if period.days > 31 else days,
            by_week=period.days > 31,
            kinds=KINDS,
            responses=responses(figures.calls(period.since, period.until)),
            quizzes=quiz_counts(figures.quizzed(period.since, period.until)),
            quiz_steps=QUIZ_STEPS,
            questions=self._quiz_questions(),
            most_asked=sorted(by_pair.items(), key=lambda item: (-item[1], item[0]))[:MOST_PAIRS],
            never=self._never(by_pair),
            tops=[top for tops in self.tools.tops for top in tops(visit.who, visit.language)],
            literacy=_literacy(asked),
            measured=len(asked),
            simulated=simulated,
            rates=rates,
        )

    def table(self, visit: StaffVisit) -> Response:
        """Return a row for each day, for a spreadsheet."""
        period = self._period(visit)
        written = io.StringIO()
        table = csv.writer(written)
        rows = [_row(day) for day in self._days(period)]
        table.writerow(rows[0])
        table.writerows([no_formula(str(value)) for value in row.values()] for row in rows)
        headers = {"Content-Disposition": f'attachment; filename="questions-{period.days}-days.csv"'}
        return Response(written.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)

    def _period(self, visit: StaffVisit) -> Period:
        said = visit.query.get("days", "")
        days = int(said) if said in map(str, PERIODS) else USUAL
        now = self.tools.now().astimezone(self.renderer.zone)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        return Period(days, midnight - timedelta(days=days - 1), midnight + timedelta(days=1))

    def _days(self, period: Period) -> list[Day]:
        return days_of(self._figures, period.since, period.until, self.renderer.zone)

    def _quiz_questions(self) -> dict[str, str]:
        """Return what quizzes ask, as they were released last, by their names."""
        catalogs = self.tools.candidate().base.catalogs.values()
        pairs = (pair for catalog in catalogs for pair in catalog.pairs)
        return {quiz_name(pair.id, quiz): quiz.question for pair in pairs for quiz in pair.quizzes}

    def _never(self, by_pair: Mapping[str, int]) -> list[str]:
        """Return the pairs that were never the answer, as they were released last."""
        catalogs = self.tools.candidate().base.catalogs.values()
        return sorted({pair.id for catalog in catalogs for pair in catalog.pairs} - set(by_pair))


def _row(day: Day) -> dict[str, Any]:
    return {"day": day.day.isoformat(), "questions": day.questions, **{kind: day.of(kind) for kind in KINDS}}


def _weeks(days: Sequence[Day]) -> list[Day]:
    """Return days put together from Monday to Sunday, named by the first that is in the period."""
    found: dict[tuple[int, int], list[Day]] = {}
    for day in days:
        year, week, _ = day.day.isocalendar()
        found.setdefault((year, week), []).append(day)
    return [Day(own[0].day, {kind: sum(day.of(kind) for day in own) for kind in KINDS}) for own in found.values()]


def _literacy(asked: Sequence[AskedText]) -> list[Literacy]:
    found = []
    for language in SHIPPED:
        own = [each for each in asked if each.language == language]
        recognised = sum(group_of(each.text, language) == "plain" for each in own)
        share = estimated_share(recognised, len(own), language)
        if share is not None:
            found.append(Literacy(language, len(own), recognised, share))
    return found
