"""What the console says of findings and counts: in its own languages, in a curator's words."""

from __future__ import annotations

import ast
import re
from datetime import date
from pathlib import Path

import pytest

import bot
from bot.catalog import agreement
from bot.catalog import lint as lint_module
from bot.catalog.lint import lint
from bot.errors import BadData, Finding
from bot.web.staff.rendering import HERE, LANGUAGES, load_texts
from bot.web.staff.trail import about
from bot.web.staff.wording import Label, Said, in_words, said_of
from harness.staff_pages import runs
from tests.bot.release.exams import change_pairs, write_exam

COMMANDS = re.compile(r"`|klartext |--\w|words_target|valid_until|same_as")
TEXTS = load_texts([HERE, runs.HERE])
# Counts that stand behind a noun, or beside one that is the same for one and many.
ONE_FOR_ALL = {"desk_deleted", "desk_minutes", "figures_simulated_hint", "inbox_size", "inbox_text", "inbox_turn"}
ONE_FOR_ALL |= {"password_hint", "exchange_clashes", "exchange_confirm", "exchange_copies", "exchange_without"}
ONE_FOR_ALL |= {"desk_answers", "desk_late", "desk_sure_more"}  # never of one
ONE_FOR_ALL |= {"pairs_page", "pairs_wanted_short", "pairs_pulled_more"}


def codes_of_lint() -> set[str]:
    """Return every code that stands in the source of the checks."""
    found = set[str]()
    for module in (lint_module, agreement):
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
            named = [each.value for each in node.keywords if each.arg == "code"] if isinstance(node, ast.Call) else []
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "code" for t in node.targets):
                named.append(node.value)
            found |= {
                each.value
                for value in named
                for each in ast.walk(value)
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and len(each.value) > 3
            }
    return found


def test_every_finding_has_words_in_both_languages() -> None:
    codes = {f"finding_{code.replace('-', '_')}" for code in codes_of_lint()}

    assert len(codes) > 30
    for language in LANGUAGES:
        assert codes - set(TEXTS[language]) == {"finding_pair"} & codes
        assert not {key for key in codes if COMMANDS.search(TEXTS[language].get(key, ""))}


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_findings_of_a_bad_catalog_are_said_without_commands_and_without_english(
    tmp_path: Path, language: str
) -> None:
    exam = write_exam(tmp_path / "content", languages=("de", "en"))
    texts = {"answer": "Ja. Das dauert 3 Wochen. Rufen Sie 01 234 56 78 an.", "short_answer": "Das dauert 9 Tage. " * 4}
    change_pairs(exam, "de", **texts, easy_answer="Nach zwei Tagen bald. " + "Sehr " * 30 + "lang.", sources=[])
    change_pairs(exam, "en", answer="No. It takes 5 weeks. Call 01 234 56 79.", easy_answer=None)

    findings = lint(exam, today=date(2026, 11, 26))

    assert len({each.code for each in findings} - {""}) >= 9
    for each in findings:
        line = in_words(said_of(each), TEXTS[language])
        assert language == "en" or each.problem not in line or not each.code
        assert not COMMANDS.search(line) or not each.code
        assert "{" not in line
    if language == "de":
        said = " ".join(in_words(said_of(each), TEXTS["de"]) for each in findings if each.code)
        assert "3 Wochen" in said
        assert not re.search(r"\b(weeks|answer|sentences|days)\b", said)


def test_what_is_wrong_with_a_file_is_left_to_who_runs_the_service() -> None:
    found = Finding(Path("/somewhere/de.yaml"), 3, "", "Not valid YAML.", "Mend the syntax in this line.")

    assert "de.yaml" in in_words(said_of(found), TEXTS["de"])
    assert "Technik" in in_words(said_of(found), TEXTS["de"])


def test_what_is_stored_of_a_check_is_said_in_the_language_of_who_reads_it() -> None:
    stored = {"label": "check_not_signed", "values": {"what": "sentences de", "standing": "one signature"}}

    assert "Eigene Sätze des Programms (de) (von einer Person unterschrieben)" in in_words(stored, TEXTS["de"])
    assert "signed by one person" in in_words(Said(**stored), TEXTS["en"])  # type: ignore[arg-type]


def test_counts_have_a_word_for_one_and_a_word_for_many() -> None:
    assert Label("{n} {n:Text wartet|Texte warten}").format(n=1) == "1 Text wartet"
    assert Label("{n} {n:Text wartet|Texte warten}").format(n=0) == "0 Texte warten"
    for language in LANGUAGES:
        counted = {key for key, text in TEXTS[language].items() if "{n}" in text and "{n:" not in text}
        assert counted <= ONE_FOR_ALL | {"inbox_staff_since"}, counted - ONE_FOR_ALL


def test_what_somebody_must_mend_and_what_the_trail_names_has_words_in_both_languages() -> None:
    """Codes of errors that pages show, of what an import leaves out, and actions of the trail, as the source has them."""
    named: dict[str, set[str]] = {"finding": set(), "import": set(), "trail_did": set()}
    for path in sorted(Path(bot.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            given = [*node.args, *(each.value for each in node.keywords if each.arg == "code")]
            texts = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            if node.func.id == "Remark" and texts:
                named["import"].add(texts[-1])
            elif node.func.id == "Act":
                actions = (each.value for each in node.args[2:3] if isinstance(each, ast.Constant))
                named["trail_did"] |= {each for each in actions if isinstance(each, str)}
            elif node.func.id in ("BadData", "UserFixable", "Unreachable", "StopNotNoted"):
                codes = [each.value for each in node.keywords if each.arg == "code"]
                named["finding"] |= {str(each.value) for each in codes if isinstance(each, ast.Constant)}

    keys = {f"{kind}_{code.replace('-', '_').replace(' ', '_')}" for kind, codes in named.items() for code in codes}
    assert len(keys) > 40
    for language in LANGUAGES:
        assert keys <= set(TEXTS[language])
        assert not {key for key in keys if COMMANDS.search(TEXTS[language][key])}


def test_an_error_is_said_in_the_language_of_who_reads_it_and_one_without_a_code_is_for_technicians() -> None:
    coded = BadData("One account cannot be admin and curator.", code="admin-signs", values={"role": "curator"})

    assert "„Verwaltung“ und „Redaktion“" in in_words(said_of(coded), TEXTS["de"])
    assert "geben" in in_words(said_of(BadData("Odd.")), TEXTS["de"]).casefold()
    assert about("pair duration de", TEXTS["de"]) == "Paar duration (Deutsch)"
    assert about("near miss duration de", TEXTS["en"]) == "Near miss of duration (German)"
    assert about("account anna", TEXTS["de"]) == "Konto anna"
    assert about("sentences de", TEXTS["de"]) == "Eigene Sätze des Programms (Deutsch)"
