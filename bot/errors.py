"""Everything Klartext raises on purpose.

    KlartextError
    ├── UserFixable          somebody can mend it: one line says what, with which values, and the next command; exit 2
    │   ├── BadCatalog       a catalog that cannot be used
    │   ├── BadData          any other file that cannot be read as what it should be
    │   │   └── NoSuchExam   an exam that this service does not answer questions about
    │   ├── UnsupportedQuestionnaire  a form that would not be asked as it is meant (bot/interview/form/texts.py)
    │   ├── Unreachable      an endpoint, server or folder that does not answer
    │   │   ├── NotWritable  a database that answers, but stores nothing
    │   │   └── NotAudited   the audit log takes nothing
    │   ├── StopNotNoted     a stop is in force, and the audit log lacks it; exit 1
    │   └── MissingExtra     an optional dependency that is not installed
    ├── AlreadyStored        a stored name or number is in use: another request was faster; read again and retry
    ├── Erased               the conversation was deleted meanwhile
    ├── Reused               a turn id came again with something else in it
    ├── NoSuchChoice         a choice that is not on offer (any more)
    ├── Outdated             a page of the form that was made from earlier answers
    ├── NotSent              a FHIR server did not take something; what was to be sent is kept
    ├── LaunchFailed         a patient who comes from a portal or EHR could not be signed in
    ├── NotTold              a contact could not be told that a patient waits for a person
    ├── Busy                 so many want the same at once that this one has to come again
    ├── CallRefused          a call for staff that does not stand so, or that there is not
    └── GuardViolation       a reply that is not approved text (a defect: the patient gets a safe sentence instead)

Messages never quote what a patient wrote.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal


class KlartextError(Exception):
    """Base of all errors that Klartext raises on purpose."""


class UserFixable(KlartextError):
    """An error that the person at the keyboard can mend. `str()` is one line that names the next command.

    Attributes:
        code: Names the sentence, for who says it in other words or another language; empty where nobody does.
        values: What stands in it, by name.
    """

    def __init__(self, line: str, *, code: str = "", values: Mapping[str, Any] | None = None) -> None:
        super().__init__(line)
        self.code = code
        self.values = dict(values or {})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a data file.

    Attributes:
        path: The file.
        line: 1-based line in it, or 0 when it concerns the whole file.
        where: The pair, question or key it is about; may be empty.
        problem: What is wrong, with the values.
        remedy: What to do about it.
        severity: ``error`` (unusable), ``warning`` (should be mended) or ``info``.
        rule: Short name of the check.
        code: Names this sentence, for who says it in other words or another language; empty where nobody does.
        values: What stands in it, by name.
    """

    path: Path
    line: int
    where: str
    problem: str
    remedy: str
    severity: str = "error"
    rule: str = "schema"
    code: str = ""
    values: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def as_line(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        about = f"[{self.where}] " if self.where else ""
        return f"{place}: {self.severity}: {about}{self.problem} {self.remedy}".rstrip()


class BadCatalog(UserFixable):
    """A catalog that cannot be used; `findings` holds every reason, the message the first."""

    def __init__(self, findings: list[Finding], *, next_command: str) -> None:
        more = f" ({len(findings) - 1} more)" if len(findings) > 1 else ""
        super().__init__(f"{findings[0].as_line()}{more} Run `{next_command}` for the whole list.")
        self.findings = findings


class BadData(UserFixable):
    """A file or value that is not what it should be."""


class NoSuchExam(BadData):
    """An exam that this service does not answer questions about."""

    def __init__(self, exam: str, served: Sequence[str]) -> None:
        super().__init__(f"There is no exam {exam!r} here. Served are: {', '.join(served)}.")
        self.exam, self.served = exam, tuple(served)


class Unreachable(UserFixable):
    """Something outside this process does not answer."""


class NotWritable(Unreachable):
    """The database can be read, and not written: locked by somebody, or the disk is full."""


class NotAudited(Unreachable):
    """The audit log cannot be written, and what waits for it was not done; `why` and `remedy` are sentences' parts."""

    def __init__(self, path: Path, *, why: str, remedy: str) -> None:
        super().__init__(f"The audit log {path} cannot be written ({why}), so nothing was done. {remedy}")
        self.path = path
        self.why = why
        self.remedy = remedy


class StopNotNoted(UserFixable):
    """An emergency stop is in force, and the audit log lacks it: only a restored backup would not know of it."""


class MissingExtra(UserFixable):
    """An optional dependency is not installed."""

    def __init__(self, *, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra {extra!r}. Run `pip install 'klartext[{extra}]'`.")
        self.feature = feature
        self.extra = extra


def is_installed(package: str) -> bool:
    """Say whether a package can be imported, without doing so: large ones take most of a second."""
    with suppress(ImportError):
        return find_spec(package) is not None
    return False


class AlreadyStored(KlartextError):
    """A name or number that must be unique is stored already."""


class Erased(KlartextError):
    """The conversation that something belongs to was deleted."""


class Reused(KlartextError):
    """One turn id was used for two different messages."""


class NoSuchChoice(KlartextError):
    """The choice that was taken is not on offer."""


class Outdated(KlartextError):
    """A page of the form was made from answers that have changed since."""


class NotSent(KlartextError):
    """A FHIR server did not take something.

    Attributes:
        reason: A class of reasons, such as ``unreachable`` or ``refused (422)``; holds no patient text.
        verdict: refused (this one, as it is), trouble (perhaps only with this one), or down (with anything now).
    """

    def __init__(self, reason: str, *, verdict: Literal["refused", "trouble", "down"] = "refused") -> None:
        super().__init__(f"The FHIR server did not take it: {reason}.")
        self.reason = reason
        self.verdict = verdict


LaunchReason = Literal["unknown", "odd", "denied", "late", "down", "unproven", "no_patient"]


class LaunchFailed(KlartextError):
    """A patient who comes from a portal or EHR could not be signed in.

    Attributes:
        reason: What the patient is told: nobody that we know sent them (unknown), the request cannot be read (odd),
            signing in was refused (denied), it is over or another browser's (late), the provider does not answer
            (down), it proves nothing (unproven), or does not say who it is (no_patient).
        detail: For staff: a class of reasons, without a word of the provider or the patient.
    """

    def __init__(self, reason: LaunchReason, detail: str) -> None:
        super().__init__(f"Nobody was signed in: {detail}.")
        self.reason: LaunchReason = reason
        self.detail = detail


class NotTold(KlartextError):
    """A contact could not be told of a call; `reason` is a class of reasons, without address and patient text."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"A contact could not be told: {reason}.")
        self.reason = reason


CallReason = Literal["none", "deleted", "left", "taken", "not_taken", "acknowledged", "unacknowledged", "unanswered"]
_OF_CALLS: dict[CallReason, str] = {
    "none": "This conversation does not wait for a person, or there is none with this id.",
    "deleted": "The patient has deleted this conversation: nothing of it is left, and nobody can write to them here.",
    "left": "The patient has left this conversation and reads nothing any more. Telephone them.",
    "taken": "{name} has taken this conversation. To take it from them, send `take` your `name`, and theirs as `from`.",
    "not_taken": "Nobody has taken this conversation. Take it first.",
    "acknowledged": "This call is acknowledged already.",
    "unanswered": "The patient has written, and nobody has answered. Answer first, or say that you leave it open.",
    "unacknowledged": "A message that calls for a person is not acknowledged. Acknowledge it first.",
}


class Busy(KlartextError):
    """So many want the same at once that this one is turned away: whoever it is comes again in a minute."""


class CallRefused(KlartextError):
    """What staff wanted to do does not fit how the call stands; `name`: of who has taken it."""

    def __init__(self, reason: CallReason, name: str = "") -> None:
        super().__init__(_OF_CALLS[reason].format(name=name or "Somebody"))
        self.reason = reason
        self.name = name


class GuardViolation(KlartextError):
    """A reply held text that is neither approved content nor fixed interface text."""


def full_disk(error: OSError) -> UserFixable | None:
    """Return what is to be said of a disk that is full; None where that is not what is wrong."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT):
        return None
    place = f" of {error.filename}" if error.filename else ""
    return UserFixable(f"The disk{place} is full. Make room (`df -h`), then run this again.")


@contextmanager
def friendly_errors() -> Iterator[None]:
    """Turn errors that a person can mend into one line on standard error and exit code 2."""
    try:
        yield
    except UserFixable as error:
        print(f"klartext: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        # The reader (head, less) has seen enough; standard output must not complain at exit.
        sys.stdout = None
        raise SystemExit(0) from None
    except OSError as error:
        told = full_disk(error)
        if told is None:
            raise
        print(f"klartext: {told}", file=sys.stderr)
        raise SystemExit(2) from None
