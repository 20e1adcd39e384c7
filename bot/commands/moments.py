"""Moments as people write them on the command line, in the time of the place."""

from __future__ import annotations

from datetime import date, datetime, tzinfo

from bot.catalog.catalog import locate
from bot.catalog.site import open_site
from bot.errors import UserFixable
from bot.settings import Settings

EXAM = "mammography"  # any: the time of a place is the same for all of them


def local_zone(settings: Settings) -> tzinfo | None:
    """Return the time zone of the site; None: that of the system, which `datetime.astimezone` takes by itself.

    Raises:
        BadData: The site's file cannot be used.
    """
    if settings.site is None:
        return None
    site = open_site(settings.site, exam=locate(EXAM), languages=(), sample=True, today=date.today())
    return site.timezone if site is not None else None


def moment(written: str, option: str, zone: tzinfo | None) -> datetime:
    """Return a moment in ISO 8601; without a zone it is of `zone`.

    Raises:
        UserFixable: It is none.
    """
    try:
        found = datetime.fromisoformat(written.strip())
        return found if found.tzinfo else (found.astimezone() if zone is None else found.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        raise UserFixable(
            f'{option} is {written!r}, which is no moment. Write it as in "2026-11-25 10:15", or with its zone as in '
            "2026-11-25T10:15+01:00."
        ) from None
