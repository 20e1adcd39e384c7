"""FHIR files on disk: what is shipped (Questionnaires, code systems, HL7's own value sets) and what people name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import BadData
from bot.interview.form.texts import Synonyms
from bot.interview.values.answer import JsonValue
from bot.interview.values.fhir_json import (
    JsonObject,
    NotJson,
    Parsed,
    as_object,
    objects,
    parse,
    split_canonical,
    string,
)
from bot.interview.values.terminology import Terminology
from bot.interview.walk.migration import ALL, Migration, Rule
from bot.resources import data_folder

_TERMINOLOGY = ("terminology", "code-systems", "value-sets")


def read_json(path: Path) -> Parsed:
    """Read a JSON file.

    Raises:
        BadData: It cannot be read, or is not JSON.
    """
    try:
        return parse(path.read_bytes())
    except NotJson as error:
        raise BadData(f"{path}: not JSON: {error}.") from None
    except OSError as error:
        raise BadData(f"{path}: {error.strerror or 'cannot be read'}.") from None


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        BadData: It cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        # It is about a patient: only who runs this may read it.
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        partial.replace(path)
    except OSError as error:
        raise BadData(f"{path}: {error.strerror or 'cannot be written'}. Choose another `--out`.") from None


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return files as they are, folders as the JSON files in them."""
    return [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]


def resources_in(document: JsonObject) -> list[JsonObject]:
    """Return a resource as a list of one, a Bundle or the Parameters of ``$questionnaire-package`` as what is in it."""
    if document.get("resourceType") == "Bundle":
        return [as_object(entry.get("resource")) for entry in objects(document, "entry")]
    if document.get("resourceType") == "Parameters":
        held = [as_object(each.get("resource")) for each in objects(document, "parameter") if "resource" in each]
        return [inner for each in held for inner in resources_in(each)] or [document]
    return [document]


def as_bundle(resources: Iterable[JsonObject]) -> dict[str, JsonValue]:
    """Return resources as one document."""
    entries: list[JsonValue] = [{"resource": dict(each)} for each in resources]
    return {"resourceType": "Bundle", "type": "collection", "entry": entries}


def read_launch(patient: Path | None, launch: Path | None) -> dict[str, JsonObject]:
    """Return the launch context: resources by the name that formulas know them by.

    Args:
        patient: A file with a Patient.
        launch: A file with an object of name and resource, or with Parameters, also those of SDC's ``$populate``.

    Raises:
        BadData: A file cannot be read, or holds something else.
    """
    found = _named_resources(launch) if launch is not None else {}
    if patient is not None:
        resource = as_object(read_json(patient).value)
        if resource.get("resourceType") != "Patient":
            raise BadData(f"{patient}: no Patient. Give --patient a Patient as JSON.")
        found["patient"] = resource
    return found


def _named_resources(path: Path) -> dict[str, JsonObject]:
    document = as_object(read_json(path).value)
    if document.get("resourceType") == "Parameters":
        found = dict(_parameter(each) for each in objects(document, "parameter"))
    else:
        found = {name: as_object(value) for name, value in document.items()}
    for name, resource in found.items():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or not string(resource, "resourceType"):
            raise BadData(
                f"{path}: {name[:40]!r} is no name with a resource. "
                'Write {"patient": {"resourceType": "Patient", …}}, or a Parameters resource.'
            )
    if not found:
        raise BadData(f"{path}: no resources. Give --launch a JSON object of names and resources, or Parameters.")
    return found


def _parameter(parameter: JsonObject) -> tuple[str, JsonObject]:
    """Return the name and the resource of a parameter; ``$populate`` holds both in parts of a ``context``."""
    parts = {string(part, "name"): part for part in objects(parameter, "part")}
    if "content" in parts:
        return string(parts.get("name", {}), "valueString"), as_object(parts["content"].get("resource"))
    return string(parameter, "name"), as_object(parameter.get("resource"))


@cache
def shipped_terminology() -> Terminology:
    """Return HL7's value sets and code systems of R4 that are free to ship, and Klartext's own."""
    return Terminology(each for name in _TERMINOLOGY for each in _folder(data_folder("fhir") / name))


@cache
def shipped_questionnaires() -> tuple[JsonObject, ...]:
    """Return the Questionnaires of `fhir/questionnaires`."""
    found = _folder(data_folder("fhir") / "questionnaires")
    return tuple(each for each in found if each.get("resourceType") == "Questionnaire")


def shipped_form(exam: str) -> Path | None:
    """Return the file of the Questionnaire that is shipped with an exam: on its history, or its safety; else None."""
    folder = data_folder("fhir") / "questionnaires"
    paths = (folder / f"{exam}-{about}.json" for about in ("history", "safety"))
    return next((path for path in paths if path.is_file()), None)


@cache
def shipped_synonyms() -> dict[str, Synonyms]:
    """Return what patients call questions and answers of the shipped Questionnaires, by their url."""
    return dict(_synonyms(path) for path in sorted((data_folder("fhir") / "questionnaires").glob("*.synonyms.yaml")))


def _synonyms(path: Path) -> tuple[str, Synonyms]:
    try:
        file = _SynonymFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, ValidationError):
        raise BadData(f"{path}: not a file of synonyms. See fhir/questionnaires/README.md.") from None
    questions = {link_id: tuple(item.question) for link_id, item in file.items.items()}
    options = {
        link_id: {code: tuple(names) for code, names in item.options.items()} for link_id, item in file.items.items()
    }
    return file.questionnaire, Synonyms(questions, options)


class _SynonymsOfItem(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: list[str] = []
    options: dict[str, list[str]] = {}


class _SynonymFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    questionnaire: str
    items: dict[str, _SynonymsOfItem]


def migrations_beside(path: Path) -> tuple[Migration, ...]:
    """Return how interviews that were begun with earlier versions of a Questionnaire's file go on with it.

    They lie beside the file ``name.json`` as ``name.migration.yaml``, or, if several, ``name.*.migration.yaml``.

    Raises:
        BadData: One cannot be read, or is no migration.
    """
    found = {*path.parent.glob(f"{path.stem}.migration.yaml"), *path.parent.glob(f"{path.stem}.*.migration.yaml")}
    return tuple(_migration(each) for each in sorted(found))


def shipped_migrations(id_: str) -> tuple[Migration, ...]:
    """Return the migrations of a shipped Questionnaire, by its id."""
    return migrations_beside(data_folder("fhir") / "questionnaires" / f"{id_}.json")


def _migration(path: Path) -> Migration:
    try:
        file = _MigrationFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    except OSError as error:
        raise BadData(f"{path}: {error.strerror or 'cannot be read'}.") from None
    except ValidationError as error:
        flaw = error.errors()[0]
        where = ".".join(str(step) for step in flaw["loc"])
        raise BadData(f"{path}: {where}: {flaw['msg']}. See fhir/questionnaires/README.md.") from None
    except yaml.YAMLError:
        raise BadData(f"{path}: not YAML. See fhir/questionnaires/README.md.") from None
    kept = (Rule(item, item) for item in file.keep)
    return Migration(file.questionnaire, file.from_, file.to, (*kept, *map(_rule, file.rules)), file.agreement)


def _rule(stated: _RuleOfMigration) -> Rule:
    return Rule(
        stated.item,
        stated.to or stated.item,
        codes=stated.codes,
        only=frozenset(stated.only),
        ask=_codes(stated.ask),
        words=_codes(stated.words),
        grown=stated.grown,
        each=stated.each,
        alone=stated.alone,
        where=stated.where,
        unless=stated.unless,
        hours=stated.hours,
    )


def _codes(named: Literal["all"] | list[str]) -> frozenset[str]:
    return frozenset([ALL] if isinstance(named, str) else named)


class _RuleOfMigration(BaseModel):
    model_config = ConfigDict(extra="forbid")

    item: str
    to: str = ""
    codes: dict[str, str] = {}
    only: list[str] = []
    ask: Literal["all"] | list[str] = []
    words: Literal["all"] | list[str] = []
    grown: bool = False
    each: bool = False
    alone: str = ""
    where: dict[str, list[str]] = {}
    unless: dict[str, list[str]] = {}
    hours: float | None = None


class _MigrationFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    questionnaire: str
    from_: str = Field(alias="from")
    to: str
    agreement: str = ""
    keep: list[str] = []
    rules: list[_RuleOfMigration] = []


def _folder(folder: Path) -> Iterator[JsonObject]:
    for path in sorted(folder.glob("*.json")):
        yield from resources_in(as_object(read_json(path).value))


def find_by_canonical(resources: Iterable[JsonObject], canonical: str) -> JsonObject | None:
    """Return the Questionnaire that ``url`` or ``url|version`` names; one without a version stands for any."""
    url, version = split_canonical(canonical)
    if not url:
        return None
    same = [each for each in resources if each.get("resourceType") == "Questionnaire" and string(each, "url") == url]
    wanted = (version, "") if version else ("",)
    exact = (each for number in wanted for each in same if string(each, "version") == number)
    return next(exact, same[0] if same and not version else None)
