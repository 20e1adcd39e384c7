"""From an empty database to a release with three pairs that patients' questions taught, as the console's tutorial says.

With KLARTEXT_SCREENSHOTS=FOLDER the walk leaves the pictures of the tutorial there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from bot.adapters.release_keys import new_key
from bot.web.middleware import CONSOLE
from tests.bot.release.exams import write_exam
from tests.bot.web.serving import always_open
from tests.browser.chromium import DESKTOP, barriers
from tests.browser.conftest import OpenPage

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST, PASSWORD = "Kiste Regen Kupfer Amsel", "Sonne Wiese Ordner Kamm"
PEOPLE = {
    "ada": ("Ada Berg", "curator"),
    "otto": ("Dr. Otto Ried", "approver"),
    "rita": ("Rita Kern", "rater"),
    "ferdi": ("Ferdi Lang", "frontdesk"),
}
# What patients ask that no pair answers yet, in several words, and what the curator makes of it.
NEW = {
    "eating": (
        ("Darf ich vorher frühstücken?", "muss ich nüchtern sein", "ist kaffee am morgen erlaubt"),
        "Darf ich vorher essen und trinken?",
        "Ja, Sie dürfen vorher essen und trinken. Sie müssen nicht nüchtern sein.",
    ),
    "jewellery": (
        ("Muss ich Ohrringe ablegen?", "kette und piercing ausziehen", "darf mein ehering am finger bleiben"),
        "Muss ich Schmuck ablegen?",
        "Bitte legen Sie Ketten und große Ohrringe vorher ab. Ein Ehering darf bleiben.",
    ),
    "deodorant": (
        ("Darf ich Deo benutzen?", "deospray vorher okay", "stört creme unter den achseln"),
        "Darf ich vorher Deo oder Creme benutzen?",
        "Bitte benutzen Sie am Tag der Untersuchung kein Deo und keine Creme. Beides kann man auf den Bildern sehen.",
    ),
}
WAIT_S = 240

pytestmark = pytest.mark.proof


@dataclass
class Installation:
    """One department: a folder, an exam, a key, and the processes that are started on it."""

    folder: Path
    exam: Path

    @property
    def environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "KLARTEXT_DATA": str(self.folder / "data"),
            "KLARTEXT_RELEASE_KEY_FILE": str(self.folder / "key.pem"),
            "KLARTEXT_REQUESTS_PER_MINUTE": "100000",
            **always_open(self.folder),
        }

    def run(self, *args: str) -> str:
        code = "from bot.commands.main import main; main()"
        done = subprocess.run([sys.executable, "-c", code, *args], env=self.environ, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    @contextmanager
    def running(self, *args: str) -> Iterator[str]:
        """Run a process that listens; yield its address."""
        code = "from bot.commands.main import main; main()"
        out = self.folder / "out"
        with out.open("wb") as said, (self.folder / "err").open("ab") as err:
            process = subprocess.Popen(
                [sys.executable, "-c", code, *args, "--port", "0"], env=self.environ, stdout=said, stderr=err
            )
        try:
            wait_for(lambda: b"listens on" in out.read_bytes() or process.poll() is not None)
            assert process.poll() is None, (self.folder / "err").read_text()
            yield out.read_text().split("listens on ")[1].split()[0].removesuffix(CONSOLE)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def wait_for(holds: Callable[[], object]) -> None:
    until_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until_s, "it did not come"
        time.sleep(0.3)


def log_in_first(page: Page, url: str, login: str) -> Page:
    """Log in with the password that somebody gave, choose another one, and log in with it."""
    log_in(page, url, login, FIRST)
    page.goto(f"{url}{CONSOLE}/to-sign" if login != "chief" else f"{url}{CONSOLE}/people")
    page.fill("form[action$='/account/password'] input[name=password]", FIRST)
    page.fill("input[name=new]", PASSWORD)
    page.click("form[action$='/account/password'] button")
    page.wait_for_url(f"**{CONSOLE}/login**")
    return log_in(page, url, login)


def log_in(page: Page, url: str, login: str, password: str = PASSWORD) -> Page:
    page.goto(f"{url}{CONSOLE}/login")
    page.fill("input[name=login]", login)
    page.fill("input[name=password]", password)
    page.click("main button.main")
    page.wait_for_url(f"**{CONSOLE}")
    return page


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("KLARTEXT_SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"console-{name}.png"))


def sign_all(page: Page, url: str) -> int:
    """Sign what waits, each text opened by itself; return how many."""
    signed = 0
    while True:
        page.goto(f"{url}{CONSOLE}/to-sign")
        links = page.locator("main table.list a")
        if not links.count():
            return signed
        links.first.click()
        page.check("input[name=read]")
        page.click("main form button.main")
        assert page.locator(".told").count(), page.inner_text("main")
        signed += 1


def publish(page: Page, url: str, note: str) -> None:
    page.goto(f"{url}{CONSOLE}/releases")
    page.fill("input[name=note]", note)
    page.click("main form.narrow button.main")
    job = page.url
    wait_for(lambda: page.goto(job) and page.locator("[data-state=done], [data-state=failed]").count())
    assert page.locator("[data-state=done]").count(), page.inner_text("main")


def ask(url: str, *texts: str) -> list[dict[str, object]]:
    """Be a patient who writes these messages; return the replies."""
    begun = httpx.post(f"{url}/api/v1/conversations", json={"language": "de", "consent": True}, timeout=60)
    assert begun.status_code == 201, begun.text
    one, headers = begun.json()["id"], {"Authorization": f"Bearer {begun.json()['token']}"}
    replies = []
    for number, text in enumerate(texts):
        turn = {"turn_id": f"t{number}", "text": text}
        answer = httpx.post(f"{url}/api/v1/conversations/{one}/turns", json=turn, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text
        replies.append(answer.json())
    return replies


def test_four_people_bring_three_pairs_from_patients_questions_to_patients(tmp_path: Path, open_page: OpenPage) -> None:
    new_key(tmp_path / "key.pem")
    (tmp_path / "password").write_text(FIRST)
    department = Installation(tmp_path, write_exam(tmp_path / "ct", languages=("de",)))
    department.run("records", "migrate")
    made = ("staff", "add", "chief", "--name", "Chris Haupt", "--role", "admin", "--password-file")
    department.run(*made, str(tmp_path / "password"))

    with department.running("console", str(department.exam)) as url:
        chief = log_in_first(open_page(DESKTOP), url, "chief")
        for login, (name, role) in PEOPLE.items():
            chief.goto(f"{url}{CONSOLE}/people")
            for field, value in (("name", name), ("login", login), ("password", FIRST)):
                chief.fill(f"input[name={field}]", value)
            chief.check(f"input[name=role][value={role}]")
            chief.click("main form button:has-text('Konto anlegen')")
        picture(chief, "accounts")
        ada, otto = (log_in_first(open_page(DESKTOP), url, login) for login in ("ada", "otto"))
        first = sign_all(ada, url)
        otto.goto(f"{url}{CONSOLE}/to-sign")
        picture(otto, "to-sign")
        assert sign_all(otto, url) == first
        publish(otto, url, "Die erste Fassung")
        otto.goto(f"{url}{CONSOLE}/releases")
        picture(otto, "releases")

    with department.running("serve", "--staff", "--catalog", str(department.exam)) as url:
        wait_for(lambda: httpx.get(f"{url}/healthz").status_code == 200)
        for asked, *_ in NEW.values():
            for text in asked:
                ask(url, text, "nein, nichts davon")  # where they were asked back, that is no answer
        ada, otto = (log_in(open_page(DESKTOP), url, login) for login in ("ada", "otto"))
        ada.goto(f"{url}{CONSOLE}/inbox")
        wait_for(lambda: _topics_in(ada, url) == len(NEW))
        picture(ada, "inbox")
        assert barriers(ada) == []
        for pair_id in NEW:
            _make_pair(ada, url, pair_id)
        assert sign_all(ada, url) == len(NEW)
        otto.goto(f"{url}{CONSOLE}/to-sign")
        otto.locator("main table.list a").first.click()
        picture(otto, "sign")
        assert sign_all(otto, url) == len(NEW)
        otto.goto(f"{url}{CONSOLE}/releases/next")
        picture(otto, "next")
        publish(otto, url, "Drei neue Fragen")

        for asked, _, answer in NEW.values():
            said = str(ask(url, asked[0])[0])
            assert answer.split(".", maxsplit=1)[0] in said, said


def _topics_in(page: Page, url: str) -> int:
    """Return of how many new matters the inbox shows a question; what is asked back comes when it is left so."""
    page.goto(f"{url}{CONSOLE}/inbox")
    shown = page.inner_text("main")
    return sum(any(text in shown for text in asked) for asked, *_ in NEW.values())


def _make_pair(ada: Page, url: str, pair_id: str) -> None:
    """Choose the questions in the inbox, begin a pair with them, and write it."""
    asked, question, answer = NEW[pair_id]
    ada.goto(f"{url}{CONSOLE}/inbox")
    for text in asked:
        entry = ada.locator("li.entry", has_text=text)
        if entry.count():  # else both stand in one group
            entry.locator("input[type=checkbox]").check()
    ada.click("button[value='new pair']")
    ada.wait_for_url("**/new-pair?**")
    ada.fill("input[name=id]", pair_id)
    ada.fill("[id='de.question']", question)
    ada.fill("[id='de.answer']", answer)
    ada.fill("[id='de.short_answer']", answer.split(". ")[0] + ".")
    ada.fill("[id='de.easy_answer']", answer)
    ada.fill("[id='de.variants']", "\n".join(asked))
    if pair_id == "eating":
        picture(ada, "editor")
    ada.click("button.main:has-text('Entwurf speichern')")
    ada.wait_for_url(f"**/pairs/{pair_id}**")
    assert "gespeichert" in ada.inner_text(".told")
