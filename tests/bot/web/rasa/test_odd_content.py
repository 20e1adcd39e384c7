"""Names and texts that YAML or Rasa could take for something else: written so that they are read back, or refused."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from bot.errors import BadData
from bot.web.rasa.project import Content, Options, compile_project
from bot.web.rasa.writing import write_project
from tests.bot.web.rasa import odd
from tests.bot.web.rasa.rasa_server import rasa_environ, rasa_program

# Run by Rasa's own Python, in the project: what Rasa reads there, and that its schemas take it.
READ = """\
import json, sys
from rasa.shared.core.domain import Domain
from rasa.shared.nlu.training_data.loading import load_data
domain, nlu = Domain.load("domain.yml"), load_data("data/nlu.yml")
answers = {
    name: [each["text"] for each in texts] for name, texts in domain.responses.items() if name.startswith("utter_faq/")
}
wordings = {}
for each in nlu.training_examples:
    wordings.setdefault(each.get_full_intent(), set()).add(each.get("text"))
found = {"answers": answers, "wordings": {name: sorted(texts) for name, texts in wordings.items() if "/" in name}}
print(json.dumps(found))
"""


@pytest.mark.parametrize("mode", ["delegate", "native"])
def test_odd_names_and_texts_are_read_back_as_they_were(mode: str) -> None:
    made = odd.content()
    files = compile_project(made, Options("native" if mode == "native" else "delegate", wordings=9))

    domain, nlu = (yaml.safe_load(files[name]) for name in ("domain.yml", "data/nlu.yml"))
    answers = {
        name: [each["text"] for each in texts]
        for name, texts in domain["responses"].items()
        if name.startswith("utter_faq/")
    }
    lines = {each["intent"]: each["examples"].splitlines() for each in nlu["nlu"] if "/" in each["intent"]}
    wordings = {name: sorted(line.removeprefix("- ") for line in own) for name, own in lines.items()}
    assert {"answers": answers, "wordings": wordings} == odd.expected(made)
    names = [
        *domain["intents"],
        *domain["slots"],
        *domain.get("forms", []),
        *domain["responses"],
        *domain.get("actions", []),
    ]
    assert len(set(names)) == len(names)
    if mode == "delegate":
        required = domain["forms"]["interview_form"]["required_slots"]
        assert set(required) < set(domain["slots"])
    assert all(not raw.isascii() for name, raw in files.items() if name != "credentials.yml")


@pytest.mark.parametrize(
    "text",
    [
        "Nehmen Sie [das](ding) mit.",
        '[das]{"entity": "ding"}',
        '[das][{"entity": "ding"}]',
        "Guten Tag, {name}.",
        "a { b",
    ],
)
@pytest.mark.parametrize("field", ["answer", "question"])
def test_what_rasa_reads_as_markup_is_refused_and_nothing_is_written(text: str, field: str, tmp_path: Path) -> None:
    made = odd.content()
    wrong = made.pairs["en"][0].model_copy(update={field: text})

    named = re.escape(f"{wrong.id} (en, {field})")
    with pytest.raises(BadData, match=f"^Rasa would take a part of the texts of {named} for an entity") as raised:
        write_project(compile_project(Content("x", {"en": [wrong]}, {}, made.wording), Options()), tmp_path / "out")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.proof
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["delegate", "native"])
def test_a_real_rasa_reads_odd_content_as_it_was_and_finds_nothing_wrong(mode: str, tmp_path: Path) -> None:
    made = odd.content()
    options = Options("native" if mode == "native" else "delegate", wordings=9)
    write_project(compile_project(made, options), tmp_path / "project")

    def ran(*command: str | Path) -> str:
        environ = {**rasa_environ(), "KLARTEXT_RASA_TOKEN": "any", "HOME": "/nowhere"}
        done = subprocess.run(
            command, cwd=tmp_path / "project", env=environ, capture_output=True, timeout=300, check=False
        )
        said = (done.stdout + done.stderr).decode(errors="replace")
        assert done.returncode == 0, said[-3000:]
        return done.stdout.decode()

    program = rasa_program()
    assert json.loads(ran(program.parent / "python", "-c", READ).splitlines()[-1]) == odd.expected(made)
    ran(program, "data", "validate")
