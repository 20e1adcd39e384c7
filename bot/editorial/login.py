"""What the console needs of the hospital's identity provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A login that has begun: kept by the browser that began it, sealed."""

    state: str
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


class Identity(Protocol):
    """Somebody who vouches for staff."""

    def begin(self) -> tuple[str, PendingLogin]:
        """Return where to send the browser, and what it must come back with.

        Raises:
            LaunchFailed: The provider does not answer, or cannot be trusted.
        """
        ...

    def finish(self, pending: PendingLogin, code: str) -> Mapping[str, Any]:
        """Return verified claims of who came back with a code.

        Raises:
            LaunchFailed: Nothing is proven.
        """
        ...

    def close(self) -> None:
        """Let the connections to the provider go."""
        ...
