"""Open the system that a YAML file describes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bot import Assistant, Catalog, Settings
from harness.external.command import CommandSystem
from harness.external.file import CommandFile, HttpFile, RasaFile, expand, fingerprint, load_system_file
from harness.external.http import Caller, HttpSystem, connect, rasa_message, templated
from harness.external.reading import JsonReader, read_messages
from harness.external.recognise import Recogniser
from harness.systems import Opening, System


@contextmanager
def open_external(
    path: Path, opening: Opening, language: str, *, settings: Settings, environ: Mapping[str, str]
) -> Iterator[tuple[System, Catalog]]:
    """Yield the system of a file, and the catalog whose answers it should give.

    Raises:
        UserFixable: The file is not understood, or questions must not go to its address.
    """
    file = load_system_file(path)
    if not isinstance(file, CommandFile):
        # Questions of a suite may once have been a patient's.
        settings.require_patient_text_allowed(file.url)
    assistant = Assistant.open(
        opening.catalog, data=opening.data, encoder=opening.encoder, sample=True, languages=[language]
    )
    catalog = assistant.catalog(language)
    recogniser = Recogniser(
        catalog,
        lambda: assistant.encoder,
        similarity=file.similarity,
        declined=file.declined,
        urgent=file.urgent,
    )
    identity = {
        "system": file.name,
        "kind": file.kind,
        "system_hash": fingerprint(file),
        "encoder": opening.encoder,
        "catalog": catalog.ref,
        "catalog_hash": catalog.content_hash,
    }
    if isinstance(file, CommandFile):
        command = CommandSystem(file, identity, JsonReader(file.paths, recogniser).read)
        try:
            yield command, catalog
        finally:
            command.close()
    else:
        with _endpoint(file, identity, recogniser, environ) as endpoint:
            yield endpoint, catalog


@contextmanager
def _endpoint(
    file: HttpFile | RasaFile, identity: dict[str, str], recogniser: Recogniser, environ: Mapping[str, str]
) -> Iterator[HttpSystem]:
    with connect(file, expand(file.headers, environ)) as client:
        caller = Caller(client, file)
        if isinstance(file, HttpFile):
            yield HttpSystem(identity, templated(client, file), JsonReader(file.paths, recogniser).read, caller)
        else:
            yield HttpSystem(
                identity,
                rasa_message(client, file),
                lambda document, elapsed_ms: read_messages(document, recogniser, elapsed_ms),
                caller,
            )
