"""What is wrong with a database that cannot be used, in words of ours: drivers quote names and addresses in theirs."""

from __future__ import annotations

import errno
import re

from bot.errors import Unreachable

# By the words of PostgreSQL, psycopg and SQLite, the more particular first: what is wrong, and what to do.
_FAULTS: tuple[tuple[str, str, str], ...] = (
    (
        r"password authentication failed|no password supplied|role .* does not exist|no pg_hba.conf entry",
        "it does not let this user in with this password",
        "Check user and password in KLARTEXT_DATABASE_URL, and who may connect in pg_hba.conf",
    ),
    (
        r"database .* does not exist",
        "the server has no database of this name",
        "Create it (`createdb`), or mend the name in KLARTEXT_DATABASE_URL",
    ),
    (
        r"root certificate file",
        "the file with the certificates that vouch for the server is missing",
        "Add `&sslrootcert=/path/to/ca.pem` (or `sslrootcert=system`) to KLARTEXT_DATABASE_URL",
    ),
    (
        r"certificate|does not support ssl|ssl error|ssl connection|host name",
        "no encrypted connection comes about: the server has no TLS, or its certificate does not fit",
        "Check `sslmode` and `sslrootcert` in KLARTEXT_DATABASE_URL, and that its host is the certificate's name",
    ),
    (
        r"too many (clients|connections)|remaining connection slots",
        "the server takes no more connections",
        "Raise max_connections, or lower KLARTEXT_WORKERS",
    ),
    (
        r"could not translate|name or service not known|name resolution|resolve",
        "the name of its server is not known here",
        "Check the host in KLARTEXT_DATABASE_URL, and the name server",
    ),
    (
        r"refused|timeout|timed out|no route|unreachable|could not connect|connection failed|no such file or directory",
        "nobody answers there",
        "Check that the server runs, and host and port in KLARTEXT_DATABASE_URL",
    ),
    (r"disk is full|no space left", "the disk is full", "Make room"),
    (
        r"not a database|malformed",
        "the file is no SQLite database, or is damaged",
        "Restore it from the backup, or mend the path",
    ),
    (
        r"unable to open|readonly|read-only|permission denied",
        "this user may not open or write the file",
        "Run the command as the user of the service (`klartext-admin` in docs/operations.md), or mend its owner or the "
        "path in KLARTEXT_DATABASE_URL",
    ),
    (r"locked", "another process has locked it", "Wait until it is done, or end it"),
)


def cannot_use(shown: str, error: Exception) -> Unreachable:
    """Return what is to be said of a database that cannot be used; `shown`: its address, without the password."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return Unreachable(f"The database {shown} cannot be used: the disk is full. Make room.")
    told = str(getattr(error, "orig", None) or error).casefold()
    for pattern, wrong, what_to_do in _FAULTS:
        if re.search(pattern, told):
            return Unreachable(f"The database {shown} cannot be used: {wrong}. {what_to_do}.")
    return Unreachable(
        f"The database {shown} cannot be used ({type(error).__name__}). "
        "Check KLARTEXT_DATABASE_URL, or choose another folder with `--data`."
    )
