"""The pytest plugin, in pytest processes of their own: ids, thresholds, --lf, xdist, JUnit properties.

The system under test is a command that writes down what it is asked.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from bot import Assistant
from bot.settings import Settings
from harness.patients.suites import Question, Recording, save_suite

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
SETTINGS_FOLDER = Settings.from_environment({}).seal_key_file.parents[1]  # before a test moves the home
PLUGINS = ("-p", "harness.pytest_plugin", "-p", "xdist.plugin")
# Answers with the pair that a question names, unless it is to be wrong; "crash" ends it.
SYSTEM = """\
import json, sys
for line in sys.stdin:
    question = json.loads(line)["question"]
    with open("asked.txt", "a", encoding="utf-8") as file:
        file.write(question + "\\n")
    if "crash" in question:
        sys.exit(1)
    pair, _, rest = question.partition(" ")
    if pair == "help":
        print(json.dumps({"decision": "urgent"}), flush=True)
    elif "wrong" in rest:
        print(json.dumps({"decision": "answered", "pair_id": "costs", "candidates": [{"pair_id": "costs"}]}), flush=True)
    else:
        print(json.dumps({"decision": "answered", "pair_id": pair, "candidates": [{"pair_id": pair}]}), flush=True)
"""


@pytest.fixture
def place(
    pytester: pytest.Pytester,
    small: Assistant,
    small_folder: Path,
    make_question: Callable[..., Question],
    monkeypatch: pytest.MonkeyPatch,
) -> pytest.Pytester:
    """A folder with a system and a suite: shy patients are understood in three of five questions about pain."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # installed or not, the plugin is loaded once
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("KLARTEXT_DATA", str(pytester.path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(SETTINGS_FOLDER))  # the key of the trained data lies there
    folder = pytester.path
    (folder / "system.py").write_text(SYSTEM, encoding="utf-8")
    command = {"kind": "command", "command": [sys.executable, "system.py"], "timeout_s": 20}
    (folder / "system.yaml").write_text(yaml.safe_dump(command), encoding="utf-8")
    texts = {
        ("pain", "clear"): [f"pain right {n}" for n in range(5)],
        ("pain", "shy"): ["pain right a", "pain wrong b", "pain right c", "pain wrong d", "pain right e"],
        ("duration", "clear"): ["duration right 1"],
    }
    questions = [
        make_question(number, text, pair, vignette)
        for (pair, vignette), found in texts.items()
        for number, text in enumerate(found)
    ]
    urgent = make_question(0, "help me", None, "shy").model_copy(update={"kind": "urgent", "id": "urgent/0"})
    novel = make_question(0, "never asked", None, "shy")
    save_suite(
        folder / "mine",
        catalog=small.catalog("de"),
        note="",
        recording=Recording((*questions, urgent, novel), (), {}),
        today=date(2026, 1, 1),
    )
    (folder / "options.txt").write_text(
        f"--klartext-suite=mine\n--klartext-system=system.yaml\n--klartext-catalog={small_folder}\n", encoding="utf-8"
    )
    return pytester


def run(place: pytest.Pytester, *more: str) -> pytest.RunResult:
    return place.runpytest_subprocess(*PLUGINS, "@options.txt", *more, timeout=120)


def asked(place: pytest.Pytester) -> list[str]:
    return (place.path / "asked.txt").read_text(encoding="utf-8").splitlines()


def test_each_pair_and_vignette_is_a_test_with_a_threshold(place: pytest.Pytester) -> None:
    done = run(place, "-v", "--junitxml=out.xml")

    done.assert_outcomes(passed=3, failed=1)
    done.stdout.fnmatch_lines(
        [
            "*mine::pain[[]clear[]] PASSED*",
            "*mine::pain[[]shy[]] FAILED*",
            "*mine::duration[[]clear[]] PASSED*",
            "*mine::urgent[[]shy[]] PASSED*",
            "3 of 5 right (0.60), wanted 0.80:",
            "*pain wrong b",
            "*answered: costs; first candidate costs*",
        ]
    )
    done.stdout.no_fnmatch_line("*Traceback*")
    assert "never asked" not in asked(place)  # people judge novel questions
    cases = ET.parse(place.path / "out.xml").getroot().iter("testcase")
    properties = {
        case.get("name"): {each.get("name"): each.get("value") for each in case.iter("property")} for case in cases
    }
    assert properties["pain[shy]"] == {"stratum": "shy", "pair": "pain", "questions": "5", "right": "3"}
    assert properties["urgent[shy]"]["pair"] == "urgent"


def test_the_threshold_is_an_option(place: pytest.Pytester) -> None:
    run(place, "--klartext-threshold=0.6").assert_outcomes(passed=4)


def test_one_test_per_question_and_only_the_last_failed_again(place: pytest.Pytester) -> None:
    first = run(place, "--klartext-per=question", "-v")
    first.assert_outcomes(passed=10, failed=2)
    first.stdout.fnmatch_lines(["*mine::pain[[]shy-2[]] FAILED*"])
    (place.path / "asked.txt").unlink()

    again = run(place, "--klartext-per=question", "--lf")

    again.assert_outcomes(failed=2)
    assert asked(place) == ["pain wrong b", "pain wrong d"]


def test_workers_share_the_questions_and_ask_each_once(place: pytest.Pytester) -> None:
    done = run(place, "--klartext-per=question", "-n2", "--junitxml=out.xml")

    done.assert_outcomes(passed=10, failed=2)
    assert set(Counter(asked(place)).values()) == {1}
    assert len(asked(place)) == 12
    assert len(list(ET.parse(place.path / "out.xml").getroot().iter("property"))) == 4 * 12

    (place.path / "asked.txt").unlink()
    again = run(place, "--klartext-per=question", "-n2", "--lf")

    again.assert_outcomes(failed=2)
    assert sorted(asked(place)) == ["pain wrong b", "pain wrong d"]


def test_a_suite_comes_alone_unless_files_are_named(place: pytest.Pytester) -> None:
    place.makepyfile(test_own="def test_own(): pass")

    run(place, "-k", "duration or own").assert_outcomes(passed=1, deselected=4 - 1)
    run(place, "-k", "duration or own", "-n1").assert_outcomes(passed=1)
    run(place, "-k", "duration or own", "test_own.py").assert_outcomes(passed=2, deselected=3)
    run(place, "-m", "klartext and not klartext", "--strict-markers").assert_outcomes(deselected=4)


def test_a_system_that_breaks_is_no_wrong_answer_but_the_test_fails(
    place: pytest.Pytester, small: Assistant, make_question: Callable[..., Question]
) -> None:
    questions = (make_question(1, "pain crash", "pain", "clear"),)
    save_suite(
        place.path / "broken",
        catalog=small.catalog("de"),
        note="",
        recording=Recording(questions, (), {}),
        today=date(2026, 1, 1),
    )

    done = run(place, "--klartext-suite=broken")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["The system failed on 1 of 1 questions: *"])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--klartext-suite=nothing", "There is no suite 'nothing'."),
        ("--klartext-system=nothing", "There is no system 'nothing'."),
        ("--klartext-threshold=80", "a share lies between 0 and 1"),
        ("--klartext-catalog=mammography", "asks about 'small', but the catalog is 'mammography'"),
    ],
)
def test_bad_options_are_one_line_and_a_usage_error(place: pytest.Pytester, option: str, said: str) -> None:
    done = run(place, option)

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    errors = [line for line in done.errlines + done.outlines if line.startswith("ERROR: ")]
    assert len(errors) == 1
    assert said in errors[0]
    assert not any("Traceback" in line for line in done.errlines + done.outlines)


def test_without_a_suite_the_plugin_imports_nothing(place: pytest.Pytester) -> None:
    place.makepyfile(
        """
        import sys

        def test_nothing_of_klartext_was_imported():
            assert {name for name in sys.modules if name.split(".")[0] in ("bot", "harness")} == {
                "harness", "harness.pytest_plugin"
            }
            assert "numpy" not in sys.modules
        """
    )

    place.runpytest_subprocess(*PLUGINS, timeout=60).assert_outcomes(passed=1)


def test_the_shipped_assistant_is_tested_in_process(
    place: pytest.Pytester, shipped: Assistant, shipped_data: Path
) -> None:
    assert shipped.languages
    options = ("--klartext-suite=mammography-de", f"--klartext-data={shipped_data}", "-v")

    done = place.runpytest_subprocess(*PLUGINS, *options, "-k", "deodorant", "-W", "error", timeout=120)

    done.assert_outcomes(passed=3, deselected=96)
    done.stdout.fnmatch_lines(["*mammography-de::deodorant[[]low-language-literacy[]] PASSED*"])


def test_the_entry_point_names_the_plugin() -> None:
    points = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]

    assert callable(import_module(points["pytest11"]["klartext"]).pytest_addoption)


def test_the_reference_names_every_option() -> None:
    source = (ROOT / "harness" / "pytest_plugin.py").read_text(encoding="utf-8")
    options = set(re.findall(r'"(--klartext-[a-z]+)"', source))
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")

    assert len(options) == 8
    assert {option for option in options if f"`{option}" not in reference} == set()
