"""Open the system that a YAML file describes; several questions at once, each in a lane of its own."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from bot import Assistant, BadData, Catalog, Settings
from harness.console import nearest
from harness.systems.answers import AnswersSystem
from harness.systems.command import CommandSystem
from harness.systems.description import (
    AnswersFile,
    ApiFile,
    ChatModelFile,
    CommandFile,
    EndpointFile,
    Paths,
    RasaFile,
    SystemFile,
    expand,
    fingerprint,
)
from harness.systems.endpoint import (
    COMPLETION,
    Caller,
    ChatCompletions,
    HttpSystem,
    Pace,
    RasaMessages,
    Templated,
    connect,
)
from harness.systems.recognition import JsonReader, Manners, Recogniser, read_messages
from harness.systems.system import Begin, Failure, Opening, System, SystemReply

DescribedSystem = AnswersSystem | CommandSystem | HttpSystem


@dataclass(frozen=True)
class Lanes:
    """One system that is asked in parallel.

    Attributes:
        identity: What it is.
        lanes: Each takes one question at a time; threads that may share a system have the same one in several lanes.
    """

    identity: dict[str, str]
    lanes: Sequence[DescribedSystem]

    @property
    def turns(self) -> bool:
        return self.lanes[0].turns

    def chats(self, language: str) -> AbstractContextManager[Begin]:
        """Yield what begins chats, in one lane: they are held one after the other."""
        return self.lanes[0].chats(language)

    def ask(self, texts: Sequence[str], language: str) -> Iterator[SystemReply | Failure]:
        free: queue.SimpleQueue[DescribedSystem] = queue.SimpleQueue()
        for lane in self.lanes:
            free.put(lane)

        def one(text: str) -> SystemReply | Failure:
            lane = free.get()
            try:
                (answer,) = lane.ask([text], language)
            finally:
                free.put(lane)
            return answer

        pool = ThreadPoolExecutor(len(self.lanes), thread_name_prefix="asking")
        try:
            yield from pool.map(one, texts)
        finally:
            # Who asks stops early when the system is down: what has not begun is not asked then.
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Traffic:
    """How a system is asked.

    Attributes:
        parallel: Questions under way at once: requests, or processes of a command.
        share: Of the rate limit, when several processes ask the same system.
    """

    parallel: int = 1
    share: float = 1.0


@contextmanager
def open_described(  # noqa: PLR0913 - settings and environment are the caller's to read
    file: SystemFile,
    opening: Opening,
    language: str,
    *,
    settings: Settings,
    environ: Mapping[str, str],
    traffic: Traffic | None = None,
) -> Iterator[tuple[System, Catalog]]:
    """Yield a system, and the catalog whose answers it should give.

    Raises:
        UserFixable: Questions must not go to its address, or the catalog cannot be opened.
    """
    traffic = traffic or Traffic()
    for url in file.addresses:
        # Questions of a suite may once have been a patient's.
        settings.require_patient_text_allowed(url)
    assistant = Assistant.open(
        opening.catalog, data=opening.data, encoder=opening.encoder, sample=True, languages=[language]
    )
    catalog = assistant.catalog(language)
    _require_pairs(file, catalog)
    recogniser = Recogniser(
        catalog,
        lambda: assistant.encoder,
        similarity=file.similarity,
        manners=Manners(file.declined, file.urgent, file.intents),
    )
    identity = {
        "system": file.name,
        "kind": file.kind,
        "system_hash": fingerprint(file),
        "encoder": opening.encoder,
        "catalog": catalog.ref,
        "catalog_hash": catalog.content_hash,
    }
    with ExitStack() as stack:
        lanes: Sequence[DescribedSystem]
        if isinstance(file, AnswersFile):
            lanes = [AnswersSystem.open(file, identity, recogniser)]
        elif isinstance(file, CommandFile):
            reader = JsonReader(file.paths, recogniser, file.decisions)
            lanes = commands = [CommandSystem(file, identity, reader.read) for _ in range(traffic.parallel)]
            for command in commands:
                stack.callback(command.close)
        else:
            client = stack.enter_context(connect(file))
            limit = None if file.per_second is None else file.per_second * traffic.share
            caller = Caller(client, file, Pace(limit))
            lanes = [_http_system(file, identity, recogniser, environ, caller)] * traffic.parallel
        yield Lanes(identity, lanes) if len(lanes) > 1 else lanes[0], catalog


def _require_pairs(file: SystemFile, catalog: Catalog) -> None:
    """Raise BadData where a system's own names stand for pairs that are not there."""
    unknown = [(theirs, ours) for theirs, ours in file.intents.items() if ours not in catalog.by_id]
    if unknown:
        theirs, ours = unknown[0]
        others = len(unknown) - 1
        more = f"; {others} more {'is' if others == 1 else 'are'} unknown" if others else ""
        raise BadData(
            f"`intents` of {file.name}: {theirs!r} stands for {ours!r}, which {catalog.ref} does not have{more}. "
            f"Nearest: {nearest(ours, catalog.by_id)}. Correct it in the system's file."
        )


def _http_system(
    file: EndpointFile, identity: dict[str, str], recogniser: Recogniser, environ: Mapping[str, str], caller: Caller
) -> HttpSystem:
    if isinstance(file, RasaFile):
        messages = RasaMessages(caller, file, expand(file.headers, environ))
        return HttpSystem(identity, messages, partial(read_messages, recogniser), caller.pace.wait)
    if isinstance(file, ChatModelFile):
        completions = ChatCompletions(caller, file, expand(file.headers, environ))
        answers = JsonReader(Paths(answer=COMPLETION), recogniser)
        return HttpSystem(identity, completions, answers.read, caller.pace.wait)
    described = file.as_http() if isinstance(file, ApiFile) else file
    reader = JsonReader(described.paths, recogniser, described.decisions)
    exchange = Templated(caller, described, expand(described.headers, environ))
    return HttpSystem(identity, exchange, reader.read, caller.pace.wait)
