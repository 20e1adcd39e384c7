"""Secrets from the environment, or from files that it names: files do not show in process lists and crash reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bot.errors import UserFixable

MIN_SECRET = 20  # characters of a secret that people choose


def secret(env: Mapping[str, str], name: str, *, at_least: int = 0) -> str | None:
    """Return the secret in the variable `name`, or in the file that `name` with ``_FILE`` behind it names.

    Who may read the file is left to who made it: container platforms hand secrets out readable by all in the container.

    Raises:
        UserFixable: Both are set, the file cannot be read, or the secret is too short. It is never quoted.
    """
    value, file = env.get(name) or None, env.get(f"{name}_FILE") or None
    if value is not None and file is not None:
        raise UserFixable(f"{name} and {name}_FILE are both set. Unset one of them.")
    if file is not None:
        value = _content(Path(file), f"{name}_FILE")
    if value is not None and len(value) < at_least:
        raise UserFixable(
            f"{name} has {len(value)} characters and needs {at_least}. "
            "Make one with `python -c 'import secrets; print(secrets.token_urlsafe(32))'`."
        )
    return value


def _content(path: Path, name: str) -> str:
    try:
        found = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UserFixable(f"{name} names {str(path)!r}, which cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise UserFixable(f"{name} names {str(path)!r}, which is no text file.") from None
    if not found:
        raise UserFixable(f"{name} names {str(path)!r}, which is empty. Put the secret into it.")
    return found
