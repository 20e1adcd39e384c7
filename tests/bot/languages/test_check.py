"""A set of files is complete, or every line says what is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.errors import BadData
from bot.languages.check import problems_of
from bot.languages.files import add, forget, in_folder, known, load, packaged
from bot.languages.opening import open_languages
from bot.matching.red_flags import load_red_flags
from bot.sentences.reply import SENTENCES
from bot.sentences.wording import NEUTRAL
from bot.talk.messages import short_reaction, switches_to
from tests.bot.languages.samples import LANGUAGES, as_a_sites, copied

FR = in_folder(LANGUAGES)["fr"]


def test_the_french_sample_is_complete() -> None:
    assert list(problems_of("fr", FR)) == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_languages_of_the_package_pass_the_check_of_texts_and_words_too(language: str) -> None:
    files = as_a_sites(language)

    # Their rules are many and measured elsewhere; their commands are their own.
    odd = [line for line in problems_of("xx", files) if "/red_flag" not in line and "`commands`" not in line]

    assert odd == []


SPOILT = [
    ("interface.yaml", r"^thanks: .*$", "", "`thanks` is missing. English: You are welcome."),
    ("interface.yaml", r"^thanks: .*$", "thanks:", "`thanks` has no text yet."),
    ("interface.yaml", r"^thanks: .*$", 'thanks: ""', "`thanks` has no text yet."),
    ("interface.yaml", r"^thanks: .*$", "thanks: [a]", "`thanks` is not what belongs there, which is a text."),
    ("interface.yaml", r"^thanks:", "thanx: x\nthanks:", "`thanx` is no key of this file."),
    ("interface.yaml", r"\{limit\}", "{limite}", "`too_long` has the slot {limite}, which nobody fills; known here: {limit}."),
    ("interface.yaml", r"\{limit\}", "mille", "`too_long` lacks the slot {limit}."),
    ("interface.yaml", r"\{limit\}", "{limit", "`too_long` has a brace that is not closed."),
    ("interface.yaml", r"^thanks:", "\tthanks:", "this is no YAML in UTF-8."),
    ("emergency.yaml", r"^  urgent_suicide: >-$", "  urgent_sad: >-", "`sentences.urgent_suicide` is missing."),
    ("emergency.yaml", r"^  CH: le service.*$", "", "`out_of_hours.CH` is missing."),
    ("emergency.yaml", r"Suisse\}", "Suisse, IT: Italie}", "`countries` has IT; known are AT, BE, CH, DE, FR, GB."),
    ("page.yaml", r"^skip: .*$", "", "`skip` is missing. English: Skip to content"),
    ("language.yaml", r"^commands: .*$", "commands: [/english]", "`commands` has /english, which means another language."),
    ("language.yaml", r"^commands: .*$", "commands: [français]", "`commands` are single words behind a slash"),
    ("language.yaml", r"base: 207", "basis: 207", "`readability` is numbers for base"),
    ("reactions.yaml", r"^waiting: .*$", "waiting: ['(']", "`waiting` has '(', which is no regular expression"),
    ("reactions.yaml", r"^waiting: .*$", "waiting: ['x*']", "`waiting` has 'x*', which fits anything."),
    ("reactions.yaml", r"^waiting: .*$", "waiting: []", "`waiting` has no text yet."),
    ("messages.yaml", r"^  fill: \['merci'", "  fill: ['[', 'merci'", "`all_clear.fill` has '['"),
    ("plain.yaml", r"^sadness:", "sorrow:", "`sorrow` is no key of this file."),
    ("plain.yaml", r"'j en ai", "'(j en ai", "`sadness` has '(j en ai marre de (?:ma|cette) vie', which is no regular"),
    ("interview_words.yaml", r"^fold: plain", "fold: loud", "`fold` must be one of"),
    ("interview_words.yaml", r"^  this_year: .*$", "", "`dates.this_year` is missing."),
    ("manners.yaml", r"^sounds: .*$", "sounds:", "`sounds` has no text yet."),
    ("red_flags.yaml", r"^  - flag: stroke$", "  - flag: strike", "there is no rule for the flag 'stroke'."),
    ("red_flags.yaml", r"^      - 'me faire du mal'$", "  - flag: suicide\n    any: ['xyz']", "rule 2 (suicide) has no example"),
    ("red_flags.yaml", r"crise cardiaque", "{attaque}", "rule 5 (chest-pain) names {attaque}, which `words` does not have."),
    ("red_flags.yaml", r"'me faire du mal'", "'me faire ('", "is no regular expression"),
    ("red_flag_examples.yaml", r"(?s)^  suicide:.*(?=^  acute)", "", "`urgent.suicide` has no examples."),
    ("red_flag_examples.yaml", r"^harmless:$", "harmless:\n  - Je veux mourir", "takes the harmless 'Je veux mourir' for 'suicide'."),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "line"), SPOILT, ids=[f"{each[0]}-{each[3][:30]}" for each in SPOILT])
def test_whatever_is_wrong_is_told_in_one_line_with_its_file(name: str, old: str, new: str, line: str) -> None:
    text, times = re.subn(old, lambda _: new, FR[name].decode(), count=1, flags=re.MULTILINE)
    assert times

    found = list(problems_of("fr", {**FR, name: text.encode()}))

    assert any(line in each for each in found), found
    assert all(each.startswith(f"fr/{name}") or name == "red_flag_examples.yaml" for each in found)
    assert all("\n" not in each for each in found)


@pytest.mark.parametrize("name", ["red_flags.yaml", "emergency.yaml", "page.yaml"])
def test_a_language_without_rules_emergency_texts_or_labels_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "fr" / name).unlink()

    with pytest.raises(BadData, match=rf"^{re.escape(str(folder))}/fr/{name}: the file is missing\. .*$") as refused:
        open_languages(folder, ["de", "fr"])

    assert "klartext qa language fr" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert known() == packaged()


def test_a_language_that_the_catalog_does_not_have_may_be_half_written(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "it").mkdir()
    (folder / "it" / "page.yaml").write_text("title: Domande\n", encoding="utf-8")

    open_languages(folder, ["fr"])

    assert known() == ("de", "en", "fr")


def test_what_may_be_missing_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        open_languages(LANGUAGES, ["fr"])

    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("language fr: without red_flag_lines.tsv, health.tsv, remarks.tsv")


@pytest.mark.parametrize("wanted", ["it", "de"])
def test_a_folder_that_cannot_be_used_is_refused(wanted: str, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    if wanted == "de":
        (folder / "de").mkdir()

    with pytest.raises(
        BadData, match=r"There is no language 'it' \(there are de, en, fr\)|'de' is a language of the program"
    ):
        open_languages(folder, [wanted])
    with pytest.raises(BadData, match="cannot be read"):
        open_languages(tmp_path / "nowhere", ["fr"])


def test_tables_know_a_language_as_long_as_it_is_spoken() -> None:
    assert "fr" not in NEUTRAL.phrases

    add({"fr": FR})
    assert SENTENCES["fr"]["thanks"] == "Avec plaisir. Avez-vous une autre question ?"
    assert SENTENCES["de"]["foreign_in_fr"] != SENTENCES["de"]["foreign_german"]
    assert SENTENCES["fr"]["urgent_suicide_ch"].count("La Main Tendue 143") == 1
    assert load_red_flags("fr").check("Je n'arrive plus à respirer") == "breathing"
    assert switches_to("En français, s'il vous plaît !") == "fr"
    assert short_reaction("merci beaucoup, bonne journée") == "farewell"
    assert short_reaction("vielen dank") == "thanks"

    add({"fr": {**FR, "interface.yaml": FR["interface.yaml"].replace(b"Avec plaisir.", b"De rien.")}})
    assert SENTENCES["fr"]["thanks"] == "De rien. Avez-vous une autre question ?"

    forget("fr")
    assert "thanks" not in SENTENCES["fr"]  # French is a foreign language again
    assert switches_to("en français s'il vous plaît") is None
    with pytest.raises(BadData, match="There is no language 'fr'"):
        load("fr", "interface.yaml")
