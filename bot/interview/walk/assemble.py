"""Put the answers together as FHIR has them: the QuestionnaireResponse, and the one that formulas look at. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.interview.form.form import Form, Item, Path
from bot.interview.values.answer import Answer, JsonValue
from bot.interview.values.fhir_json import JsonObject, split_canonical, value_name
from bot.interview.values.primitives import problem_with
from bot.interview.values.type_specs import is_language
from bot.interview.walk.filling import Filling, below

# An extension of a response: who filled it in (patient, relative, helper).
FILLED_IN_BY = "https://klartext.example/fhir/StructureDefinition/filled-in-by"
# An extension of a response's item: what the patient said to it and nobody could code.
OWN_WORDS = "https://klartext.example/fhir/StructureDefinition/own-words"


@dataclass(frozen=True, slots=True)
class Heading:
    """What a response says of itself.

    Attributes:
        status: in-progress, completed, amended, entered-in-error or stopped.
        authored: When, as a FHIR dateTime.
        subject: Of whom it tells (Reference); likewise `source` (who answered), `author` and `encounter`.
        identifier: Its business identifier.
        profiles: Canonicals of the profiles it claims.
        filled_in_by: patient, relative (who is the source then) or helper; empty where nobody said so.
    """

    status: str
    authored: str
    subject: JsonObject | None = None
    source: JsonObject | None = None
    author: JsonObject | None = None
    encounter: JsonObject | None = None
    identifier: JsonObject | None = None
    id: str = ""
    profiles: tuple[str, ...] = ()
    filled_in_by: str = ""


def response(form: Form, filling: Filling, heading: Heading, assembly: Assembly | None = None) -> dict[str, JsonValue]:
    """Return the QuestionnaireResponse: enabled items only, in the form's order, with its base texts.

    `assembly` notes where everything stands, for those who want to know.
    """
    made: dict[str, JsonValue] = {"resourceType": "QuestionnaireResponse"}
    if heading.id:
        made["id"] = heading.id
    if heading.profiles:
        made["meta"] = {"profile": list(heading.profiles)}
    if is_language(form.language):
        made["language"] = form.language
    if heading.filled_in_by:
        made["extension"] = [{"url": FILLED_IN_BY, "valueCode": heading.filled_in_by}]
    _put(made, "identifier", heading.identifier)
    if canonical := canonical_of(form):
        made["questionnaire"] = canonical
    made["status"] = heading.status
    _put(made, "subject", heading.subject)
    _put(made, "encounter", heading.encounter)
    made["authored"] = heading.authored
    _put(made, "author", heading.author)
    related: JsonObject = {"type": "RelatedPerson", "display": "A relative of the patient"}
    _put(made, "source", related if heading.filled_in_by == "relative" else heading.source)
    items = (assembly or Assembly(form, filling)).items(form.items, ())
    if items:
        made["item"] = items
    return made


def _put(made: dict[str, JsonValue], name: str, value: JsonObject | None) -> None:
    if value:
        made[name] = dict(value)


def canonical_of(form: Form) -> str:
    """Return how a response names its Questionnaire; empty for one without url and id."""
    if form.url and not problem_with("canonical", form.url):
        # Some forms have a version in their url already. A canonical takes no spaces, as some versions have them.
        versioned = form.version and not problem_with("canonical", form.version)
        return f"{split_canonical(form.url)[0]}|{form.version}" if versioned else form.url
    identifier = form.raw.get("id")
    return f"Questionnaire/{identifier}" if isinstance(identifier, str) and identifier else ""


@dataclass(slots=True)
class Assembly:
    """Builds the items of a response.

    Attributes:
        nodes: By path, what was built there.
    """

    form: Form
    filling: Filling
    nodes: dict[Path, dict[str, JsonValue]] = field(default_factory=dict)

    def items(self, items: tuple[Item, ...], around: Path) -> list[JsonValue]:
        """Build the enabled items directly inside `around`, and all inside those."""
        found: list[JsonValue] = []
        for item in items:
            own = below(around, item.link_id)
            if item.type == "group":
                before = len(found)
                for number in range(self.filling.count(item, own)):
                    self._group(item, below(around, item.link_id, number), found)
                # A group that must be there is there, even if nothing in it was answered.
                if len(found) == before and item.required and own not in self.filling.disabled:
                    self._node(item, own, found)
            elif item.type != "display" and own not in self.filling.disabled:
                self._question(item, own, found)
        return found

    def _group(self, item: Item, path: Path, found: list[JsonValue]) -> None:
        if path in self.filling.disabled:
            return
        inner = self.items(item.children, path)
        if inner:
            self._node(item, path, found)["item"] = inner

    def _question(self, item: Item, path: Path, found: list[JsonValue]) -> None:
        answers, noted = self.filling.at(path), self.filling.noted.get(path, ())
        if not answers and not noted:
            return
        node = self._node(item, path, found)
        if noted:
            node["extension"] = [{"url": OWN_WORDS, "valueString": text} for text in noted]
        if answers:
            node["answer"] = [self._answer(item, path, number, answer) for number, answer in enumerate(answers)]

    def _node(self, item: Item, path: Path, found: list[JsonValue]) -> dict[str, JsonValue]:
        node: dict[str, JsonValue] = {"linkId": item.link_id}
        # A text that FHIR does not take (an empty one, control characters) is the form's; nothing need repeat it.
        if not problem_with("string", item.raw.get("text")):
            node["text"] = item.raw["text"]
        found.append(node)
        self.nodes[path] = node
        return node

    def _answer(self, item: Item, path: Path, number: int, answer: Answer) -> JsonValue:
        made = {value_name(answer.type): self.value(item, answer)}
        inner = self.items(item.children, below(path[:-1], item.link_id, number)) if item.children else []
        if inner:
            made["item"] = inner
        return made

    def value(self, item: Item, answer: Answer) -> JsonValue:
        """Return the value as JSON of its own, so that nobody changes what is stored."""
        return _json_value(item, answer)


def answer_in_response(item: Item, answer: Answer) -> Answer:
    """Return an answer with its value as it stands in the response."""
    return Answer(answer.type, _json_value(item, answer))


def _json_value(item: Item, answer: Answer) -> JsonValue:
    if not isinstance(answer.value, Mapping):
        return answer.value
    return item.units.as_listed(answer.value) if answer.type == "quantity" else dict(answer.value)
