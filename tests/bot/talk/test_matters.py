"""What single words name, in chats of several exams: never answered by the other exam, and never dropped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bot import Assistant
from bot.adapters.sql_records import SqlRecords
from bot.sentences.interface_texts import INTERFACE_TEXTS
from bot.sentences.reply import Content, Interface, OtherExam, Reply, shows_alarm
from bot.talk.matters import matters_in
from bot.talk.naming import Called, read_names, tells_symptom
from bot.talk.reception import Reception
from bot.testing import HashEncoder
from tests.alarm_examples import few_taught
from tests.bot.talk.test_exams import begin, choices, service, texts
from tests.two_exams import write_exam

DE = INTERFACE_TEXTS["de"]
OFFER = "Dazu finde ich etwas bei „MRT“. Möchten Sie die Antwort aus „MRT“ sehen?"
JEWELS, METAL = "Mammographie: Darf Schmuck dran bleiben?", "MRT: Muss ich Metall ablegen?"
DEVICE = "MRT: Geht es mit Gerät im Körper?"
PAIRS = {
    "mammo": [
        ("jewels", "Darf Schmuck dran bleiben?", ["ring dran?", "schmuck dran lassen", "ring anlassen", "ehering dran"])
    ],
    "mri": [
        ("metal", "Muss ich Metall ablegen?", ["metall weg?", "metallsachen ablegen", "alles aus metall abgeben"]),
        ("device", "Geht es mit Gerät im Körper?", ["gerät im körper?", "ich habe ein gerät in mir"]),
    ],
}
MATTERS = {
    "mammo": {"jewels": ["Ring", "Ehering", "Piercing", "Schmuck"]},
    "mri": {
        "metal": ["Metall", "Ring", "Ehering", "Piercing", "Schmuck"],
        "device": ["Schrittmacher", "Insulinpumpe", "Stent", "coil", "Spirale"],
    },
}


def _write(folder: Path, name: str) -> Path:
    place = write_exam(folder, name)
    for language in ("de", "en"):
        file = place / f"{language}.yaml"
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
        for pair_id, question, variants in PAIRS[name]:
            answer = f"{'MRT' if name == 'mri' else 'Mammographie'}: {question}"
            own = {"id": pair_id, "question": question, "variants": variants, "answer": answer}
            document["pairs"].append({**document["pairs"][0], **own})
        file.write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    exam = yaml.safe_load((place / "exam.yaml").read_text(encoding="utf-8"))
    exam |= {"matters": MATTERS[name], "only_named": [pair_id for pair_id, *_ in PAIRS[name]]}
    (place / "exam.yaml").write_text(yaml.safe_dump(exam, allow_unicode=True), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Assistant]]:
    folder, data, encoder = tmp_path_factory.mktemp("matters"), tmp_path_factory.mktemp("data"), HashEncoder()
    with few_taught():
        yield {
            name: Assistant.open(_write(folder, name), data=data, encoder=encoder, sample=True)
            for name in ("mammo", "mri")
        }


@pytest.fixture
def reception(both: dict[str, Assistant], records: SqlRecords) -> Reception:
    return service(both, records)


def shown(reply: Reply) -> list[str]:
    return [part.text for part in reply.parts if isinstance(part, (Content, OtherExam))]


NAMED = [
    "darf der ring in der röhre dran bleiben?",
    "Piercing beim Kernspin anlassen?",
    "Chan i de Ehering i de Röhre ahbhalte?",
    "schmuck und MRT, ring dran?",
    "bei der mammo durfte der ring dran bleiben, also auch im MRT?",
    "Insulinpumpe MRT",
]


@pytest.mark.parametrize("said", NAMED)
def test_metal_is_never_answered_by_the_exam_that_was_not_named(reception: Reception, said: str) -> None:
    chat = begin(reception, "mammo")

    assert texts(chat.say(said)) == [OFFER]
    assert shown(chat.say("ja"))[0].startswith("MRT: ")


@pytest.mark.parametrize(
    "said", ["beim MRT auch?", "und in der röhre", "gilt das auch im Kernspin?", "same in the tube?"]
)
def test_the_same_asked_of_the_other_exam_is_about_what_was_asked_before(reception: Reception, said: str) -> None:
    chat = begin(reception, "mammo")
    assert shown(chat.say("ring dran?")) == [JEWELS]

    offered = chat.say(said)
    assert not shown(offered)
    assert len(choices(offered)) == 2
    assert shown(chat.say(choice=1)) == [METAL]
    # And back: what was asked there is asked here.
    assert shown(chat.say("und bei der Mammo?")) == [JEWELS]


@pytest.mark.parametrize("said", ["und hier?", "hier auch?", "bei der MRT auch?"])
def test_the_same_asked_of_this_exam_is_not_answered_by_the_other(reception: Reception, said: str) -> None:
    chat = begin(reception, "mri")
    chat.say("Ring bei der Mammo anlassen?")
    assert shown(chat.say("ja")) == [JEWELS]

    assert shown(chat.say(said)) == [METAL]


def test_what_was_so_in_the_other_exam_is_asked_of_this_one(reception: Reception) -> None:
    chat = begin(reception, "mri")

    assert shown(chat.say("bei der mammo durfte der ring dran bleiben, hier auch?")) == [METAL]
    assert shown(chat.say("in der mammo war es egal, also ja?")) == [METAL]


def test_where_nothing_can_be_offered_neither_is_shown(both: dict[str, Assistant], records: SqlRecords) -> None:
    english = Assistant({"en": both["mri"]._opened["en"]}, both["mri"].encoder, sample=True, house=both["mri"].house)
    chat = begin(service({"mammo": both["mammo"], "mri": english}, records), "mammo")

    told = chat.say("ring in der röhre dran?")

    assert not shown(told)
    assert not told.choices
    assert texts(told)[0] == DE["declined"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (["Schrittmacher"], [DEVICE]),
        (["Insulinpumpe!", "danke"], [DEVICE]),
        (["Ich hab seit zwei Wochen einen Stent"], [DEVICE]),
        (["Piercing", "Spirale"], [METAL, DEVICE]),
        (["die Untersuchung"], []),
        (["asdf"], []),
    ],
)
def test_what_was_named_before_the_exam_is_answered_with_it(
    reception: Reception, said: list[str], told: list[str]
) -> None:
    chat = begin(reception)
    for each in said:
        chat.say(each)

    chosen = chat.say("MRT")

    assert chat.exam == "mri"
    assert texts(chosen)[0] == "Gut, es geht um: MRT."
    assert shown(chosen) == told


def test_what_is_asked_with_the_exams_name_comes_behind_what_was_said_before(reception: Reception) -> None:
    chat = begin(reception)
    chat.say("Schrittmacher")

    assert shown(chat.say("MRT, muss ich Metall ablegen?")) == [DEVICE, METAL]
    assert shown(begin(reception).say("der arzt will ein mrt vom knie und ich hab eine spirale")) == [DEVICE]


def test_an_emergency_is_one_before_any_word(reception: Reception) -> None:
    chat = begin(reception, "mammo")

    assert shows_alarm(chat.say("Schrittmacher, MRT, ich kriege keine Luft"))
    assert not shown(chat.say("ring in der röhre dran?"))


def test_a_part_of_the_body_beside_such_a_word_is_no_complaint(reception: Reception) -> None:
    for said in ("brustwarzenpiercing", "Ring an der Brust?"):
        reply = begin(reception).say(said)
        keys = [part.key for part in reply.parts if isinstance(part, Interface)]
        assert keys == ["exam_noted", "exam_question"]


def test_a_device_beside_an_old_illness_is_asked_back_about(reception: Reception) -> None:
    chat = begin(reception, "mri")

    asked = chat.say("Hatte 2019 einen Herzinfarkt und seitdem einen Stent drin, Kaffee trink ich keinen mehr")

    assert choices(asked)[0] == "Geht es mit Gerät im Körper?"
    assert not shown(asked)
    assert shown(chat.say(choice=1)) == [DEVICE]


def test_words_of_a_symptom() -> None:
    calm = ("brustwarzenpiercing, muss das raus?", "nipple piercings ok?", "Ich habe Brustimplantate", "I have a coil")
    ill = (
        *("das Piercing nässt und ist rot", "mein Implantat ist hart", "unterm Ring ist der Finger geschwollen"),
        *("my nipple piercing is weeping", "the implant feels odd", "a lump by my port", "mein Stent tut weh"),
    )
    assert [said for said in calm if tells_symptom(said)] == []
    assert [said for said in ill if not tells_symptom(said)] == []


def test_words_stand_inside_longer_ones_and_misspelt(both: dict[str, Assistant]) -> None:
    mri = both["mri"]

    assert matters_in(mri, "Brustwarzenpiercings und Schritmacher", "de") == ("device", "metal")
    assert matters_in(mri, "der Sprung, ein Vorhang und die Erinnerung", "de") == ()


def test_which_exam_is_asked_of() -> None:
    exams = {"a": Called((("mrt",), ("roehre",))), "b": Called((("mammo",),))}

    assert read_names("bei der mammo war es egal, also auch im MRT?", exams).last == "a"
    assert read_names("bei der mammo war es egal, hier auch?", exams).here
    assert not read_names("MRT ist morgen, darf ich den Ring anlassen?", exams).here
    assert read_names("in der röhre auch?", exams).leans
    assert not read_names("MRT", exams).leans
    assert read_names("lieber MRT statt Mammo", exams).compares
    assert read_names("weder MRT noch Mammo", exams).denied == ("a", "b")
    assert read_names("brauche ich noch ein MRT", exams).meant == ("a",)
