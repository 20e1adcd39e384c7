"""The dashboard: how much patients ask, how it is answered, how soon staff come; counts alone, no words."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from starlette.responses import JSONResponse, Response

from bot.catalog.catalog import Pair
from bot.catalog.exchange.tables import no_formula
from bot.catalog.quiz import QUIZ_STEPS, quiz_name
from bot.editorial.figures import KINDS, AskedText, Day, Figures, days_of, quiz_counts, responses
from bot.matching.simple_words import SHIPPED, Share, estimated_share
from bot.talk.exams import NO_EXAM
from bot.web.staff.area import Address, Area
from bot.web.staff.exams import ExamFilter
from bot.web.staff.rendering import StaffRenderer
from bot.web.staff.simulated import Simulated, compared, counted, group_of, read_simulated
from bot.web.staff.tools import Tools
from bot.web.staff.visit import StaffVisit
from bot.wiring import make_figures

PERIODS = (7, 30, 90, 365)  # days
USUAL = 30
MOST_MEASURED = 1000  # newest questions whose words are measured: reading texts is what takes time
MOST_PAIRS = 10
NONE = "none"  # in tables, for what was asked before the exam was known, as in the metrics


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


@dataclass(frozen=True, slots=True)
class _Part:
    """Figures of one exam, or of all where there is one: its name and what it is called, both empty then."""

    name: str
    title: str
    figures: Figures
    pairs: Sequence[Pair]

    def never(self, by_pair: Mapping[str, int]) -> list[str]:
        """Return the pairs that were never the answer."""
        return sorted({pair.id for pair in self.pairs} - set(by_pair))

    @property
    def quiz_questions(self) -> dict[str, str]:
        """What quizzes ask, by their names."""
        return {quiz_name(pair.id, quiz): quiz.question for pair in self.pairs for quiz in pair.quizzes}


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
        period, exams = self._period(visit), ExamFilter.of(visit, self.tools.exams())
        figures = self._figures.of_exam(exams.asked) if exams.asked else self._figures
        days = self._days(figures, period)
        total = _sum(days)
        if visit.wants_json:
            return JSONResponse([_row(day) for day in days])
        labels = self.renderer.labels(visit.language)
        parts = [_Part("", "", figures, self._pairs(""))]
        if exams.is_offered:  # pairs of two exams may have one id
            names = self._names(exams, period)
            parts = [
                _Part(name, exams.called(name, labels), self._figures.of_exam(name), self._pairs(name))
                for name in names
            ]
        by_pair = [(part, part.figures.by_pair(period.since, period.until)) for part in parts]
        most_asked = [(count, part.title, pair) for part, counts in by_pair for pair, count in counts.items()]
        quizzes = [
            (part, quiz) for part in parts for quiz in quiz_counts(part.figures.quizzed(period.since, period.until))
        ]
        asked = figures.newest_questions(period.since, period.until, most=MOST_MEASURED)
        simulated, real = self._simulated(exams), asked
        if simulated is not None and exams.is_offered:
            of_it = self._figures.of_exam(simulated.exam)
            real = of_it.newest_questions(period.since, period.until, most=MOST_MEASURED)
        by_exam = [(part.title, _sum(self._days(part.figures, period))) for part in parts] if len(parts) > 1 else []
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
            exams=exams,
            by_exam=by_exam,
            quizzes=quizzes,
            quiz_steps=QUIZ_STEPS,
            most_asked=sorted(most_asked, key=lambda each: (-each[0], each[1:]))[:MOST_PAIRS],
            never=[(part.title, part.never(counts)) for part, counts in by_pair if part.pairs],
            tops=[top for tops in self.tools.tops for top in tops(visit.who, visit.language)],
            literacy=_literacy(asked),
            measured=len(real),
            simulated=simulated,
            rates=compared(simulated, counted(real)) if simulated is not None else [],
        )

    def table(self, visit: StaffVisit) -> Response:
        """Return a row for each day and exam, for a spreadsheet."""
        period, exams = self._period(visit), ExamFilter.of(visit, self.tools.exams())
        written = io.StringIO()
        table = csv.writer(written)
        names = self._names(exams, period)
        by_exam = [(name, self._days(self._figures.of_exam(name), period)) for name in names]
        by_exam = by_exam or [("", self._days(self._figures, period))]  # nobody has asked anything
        rows = [
            {"day": day.day.isoformat(), "exam": NONE if name == NO_EXAM else name, **_row(day)}
            for number in range(period.days)
            for name, days in by_exam
            for day in days[number : number + 1]
        ]
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

    def _days(self, figures: Figures, period: Period) -> list[Day]:
        return days_of(figures, period.since, period.until, self.renderer.zone)

    def _names(self, exams: ExamFilter, period: Period) -> list[str]:
        """Return the exams to be counted one by one: the one that is looked at, or all, those of the service first."""
        if exams.asked:
            return [exams.asked]
        return list(dict.fromkeys([*exams.titles, *self._figures.exams(period.since, period.until)]))

    def _pairs(self, exam: str) -> Sequence[Pair]:
        """Return an exam's pairs: of the one that the console edits, as they were released last, else as served."""
        catalogs = list(self.tools.candidate().base.catalogs.values())
        if exam and exam != catalogs[0].name:
            served = self.tools.exams().get(exam)
            catalogs = [served.catalog(language) for language in served.languages] if served is not None else []
        return [pair for catalog in catalogs for pair in catalog.pairs]

    def _simulated(self, exams: ExamFilter) -> Simulated | None:
        """Return the last run of simulated patients, where it asked the exam that is looked at."""
        found = read_simulated(self.tools.settings.data)
        if found is None or not exams.is_offered:
            return found
        # Runs from before that was noted, too: the console tests the exam that it edits.
        found = replace(found, exam=found.exam or next(iter(self.tools.candidate().base.catalogs.values())).name)
        return found if exams.asked in ("", found.exam) else None


def _sum(days: Sequence[Day]) -> Day:
    return Day(days[0].day, {kind: sum(day.of(kind) for day in days) for kind in KINDS})


def _row(day: Day) -> dict[str, Any]:
    return {"day": day.day.isoformat(), "questions": day.questions, **{kind: day.of(kind) for kind in KINDS}}


def _weeks(days: Sequence[Day]) -> list[Day]:
    """Return days put together from Monday to Sunday, named by the first that is in the period."""
    found: dict[tuple[int, int], list[Day]] = {}
    for day in days:
        year, week, _ = day.day.isocalendar()
        found.setdefault((year, week), []).append(day)
    return [_sum(own) for own in found.values()]


def _literacy(asked: Sequence[AskedText]) -> list[Literacy]:
    found = []
    for language in SHIPPED:
        own = [each for each in asked if each.language == language]
        recognised = sum(group_of(each.text, language) == "plain" for each in own)
        share = estimated_share(recognised, len(own), language)
        if share is not None:
            found.append(Literacy(language, len(own), recognised, share))
    return found
