"""Carry an interview over from one version of its form to a later one, as the rules of a migration say. Pure.

Every answer either stands at a question of the later version, or that question is asked again; what could not be
carried over as an answer is kept in words, for the team. Nothing is guessed: what a rule does not name is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.interview.form.form import Form, Item, Path, label_of, named_option
from bot.interview.values.answer import Answer
from bot.interview.values.fhir_json import as_object, string
from bot.interview.walk.engine import MOST_NOTED, Engine
from bot.interview.walk.filling import (
    Event,
    Filling,
    Given,
    GroupAdded,
    MarkedForStaff,
    NoMore,
    Noted,
    Reopened,
    Shown,
    Skipped,
    below,
    first,
)
from bot.languages.files import known, load

ALL = "all"


@dataclass(frozen=True, slots=True)
class Rule:
    """What becomes of the answers to one question of the earlier version.

    Answers are named by their code, "true" and "false" where they are yes and no; `ALL` stands for all of them.

    Attributes:
        item: The question of the earlier version, by linkId; a group: that there are no more; a display: that it was
            shown.
        to: What takes it over in the later version.
        codes: What answers are called there, where it is not the same.
        only: The answers that the rule is about; empty: every one.
        ask: Answers that are not carried over: the question is asked again.
        words: Answers that are kept in words for the team, and asked again.
        grown: Whether the list has grown: what stands is kept, and whether there is more is asked.
        each: Whether each answer goes into an instance of its own of the group that `to` stands in.
        alone: A question of the earlier version that must have just one answer, or it is not clear what this one
            belongs to: then it is kept in words at what takes that question over.
        where: Answers that another question, by linkId, must have beside it.
        unless: Answers that it must not have.
        hours: How old an interview may be for its answer to be kept; None: any age.
    """

    item: str
    to: str
    codes: Mapping[str, str] = field(default_factory=dict)
    only: Collection[str] = frozenset()
    ask: Collection[str] = frozenset()
    words: Collection[str] = frozenset()
    grown: bool = False
    each: bool = False
    alone: str = ""
    where: Mapping[str, Collection[str]] = field(default_factory=dict)
    unless: Mapping[str, Collection[str]] = field(default_factory=dict)
    hours: float | None = None


@dataclass(frozen=True, slots=True)
class Migration:
    """How interviews get from one version of a Questionnaire to a later one.

    Attributes:
        questionnaire: Its url.
        earlier: The version that they were begun with.
        later: The version that they go on with.
        rules: In order; of several for one question, the first takes what the patient did not answer, too.
        agreement: The yes-or-no question without which nothing may be kept, by its linkId in the later version;
            empty: there is none.
    """

    questionnaire: str
    earlier: str
    later: str
    rules: tuple[Rule, ...]
    agreement: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """An interview on the earlier version.

    Attributes:
        form: That version.
        filling: Its state.
        events: What happened on it.
        language: In which the patient is asked.
        hours: How long ago it was begun; infinite where that is not known.
    """

    form: Form
    filling: Filling
    events: Sequence[Event]
    language: str
    hours: float


@dataclass(frozen=True, slots=True)
class Carried:
    """What an interview begins with on the later version.

    Attributes:
        events: What is carried over, as events of that version.
        asked_again: The questions that were answered before and are asked again, by linkId, in the form's order.
    """

    events: tuple[Event, ...]
    asked_again: tuple[str, ...]


def carry_over(migration: Migration, begun: Begun, engine: Engine) -> Carried:
    """Carry an interview over to the version that `engine` asks."""
    gathered = _Gathered(migration, begun, engine.form)
    for number, rule in enumerate(migration.rules):
        earlier = begun.form.by_link_id.get(rule.item)
        later = engine.form.by_link_id.get(rule.to)
        if earlier is not None and later is not None:
            is_first = all(before.item != rule.item for before in migration.rules[:number])
            gathered.take(_Step(rule, earlier, later, is_first))
    return _Settling(gathered, engine, engine.start()).carried()


def agreement_path(form: Form, link_id: str) -> Path | None:
    """Return where the question stands without whose yes nothing may be kept; None where the form has none."""
    item = form.by_link_id.get(link_id)
    return tuple((each, 0) for each in item.line) if item is not None else None


@dataclass(slots=True)
class _AtPlace:
    """What comes to stand at one question of the later version."""

    answers: list[Answer] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    silence: Skipped | MarkedForStaff | None = None
    asked: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    """A rule with its items in both versions; `is_first`: of the rules about its question."""

    rule: Rule
    earlier: Item
    later: Item
    is_first: bool


@dataclass(slots=True)
class _Gathered:
    """What the rules bring to the later version, by place; and what was shown or closed there."""

    migration: Migration
    begun: Begun
    form: Form
    places: dict[Path, _AtPlace] = field(default_factory=dict)
    done: list[Shown | NoMore] = field(default_factory=list)

    def take(self, step: _Step) -> None:
        """Let one rule take what it is about."""
        filling, item = self.begun.filling, step.earlier
        for path in filling.instances(self.begun.form, item, least=int(not item.is_question)):
            if not filling.is_enabled(self.begun.form, path):
                continue
            if item.type == "display":
                self.done += [Shown(self._place(step, path))] if path in filling.shown else []
            elif item.type == "group":
                self.done += [NoMore(self._place(step, path))] if path in filling.closed else []
            elif _holds_beside(step.rule, filling, path):
                self._take_question(step, path)

    def _take_question(self, step: _Step, path: Path) -> None:
        rule, filling = step.rule, self.begun.filling
        at = self._at(step, path)
        if step.is_first:
            at.words += filling.noted.get(path, ())
            at.silence = self._silence(step, path)
        answers = filling.answers.get(path, ())
        if answers and rule.alone and len(filling.at(_beside(path, rule.alone))) != 1:
            if step.is_first:
                self._keep_apart(step, path, answers)
            return
        is_stale = rule.hours is not None and self.begun.hours > rule.hours
        for number, answer in enumerate(answers):
            key = _key(answer)
            if rule.only and key not in rule.only:
                continue
            at = self._at(step, path, number)
            found = None if is_stale or _names(rule.ask, key) else _as_later(answer, step)
            if found is not None and not _names(rule.words, key):
                at.answers += [found] if found not in at.answers else []
                at.asked = at.asked or rule.grown
                continue
            at.asked = True
            if not is_stale and not _names(rule.ask, key):
                in_words = _with_question if answer.type == "boolean" else _in_words
                at.words.append(in_words(answer, step.earlier, self.begun.language))

    def _keep_apart(self, step: _Step, path: Path, answers: Sequence[Answer]) -> None:
        """Keep answers of which it is not clear what they belong to, in words at what takes that question over."""
        self._at(step, path).asked = True
        first_rule = next((rule for rule in self.migration.rules if rule.item == step.rule.alone), None)
        taker = self.form.by_link_id.get(first_rule.to) if first_rule is not None else None
        if taker is None:
            return
        beside = self.places.setdefault(self._place(replace(step, later=taker), path), _AtPlace())
        language = self.begun.language
        beside.words += [_with_question(each, step.earlier, language) for each in answers]

    def _silence(self, step: _Step, path: Path) -> Skipped | MarkedForStaff | None:
        """Return how a question without an answer was left, if it was."""
        filling, place = self.begun.filling, self._place(step, path)
        if step.rule.grown or _names(step.rule.ask, ALL):
            return None
        if path in filling.marked:
            return MarkedForStaff(place, filling.marked[path])
        if path not in filling.skipped:
            return None
        skips = (event for event in reversed(self.begun.events) if isinstance(event, Skipped) and event.path == path)
        return Skipped(place, next((event.reason for event in skips), ""))

    def _at(self, step: _Step, path: Path, number: int = 0) -> _AtPlace:
        return self.places.setdefault(self._place(step, path, number), _AtPlace())

    def _place(self, step: _Step, path: Path, number: int = 0) -> Path:
        """Return where what stood at `path` comes to stand: repetitions keep their numbers, from outside in."""
        repeats = self.begun.form.by_link_id
        numbers = [count for link_id, count in path[:-1] if repeats[link_id].repeats]
        if step.rule.each:
            numbers.append(number)
        place: Path = ()
        for link_id in step.later.line[:-1]:
            place = below(place, link_id, numbers.pop(0) if self.form.by_link_id[link_id].repeats and numbers else 0)
        return below(place, step.later.link_id)


@dataclass(slots=True)
class _Settling:
    """Lets what was gathered happen on the later version, in the form's order: first what is around a question."""

    gathered: _Gathered
    engine: Engine
    filling: Filling
    events: list[Event] = field(default_factory=list)

    def carried(self) -> Carried:
        places = self.gathered.places
        for item in self.engine.form.walk():
            for path in sorted(path for path in places if path[-1][0] == item.link_id):
                self._add_instances(path[:-1])
                self._settle(item, path, places[path])
        for event in self.gathered.done:
            if self.filling.exists(self.engine.form, event.path, next_too=isinstance(event, NoMore)):
                self._happen(event)
        return Carried(tuple(self.events), tuple(self._asked_again()))

    def _happen(self, event: Event) -> None:
        self.filling = self.engine.apply(self.filling, event)
        self.events.append(event)

    def _add_instances(self, around: Path) -> None:
        """Add the instances of groups that there must be for something to stand in `around`."""
        form = self.engine.form
        for depth in range(1, len(around) + 1):
            group, own = form.by_link_id[around[depth - 1][0]], around[:depth]
            while group.type == "group" and group.repeats and not self.filling.exists(form, own):
                new = below(own[:-1], group.link_id, self.filling.count(group, first(own)))
                if not self.filling.exists(form, new, next_too=True):
                    return
                self._happen(GroupAdded(new))

    def _settle(self, item: Item, path: Path, at: _AtPlace) -> None:
        if not self.filling.exists(self.engine.form, path):
            return
        answers = tuple(at.answers)
        found = self.engine.problems(self.filling, path, answers) if answers else ()
        if any(problem.severity == "error" for problem in found):
            at.words += [_in_words(each, item, self.gathered.begun.language) for each in answers]
            answers, at.asked = (), True
        for text in tuple(dict.fromkeys(at.words))[-MOST_NOTED:]:
            self._happen(Noted(path, text))
        if answers:
            self._happen(Given(path, answers))
            if at.asked and item.repeats:
                self._happen(Reopened(path))
        elif at.silence is not None and not at.asked:
            self._happen(at.silence)

    def _asked_again(self) -> Iterator[str]:
        """Yield the questions to be asked again, as far as they will be asked once the patient agrees."""
        form, filling = self.engine.form, self.filling
        agreement = agreement_path(form, self.gathered.migration.agreement)
        agreed = filling
        if agreement is not None and not filling.settled(agreement):
            agreed = self.engine.apply(filling, Given(agreement, (Answer("boolean", True),)))
        open_ = {
            path[-1][0]
            for path, at in self.gathered.places.items()
            if at.asked
            and agreed.exists(form, path)
            and agreed.is_enabled(form, path)
            and (not filling.settled(path) or path in filling.reopened)
        }
        yield from (item.link_id for item in form.walk() if item.link_id in open_)


def _key(answer: Answer) -> str:
    """Return what rules call an answer."""
    if isinstance(answer.value, bool):
        return "true" if answer.value else "false"
    return string(as_object(answer.value), "code") if answer.type == "coding" else ""


def _names(named: Collection[str], key: str) -> bool:
    return ALL in named or key in named


def _beside(path: Path, link_id: str) -> Path:
    return below(path[:-1], link_id)


def _holds_beside(rule: Rule, filling: Filling, path: Path) -> bool:
    """Say whether the questions beside it are answered as a rule demands."""

    def given(link_id: str) -> set[str]:
        return {_key(answer) for answer in filling.at(_beside(path, link_id))}

    has = all(given(link_id) & set(keys) for link_id, keys in rule.where.items())
    return has and not any(given(link_id) & set(keys) for link_id, keys in rule.unless.items())


def _as_later(answer: Answer, step: _Step) -> Answer | None:
    """Return an answer as the later version lists it; None where it does not."""
    key, later = _key(answer), step.later
    named = step.rule.codes.get(key, key) if key else ""
    if later.type == "boolean" and named in ("true", "false"):
        return Answer("boolean", named == "true")
    if not key or (answer.type == "boolean" and not later.options):
        return answer
    same = named_option(answer, later.options) if named == key else None
    by_code = (option for option in later.options if _key(option.answer) == named)
    option = same or next(by_code, None)
    return option.answer if option is not None else None


def _in_words(answer: Answer, item: Item, language: str) -> str:
    """Return an answer as its question lists it, in the patient's language."""
    if isinstance(answer.value, bool):
        said = load(language if language in known() else "en", "interview.yaml")
        return str(said["yes" if answer.value else "no"])
    option = named_option(answer, item.options)
    return (option.label if option is not None else label_of(answer)).into(language)


def _with_question(answer: Answer, item: Item, language: str) -> str:
    """Return an answer in words, after the question that it was given to: it says nothing without it."""
    return f"{item.text.into(language)} {_in_words(answer, item, language)}"
