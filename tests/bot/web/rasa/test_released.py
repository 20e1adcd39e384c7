"""What a release holds, as a Rasa project; and that no project of drafts gets an answer where releases are served."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from bot.adapters.release_keys import Trust
from bot.adapters.sql_records import SqlRecords
from bot.adapters.sql_releases import SqlReleases
from bot.release.release import Switch
from bot.settings import Settings
from bot.talk.exams import Serving
from bot.talk.reception import Reception
from bot.testing import SMALL_PAIRS, HashEncoder
from bot.web.app import Service, build_app
from bot.web.editions import Editions
from bot.web.rasa import slots
from bot.web.rasa.project import ACTIONS_PATH
from tests.bot.release.exams import Site, change_pairs, sign, write_exam
from tests.bot.web.rasa.calls import Tracked
from tests.bot.web.serving import RASA_TOKEN
from tests.conftest import Run


@pytest.mark.usefixtures("few_alarm_examples")
def test_the_release_in_force_is_exported_and_a_project_of_drafts_is_refused_where_it_is_served(
    tmp_path: Path, klartext: Run
) -> None:
    now = datetime.now(UTC)
    records = SqlRecords.open(f"sqlite:///{tmp_path / 'klartext.db'}")
    site = Site(tmp_path, SqlReleases(records.engine))
    release = site.make(sign(write_exam(tmp_path / "exam"), "A", "B", at=now, until=now + timedelta(days=1)), now=now)
    site.releases.switch(Switch(now, "Anna", "activate", release.number))
    change_pairs(tmp_path / "exam", "de", answer="Halb geschrieben")
    site.withdraw("pain", at=now)
    environ = {"KLARTEXT_DATABASE_URL": f"sqlite:///{tmp_path / 'klartext.db'}", "KLARTEXT_RELEASE_TRUST": site.public}

    done = klartext("rasa", "export", tmp_path / "project", environ={**environ, "KLARTEXT_DATA": str(tmp_path)})

    assert done.returncode == 0, done.stderr
    domain = yaml.safe_load((tmp_path / "project" / "domain.yml").read_text(encoding="utf-8"))
    said = {name: each[0]["text"] for name, each in domain["responses"].items() if name.startswith("utter_faq/")}
    assert said == {
        f"utter_faq/{pair}": f"{texts[0]} ({pair}, de)" for pair, texts in SMALL_PAIRS["de"].items() if pair != "pain"
    }
    marker = domain["slots"][slots.PROJECT]["initial_value"]
    assert (marker["sample"], marker["mode"]) == (False, "delegate")

    def ask(marker: dict[str, Any]) -> tuple[int, str]:
        tracked = Tracked("", RASA_TOKEN, project=marker)
        headers = {"Authorization": f"Bearer {RASA_TOKEN}"}
        answer = served.post(ACTIONS_PATH, json=tracked.call("Was kostet das?"), headers=headers)
        return answer.status_code, answer.text

    settings = Settings.from_environment({**environ, "KLARTEXT_RASA_TOKEN": RASA_TOKEN}, data=tmp_path)
    trust = Trust.of([site.public], None)
    editions = Editions(settings, records, site.releases, trust, lambda: now, HashEncoder())

    def serving(number: int | None) -> Serving:
        edition = editions.of(number)
        return Serving(edition.assistant, edition.interviewers.of, edition.topics, edition.number)

    service = Service(Reception(editions.of(None).assistant, records, lambda: now, releases=serving), settings)
    service.prepared.set()
    served = TestClient(build_app(service))
    status, told = ask(marker)
    assert (status, "(costs, de)" in told) == (200, True)
    status, told = ask({**marker, "sample": True})
    assert (status, "(costs, de)" in told) == (409, False)
    assert "was exported for drafts (`--sample`), and here approved content only is shown" in told
    records.close()
