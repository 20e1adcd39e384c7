"""The hospital's own login for staff: which provider vouches for them, and which of its groups have which roles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from bot.editorial.people import MOST_NAME, ROLES, Person, Role
from bot.errors import UserFixable

CLAIM = "roles"


@dataclass(frozen=True, slots=True)
class StaffLogin:
    """How staff log in by OpenID Connect.

    Attributes:
        issuer: The provider's address; no other is ever asked.
        client_id: As it has registered us.
        secret_file: Of a confidential client; empty: a public one.
        roles: Our roles by what the provider calls them.
        claim: Where in its tokens they stand.
    """

    issuer: str
    client_id: str
    secret_file: str = ""
    roles: Mapping[str, Role] = field(default_factory=dict)
    claim: str = CLAIM

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Self | None:
        """Read ``KLARTEXT_STAFF_LOGIN`` (ISSUER CLIENT_ID [SECRET_FILE]), ``KLARTEXT_STAFF_ROLES`` (GROUP=ROLE, by
        commas) and ``KLARTEXT_STAFF_ROLES_CLAIM``; None where nobody logs in that way.
        """
        said = env.get("KLARTEXT_STAFF_LOGIN", "").split()
        if not said:
            return None
        if not 2 <= len(said) <= 3 or not re.match(r"https://|http://(127\.0\.0\.1|localhost|\[::1\])(:|/|$)", said[0]):
            raise UserFixable(
                "KLARTEXT_STAFF_LOGIN is not `https://PROVIDER CLIENT_ID [SECRET_FILE]` (`http://` on this machine). "
                "Correct it, or unset it."
            )
        roles: dict[str, Role] = {}
        for entry in env.get("KLARTEXT_STAFF_ROLES", "").split(","):
            group, _, role = (part.strip() for part in entry.partition("="))
            known = next((each for each in ROLES if each == role), None)
            if entry.strip() and (not group or known is None):
                raise UserFixable(
                    f"KLARTEXT_STAFF_ROLES holds {entry.strip()!r}. Write GROUP=ROLE, separated by commas; roles are "
                    f"{', '.join(ROLES)}."
                )
            if known is not None:
                roles[group] = known
        if not roles:
            raise UserFixable(
                "KLARTEXT_STAFF_ROLES is not set, so nobody who logs in by KLARTEXT_STAFF_LOGIN could do anything. "
                "Name groups of your provider, as in `radiology-editors=curator`."
            )
        return cls(
            said[0], said[1], said[2] if len(said) > 2 else "", roles, env.get("KLARTEXT_STAFF_ROLES_CLAIM") or CLAIM
        )

    def person(self, claims: Mapping[str, Any]) -> Person | None:
        """Return whom verified claims speak of; None where they have no role here, or no name to sign with."""
        groups = claims.get(self.claim, ())
        given = groups.split() if isinstance(groups, str) else [each for each in groups if isinstance(each, str)]
        roles = frozenset(role for group, role in self.roles.items() if group in given)
        subject = claims.get("sub")
        login = next(
            (claims[key] for key in ("preferred_username", "email") if isinstance(claims.get(key), str)), subject
        )
        name = claims.get("name")
        if not roles or not isinstance(name, str) or not isinstance(login, str):
            return None
        return Person(0, login.strip()[:MOST_NAME], " ".join(name.split())[:MOST_NAME], roles, outside=True)
