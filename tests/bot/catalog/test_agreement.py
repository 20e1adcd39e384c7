"""Texts that should say the same are compared: with units, in words and digits, in both languages."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from bot.catalog.amounts import Amount, amounts, lacking, listed, telephones
from bot.catalog.lint import lint
from bot.errors import Finding

TODAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("de", "Kühlen Sie zwei Stunden lang.", "2 hours"),
        ("de", "Das dauert eine Woche, selten zwei.", "1 week"),
        ("de", "Nach einer halben Stunde dürfen Sie gehen.", "30 minutes"),
        ("de", "Eine 20-minütige Pause, dann ein dreiwöchiger Abstand.", "3 weeks, 20 minutes"),
        ("de", "Vom 3. bis 5. Tag, oder an den Tagen 8 bis 11.", "3, 5 days, 8 days, 11 days"),
        ("de", "Kommen Sie zweimal im Jahr.", "2 per year"),
        ("de", "An einem Tag im Mai kamen zwei Ärztinnen.", ""),
        ("de", "Von 1.000 Frauen haben 2,5 Prozent etwas.", "2.5 per cent, 1000"),
        ("en", "Wait an hour and a half, or up to six days.", "6 days, 1.5 hours"),
        ("en", "Take it three times a day for a week.", "1 week, 3 per day"),
        ("en", "One to four 10-minute sessions.", "1, 4, 10 minutes"),
        ("en", "One day you will laugh; two nurses do.", ""),
        ("en", "A dose of 0.4 mSv in 15–20 seconds.", "0.4 mSv, 15 seconds, 20 seconds"),
        ("fr", "Attendez 3 minutes.", "3 minutes"),
        ("de", "Raum 3 l im Erdgeschoss, danach Haus 4 L und Zimmer 12 g.", "3, 4, 12"),
        ("de", "Der Zug fährt von Gleis 2 g, die Buslinie 7 m hält vor Tor 5 s.", "2, 5, 7"),
        ("de", "Weder das 5 g Netz noch ein 4G-Handy stört, sagt § 3 g.", "3, 4, 5"),
        ("de", "Trinken Sie im Raum 3 l Wasser mit 5 g Salz, bei 38 °C Fieber 2 l.", "2 litres, 3 litres, 38 °C, 5 g"),
        ("en", "Your train leaves from platform 2 g; the gate is 12 L.", "2, 12"),
        ("en", "Section 4 g and figure 2 l speak of a 5 g network.", "2, 4, 5"),
        ("en", "Take 5 g of powder in 3 l of water above 38 °C.", "3 litres, 38 °C, 5 g"),
        ("fr", "Salle 3 l, chambre n° 12 g; à l'étage 4 l'accueil vous attend.", "3, 4, 12"),
        ("fr", "Le réseau 5 g ne gêne pas, quai 2 g.", "2, 5"),
        ("de", "Nehmen Sie pro Tag 400 mg, am Tag 7 nichts.", "7 days, 400 mg"),
        ("fr", "Prenez par jour 400 mg au maximum.", "400 mg"),
        ("fr", "Rien jusqu'à 6 heures avant l'examen, venez à 8 heures.", "6 hours, 8 o'clock"),
        ("de", "Trinken Sie 1'000 ml.", "1000 ml"),
        ("fr", "Buvez 2 l d'eau avec 5 g de sel, à 38 °C.", "2 litres, 38 °C, 5 g"),
    ],
)
def test_an_amount_has_its_unit_and_may_be_in_words(language: str, text: str, said: str) -> None:
    assert sorted(listed(amounts(text, language)).split(", ")) == sorted(said.split(", "))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Amount("14", "days"), Amount("2", "weeks"), True),
        (Amount("12", "months"), Amount("1", "years"), True),
        (Amount("2", "per year"), Amount("6", "months"), True),
        (Amount("10", "minutes"), Amount("10", "seconds"), False),
        (Amount("3", "months"), Amount("3", "weeks"), False),
        (Amount("7", "days"), Amount("7", "working days"), False),
        (Amount("74"), Amount("74", "years"), True),
        (Amount("3"), Amount("3", "weeks"), False),
    ],
)
def test_amounts_are_the_same_when_they_measure_the_same(one: Amount, other: Amount, same: bool) -> None:
    assert (not lacking({one}, {other})) is same
    assert (not lacking({other}, {one})) is same


def test_each_year_beside_no_other_years_is_no_interval() -> None:
    yearly = amounts("You pay that every year.", "en")

    assert not lacking(yearly, amounts("You pay 20 francs.", "en"))
    assert listed(lacking(yearly, amounts("Every two years.", "en"))) == "every year"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Rufen Sie sofort 110 an, in der Schweiz 117 oder 144.", {"110", "144"}),
        ("Dial 998, or the surgery on 0800 40 30 20.", {"998", "0800403020"}),
        ("Rufen Sie 116 117 oder +43 1 555 44 33 an.", {"116117", "4315554433"}),
        ("Call 300 women, 250 days later, or in 120 minutes.", set()),
    ],
)
def test_telephone_numbers_are_told_from_amounts(text: str, numbers: set[str]) -> None:
    assert telephones(text) >= numbers - {"117"}
    assert numbers or not telephones(text)


def _lint(folder: Path, **texts: tuple[str, str]) -> list[Finding]:
    """Check a catalog of one pair; `texts` holds answer and easy answer by language."""
    for language, (answer, easy) in texts.items():
        pair = {"id": "p", "question": "?", "answer": answer, "easy_answer": easy}
        document = {"catalog": "c", "language": language, "version": "1", "pairs": [pair]}
        (folder / f"{language}.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    rules = ("numbers", "telephone", "yes-no")
    return [each for each in lint(folder, today=TODAY) if each.rule in rules and each.severity != "info"]


@pytest.mark.parametrize(
    ("answer", "easy", "only"),
    [
        ("Kühlen Sie 20 Minuten.", "Kühlen Sie 20 Sekunden.", "20 seconds"),
        ("Warten Sie drei Monate.", "Warten Sie 3 Wochen.", "3 weeks"),
        ("Kommen Sie alle zwei Jahre.", "Kommen Sie einmal im Jahr.", "every year"),
        ("Nach 4 Stunden, bei 2 von 3 Frauen.", "Nach 2 Stunden.", "2 hours"),
    ],
)
def test_another_unit_or_word_in_the_easy_answer_is_found(tmp_path: Path, answer: str, easy: str, only: str) -> None:
    found = _lint(tmp_path, de=(answer, easy))

    assert [(each.rule, each.problem) for each in found] == [("numbers", f"Only the easy answer says {only}.")]


def test_another_time_in_the_answer_is_found_though_it_says_that_of_the_easy_one_too(tmp_path: Path) -> None:
    (found,) = _lint(tmp_path, en=("Within 9 weeks. Nothing after 2 weeks? Call.", "Within 2 weeks. Call then."))

    assert found.problem == "Only the answer says 9 weeks; the easy answer says 2 weeks."


def test_the_same_in_other_units_and_words_is_no_finding(tmp_path: Path) -> None:
    german = ("Nach 14 Tagen, dann einmal im Jahr.", "Nach zwei Wochen. Dann jedes Jahr.")

    assert _lint(tmp_path, de=german, en=("After two weeks, then once a year.", "After 2 weeks, then yearly.")) == []


@pytest.mark.parametrize(("changed", "file"), [("de", "de.yaml"), ("en", "en.yaml")])
def test_languages_that_differ_are_told_at_the_one_that_was_changed(tmp_path: Path, changed: str, file: str) -> None:
    texts = {"de": ("Nach 5 Tagen.", "Nach 5 Tagen."), "en": ("After five days.", "After 5 days.")}
    texts[changed] = (texts[changed][0].replace("5", "9").replace("five", "nine"), texts[changed][1])

    found = [each for each in _lint(tmp_path, **texts) if "between languages" in each.problem]

    assert [each.path.name for each in found] == [file]
    assert "both texts agree" in found[0].problem


def test_languages_that_each_agree_with_themselves_are_both_named(tmp_path: Path) -> None:
    found = _lint(tmp_path, de=("Nach 5 Tagen.", "Nach 5 Tagen."), en=("After 6 days.", "After 6 days."))

    assert [each.path.name for each in found] == ["en.yaml", "en.yaml"]
    assert all("5 days in de only, 6 days in en only" in each.problem for each in found)
    assert "(de.yaml:4)" in found[0].problem


def test_the_odd_telephone_number_is_told_at_its_text(tmp_path: Path) -> None:
    found = _lint(
        tmp_path,
        de=("Rufen Sie 110 an.", "Rufen Sie 112 an."),
        en=("Call 112 (UK: 999).", "Call 112. In the UK, call 999."),
    )

    assert [(each.path.name, each.rule) for each in found] == [("de.yaml", "telephone")]
    assert found[0].problem.startswith("The answer gives 110 and does not give 112, unlike the easy answer (de.yaml:")


def test_two_texts_with_different_telephone_numbers_are_both_named(tmp_path: Path) -> None:
    (found,) = _lint(tmp_path, de=("Rufen Sie 144 an.", "Rufen Sie 145 an."))

    assert found.problem == "The easy answer gives 145 and does not give 144, unlike the answer (de.yaml:4)."


def test_a_telephone_number_that_the_easy_answer_leaves_out_is_found(tmp_path: Path) -> None:
    found = _lint(tmp_path, de=("Rufen Sie 112 an.", "Rufen Sie an."), en=("Call 112.", "Call now."))

    assert {each.problem.partition(",")[0] for each in found} == {"The easy answer does not give 112"}
    assert [each.path.name for each in found] == ["de.yaml", "en.yaml"]


def test_a_number_that_both_texts_of_one_language_changed_is_found(tmp_path: Path) -> None:
    found = _lint(tmp_path, de=("Rufen Sie 113 an.", "Rufen Sie 113 an."), en=("Call 112.", "Call 112."))

    assert {each.path.name for each in found} == {"de.yaml", "en.yaml"}


@pytest.mark.parametrize(
    ("de", "en", "odd"),
    [
        (("Nein, bitte nicht.", "Ja, das geht."), ("No, please not.", "No. Not today."), ["de.yaml:5"]),
        (("Nein, bitte nicht.", "Nein."), ("Yes, please.", "No."), ["en.yaml:4"]),
        (("Ja.", "Ja."), ("No.", "No."), ["en.yaml:4", "en.yaml:5"]),
        (("Nein, heute nicht.", "Keine Creme heute."), ("No cream today.", "No: leave it."), []),
        (("Ja, gern.", "Jacken hängen dort."), ("Yes!", "You may."), []),
    ],
)
def test_yes_and_no_to_one_question_are_found(
    tmp_path: Path, de: tuple[str, str], en: tuple[str, str], odd: list[str]
) -> None:
    found = [each for each in _lint(tmp_path, de=de, en=en) if each.rule == "yes-no"]

    assert [f"{each.path.name}:{each.line}" for each in found] == odd


@pytest.mark.parametrize(
    ("de", "en"),
    [
        ("100 mg ASS", "100 g of ASA"),
        ("200 ml Wasser", "200 litres of water"),
        ("50 µg", "50 mg"),
        ("10 Einheiten", "10 ml"),
        ("ab 38,5 Grad", "from 38.5 degrees Fahrenheit"),
        ("eine halbe Tablette", "a whole tablet"),
        ("um 8 Uhr", "at 8 pm"),
    ],
)
def test_a_dose_or_time_of_day_with_another_unit_is_found_between_languages_and_texts(
    tmp_path: Path, de: str, en: str
) -> None:
    found = _lint(tmp_path, de=(de, de), en=(en, en))

    assert {each.rule for each in found} == {"numbers"}
    assert lacking(amounts(de, "de"), amounts(en, "en"))


@pytest.mark.parametrize(
    ("de", "en"),
    [
        ("100 mg", "0.1 g"),
        ("zwei Liter", "2000 ml"),
        ("um 14 Uhr", "at 2 pm"),
        ("um 8 Uhr abends", "at 8 p.m."),
        ("8.30 bis 16 Uhr", "8:30 am to 4 pm"),
    ],
)
def test_one_amount_in_two_units_is_the_same(de: str, en: str) -> None:
    german, english = amounts(de, "de"), amounts(en, "en")

    assert not lacking(german, english) | lacking(english, german)
