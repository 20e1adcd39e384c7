"""An event loop in a thread of its own, so that what is asynchronous can be used from what is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")


class Background:
    """The running loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def start(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)


@contextmanager
def background_loop() -> Iterator[Background]:
    """Run a loop until the block is left; what still runs in it then is cancelled."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=_serve, args=(loop,), name="model requests", daemon=True)
    thread.start()
    try:
        yield Background(loop)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(_wind_up(loop))
    finally:
        loop.close()


async def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
