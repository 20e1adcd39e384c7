"""Staff who log in by the hospital's identity provider: a real OpenID provider on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.editorial.identity import StaffLogin
from bot.errors import UserFixable
from bot.web.middleware import CONSOLE
from tests.bot.web.staff.consoles import Staff, running_console
from tests.oidc_process import OidcServer, client, free_port, oidc_process

ROLES = {"rad-editors": "curator", "rad-chiefs": "approver"}
ACCOUNTS = {
    "anna": {
        "password": "x",
        "claims": {"roles": ["rad-editors"], "name": "Dr. Anna Berg", "preferred_username": "aberg"},
    },
    "max": {"password": "x", "claims": {"roles": ["kitchen"], "name": "Max Koch", "preferred_username": "mkoch"}},
}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Staff, OidcServer]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    known = [client("console", f"{url}{CONSOLE}/login/back")]
    with oidc_process(known, ACCOUNTS, login="anna") as provider:
        login = StaffLogin(provider.issuer, "console", roles=ROLES)  # type: ignore[arg-type]
        folder: Path = tmp_path_factory.mktemp("console")
        with running_console(folder, port=port, staff_login=login, public_url=url) as staff:
            yield staff, provider


def test_who_the_provider_vouches_for_is_in_with_the_roles_of_their_groups(both: tuple[Staff, OidcServer]) -> None:
    staff, provider = both
    provider.behave(login="anna")
    browser = staff.browser()
    browser.open(f"{CONSOLE}/login")
    browser.follow("With the hospital's login")

    assert browser.answer.url.path == CONSOLE, browser.text
    person = staff.console.tools.people.by_login("aberg")
    assert person is not None
    assert (person.name, person.roles, person.outside) == ("Dr. Anna Berg", frozenset({"curator"}), True)
    browser.open(f"{CONSOLE}/releases")
    assert browser.answer.status_code == 200
    browser.open(f"{CONSOLE}/people")
    assert browser.answer.status_code == 403


def test_who_has_no_role_here_and_who_is_refused_there_stays_outside(both: tuple[Staff, OidcServer]) -> None:
    staff, provider = both
    browser = staff.browser()
    provider.behave(login="max")
    browser.open(f"{CONSOLE}/login/outside")
    assert "no role here yet" in browser.text

    provider.behave(login={"deny": True})
    browser = staff.browser()  # the provider knows the other one already
    browser.open(f"{CONSOLE}/login/outside")
    assert "did not confirm who you are" in browser.text
    browser.open(CONSOLE)
    assert browser.answer.url.path == f"{CONSOLE}/login"


@pytest.mark.parametrize(
    "forged",
    [
        {"key": "none"},
        {"key": "foreign"},
        {"key": "public"},
        {"claims": {"aud": "another"}},
        {"claims": {"iss": "https://evil.example"}},
        {"claims": {"nonce": "another"}},
        {"claims": {"exp": 1}},
    ],
)
def test_a_token_that_proves_nothing_lets_nobody_in(both: tuple[Staff, OidcServer], forged: dict[str, object]) -> None:
    staff, provider = both
    provider.behave(login="anna", forge=forged)
    browser = staff.browser()
    browser.open(f"{CONSOLE}/login/outside")

    assert "did not confirm who you are" in browser.text
    provider.behave(login="anna")


def test_a_login_of_another_browser_or_with_another_state_is_refused(both: tuple[Staff, OidcServer]) -> None:
    staff, provider = both
    provider.behave(login="anna")
    first, second = staff.browser(), staff.browser()
    sent = first.client.get(f"{CONSOLE}/login/outside", follow_redirects=False).headers["location"]

    second.open(f"{CONSOLE}/login/back?code=x&state=y")  # a browser that went nowhere
    assert "began in another browser" in second.text
    first.open(f"{CONSOLE}/login/back?code=x&state=y")
    assert "began in another browser" in first.text
    assert "state=" in sent


def test_a_provider_in_trouble_is_said_and_own_accounts_still_work(both: tuple[Staff, OidcServer]) -> None:
    staff, provider = both
    provider.behave(login="anna", fault={"token": 500})
    browser = staff.browser()
    browser.open(f"{CONSOLE}/login/outside")
    assert "did not confirm who you are" in browser.text
    provider.behave(login="anna")

    assert staff.logged_in("own", "rater").answer.status_code == 200


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"KLARTEXT_STAFF_LOGIN": "http://idp.example console"}, "KLARTEXT_STAFF_LOGIN is not"),
        ({"KLARTEXT_STAFF_LOGIN": "https://idp.example"}, "KLARTEXT_STAFF_LOGIN is not"),
        ({"KLARTEXT_STAFF_LOGIN": "https://idp.example c"}, "KLARTEXT_STAFF_ROLES is not set"),
        ({"KLARTEXT_STAFF_LOGIN": "https://idp.example c", "KLARTEXT_STAFF_ROLES": "a=boss"}, "'a=boss'"),
    ],
)
def test_settings_that_nobody_could_log_in_by_are_refused(environ: dict[str, str], said: str) -> None:
    with pytest.raises(UserFixable, match="KLARTEXT_STAFF") as refused:
        StaffLogin.from_environment(environ)

    assert said in str(refused.value)
