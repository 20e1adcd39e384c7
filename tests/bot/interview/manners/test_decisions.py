"""What answers leave to decide before the exam: by the rules and words of a form; safe where in doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.interview.load import load_form
from bot.interview.manners.decisions import Decisions, Reason
from bot.interview.manners.lexicon import Lexicon
from bot.interview.manners.page_turn import PageSent
from bot.interview.manners.pages import fields_in
from bot.interview.values.fhir_names import DECISION, DECISION_WORDS
from tests.bot.interview.chat import Chat
from tests.bot.interview.mri_patients import MriPatient, mri_safety
from tests.bot.interview.resources import Json, form, item

MRI = mri_safety()
LEXICON = Decisions.of(load_form(MRI)).lexicon


def rule(*clear: str, words: str = "") -> Json:
    parts: list[Json] = [{"url": "clear", "valueCode": each} for each in clear]
    return {"url": DECISION[0], "extension": [*parts, *([{"url": "words", "valueCode": words}] if words else [])]}


def choice(link_id: str, *codes: str, kind: str = "open-choice", extension: Json, **further: Any) -> Json:
    options: list[Any] = [{"valueCoding": {"code": code, "display": code, "system": "s:x"}} for code in codes]
    return item(link_id, kind, answerOption=options, extension=[extension], **further)


DONOR = form(
    choice("bleeding", "never", "sometimes", extension=rule("never")),
    choice("food", "bread", "fish", extension=rule("bread", words="listed")),
    item("rested", "boolean", extension=[rule("true")]),
    item("note", "text"),
    language="en",
    extension=[
        {
            "url": DECISION_WORDS[0],
            "extension": [
                {"url": "lang", "valueCode": "en"},
                {"url": "words", "valueString": "haemophilia, nose bleed, *vomit*"},
                {"url": "denials", "valueString": "no, never"},
                {"url": "affirms", "valueString": "yes"},
                {"url": "around", "valueString": "i, have"},
                {"url": "joins", "valueString": "or"},
                {"url": "own", "valueString": "i, my"},
            ],
        }
    ],
)


def decided(*said: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return what is to decide once a donor has said something to each question."""
    chat = Chat(DONOR, "en")
    for each in said:
        chat.say(each)
        while chat.open.startswith(("read-back", "checking")):
            chat.say("yes")
    return [(each.kind, each.link_id, each.said) for each in chat.interview.to_decide(chat.session)]


def test_a_form_of_another_field_uses_the_same_rules() -> None:
    assert decided("never", "bread", "yes", "no") == []
    assert decided("sometimes", "fish", "no", "no") == [
        ("answer", "bleeding", ("sometimes",)),
        ("answer", "food", ("fish",)),
        ("answer", "rested", ("false",)),
    ]
    assert decided("skip", "skip", "skip", "skip") == [
        ("not-answered", "bleeding", ()), ("not-answered", "food", ()), ("not-answered", "rested", ()),
    ]  # fmt: skip
    # Any own words, or only those that name something.
    assert decided("when I fall", "cake", "yes", "I like it here") == [("words", "bleeding", ("when I fall",))]
    assert ("words", "food", ("cake and I vomited",)) in decided("never", "cake and I vomited", "yes", "no")
    assert ("words", "note", ("my brother has haemophila",)) in decided(
        "never", "bread", "yes", "my brother has haemophila"
    )


def test_a_form_without_rules_has_nothing_to_decide() -> None:
    chat = Chat(form(item("note", "text"), language="en"), "en").say("I have a pacemaker", "yes")

    assert not chat.interview.decisions
    assert chat.interview.to_decide(chat.session) == ()
    assert Lexicon().is_plain("")


@pytest.mark.parametrize(
    "said",
    ["nein", "nein, danke", "kein Schrittmacher", "Nein, habe ich nicht", "Ich habe keinen Herzschrittmacher oder Defi",
     "weder Schrittmacher noch Defi", "nichts davon", "Nein, kein Metall", "noch nie", "keins", "no", "none of these",
     "no pacemaker or implants", "I don't have any", "never had one", "I have no metal in my body", "No, thank you."],
)  # fmt: skip
def test_a_denial_and_nothing_else_leaves_nothing_to_decide(said: str) -> None:
    assert LEXICON.is_plain(said)
    assert LEXICON.denies(said)
    assert not LEXICON.names_something(said)


@pytest.mark.parametrize(
    "said",
    ["kein Schrittmacher mehr", "kein Schrittmacher, Cochlea-Implantat", "nein aber einen Defi", "nein, nur den Herzschritmacher",
     "Ich arbeite als Schweißer", "so ein Kästchen unter dem Schlüsselbein", "12. SSW", "Nein, GFR war 28",
     "no pacemaker but a stent", "no but I do have an ICD", "none of these, LVAD", "cochlear", "BB pellet", "weld at work",
     "box under my collarbone", "yes, but wait, I have a pump", "pacemker", "no kidney problems, one kidney"],
)  # fmt: skip
def test_what_names_something_is_never_plain(said: str) -> None:
    assert not LEXICON.is_plain(said)
    assert LEXICON.names_something(said)


@pytest.mark.parametrize(
    "said",
    ["Bitte ruhige Musik", "Ich komme mit dem Bus", "Blinddarm", "Mandeln", "Haselnüsse und Pollen", "Mein Mann begleitet mich",
     "please play calm music", "appendix", "tonsils", "I need a parking space", "hay fever"],
)  # fmt: skip
def test_what_has_nothing_to_do_with_it_names_nothing(said: str) -> None:
    assert not LEXICON.names_something(said)


def test_yes_in_words_is_no_denial() -> None:
    assert not LEXICON.denies("ja")
    assert not LEXICON.denies("yes, I have")
    assert not LEXICON.denies("ok")


def reasons(language: str, **told: str) -> tuple[Reason, ...]:
    """Return what is to decide once a patient has answered all questions before an MRI and agreed to the answers."""
    patient, chat = MriPatient(language, **told), Chat(MRI, language)
    for _ in range(90):
        if chat.open == "finished":
            break
        chat.say(patient.reply(chat.interview.open_question(chat.session)))
    assert chat.open == "finished"
    assert chat.errors() == []
    return chat.interview.to_decide(chat.session)


@pytest.mark.parametrize("language", ["de", "en"])
def test_who_has_nothing_to_report_leaves_nothing_to_decide(language: str) -> None:
    assert reasons(language) == ()
    assert reasons(language, age="30") == ()
    harmless = {"de": "Nein danke, bis Montag", "en": "No thanks, see you on Monday"}[language]
    assert reasons(language, note=harmless, body_items="Tattoo", other_implants="5") == ()


@pytest.mark.parametrize(
    ("language", "link_id", "said", "words"),
    [
        ("en", "heart_device", "none of these, LVAD", "LVAD"),
        ("en", "heart_device", "no but I do have an ICD", "ICD"),
        ("en", "heart_device", "none of these but I have an LVAD", "LVAD"),
        ("en", "heart_device", "box under my collarbone", "box under my collarbone"),
        ("de", "heart_device", "nein, nur so ein Kästchen unter dem Schlüsselbein", "Kästchen"),
        ("de", "heart_device", "kein Schrittmacher mehr", "mehr"),
        ("de", "heart_device", "Darf ich mit meinem Schrittmacher überhaupt rein?", "meinem Schrittmacher"),
        ("en", "other_devices", "none of these, cochlear", "cochlear"),
        ("de", "device_removed", "nein, aber das alte Kabel ist noch drin", "Kabel"),
        ("en", "kidneys", "GFR 28", "GFR 28"),
        ("de", "kidneys", "nein, GFR 28", "GFR 28"),
        ("en", "metal_work", "no, I weld at work", "weld"),
        ("de", "eye_metal", "ist 20 Jahre her", "20 Jahre"),
        ("en", "operations", "no, only the box under my collarbone", "box"),
        ("de", "operations", "nein, nur die Insulinpumpe", "Insulinpumpe"),
        ("en", "kidneys", "no, but I have a pacemaker", "pacemaker"),
        ("de", "height", "1,80 m und ich habe einen Stent", "Stent"),
        ("en", "note", "I forgot, I have an insulin pump", "insulin pump"),
        ("de", "note", "Habe noch einen Shunt im Kopf", "Shunt"),
        ("en", "summary", "yes, but wait, I have a pump", "pump"),
        ("de", "summary", "ja. ich habe übrigens einen Shunt", "Shunt"),
    ],
)
def test_whatever_is_said_in_words_stays_the_reason(language: str, link_id: str, said: str, words: str) -> None:
    found = reasons(language, **{link_id: said})

    assert any(words in each for reason in found if reason.kind == "words" for each in reason.said)


@pytest.mark.parametrize(
    ("language", "said"), [("en", "12 weeks"), ("de", "12. Woche"), ("de", "ja, in der 12."), ("en", "12")]
)
def test_a_week_is_said_instead_of_yes(language: str, said: str) -> None:
    found = reasons(language, age="30", pregnant=said)

    assert "pregnant" in {reason.link_id for reason in found}


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "weiß nicht"), ("de", "überspringen"), ("de", "möchte ich nicht sagen"), ("en", "I don't know"),
     ("en", "skip"), ("en", "I'd rather not say")],
)  # fmt: skip
@pytest.mark.parametrize(
    "link_id", ["heart-device", "other-devices", "device-removed", "vessel-implants", "eye-metal", "kidneys"]
)
def test_not_knowing_and_not_saying_have_to_be_decided(language: str, said: str, link_id: str) -> None:
    found = reasons(language, **{link_id: said})

    assert link_id in {reason.link_id for reason in found}


@pytest.mark.parametrize(
    ("language", "link_id", "said", "codes"),
    [
        ("de", "heart_device", "Schrittmacher und Defi", ("Herzschrittmacher", "Defibrillator (ICD)")),
        ("en", "heart_device", "pacemaker and loop recorder", ("Heart pacemaker", "Heart rhythm recorder")),
        ("en", "other_devices", "a cochlear implant and an insulin pump",
         ("Implant in the ear (cochlear implant)", "Insulin pump")),
        ("en", "heart_device", "I have a pacemaker and a cochlear implant", ("Heart pacemaker", "I have a pacemaker and a cochlear implant")),
    ],
)  # fmt: skip
def test_two_devices_in_one_message_are_both_kept(
    language: str, link_id: str, said: str, codes: tuple[str, ...]
) -> None:
    told = [each for reason in reasons(language, **{link_id: said}) for each in reason.said]

    assert set(codes) <= set(told)


def test_an_answer_of_the_form_is_a_reason_and_a_calculated_one_is() -> None:
    assert [(each.kind, each.link_id) for each in reasons("de", weight="160 kg")] == [("answer", "heavy")]
    assert [(each.kind, each.link_id) for each in reasons("en", sedation="yes", eye_metal="yes")] == [
        ("answer", "eye-metal"), ("answer", "sedation"),
    ]  # fmt: skip
    assert [(each.kind, each.link_id, each.said) for each in reasons("de", consent="nein")] == [
        ("answer", "consent", ("false",))
    ]


def test_who_breaks_off_has_not_answered() -> None:
    chat = Chat(MRI, "en").say("yes", "66", "70 kg")

    kinds = {each.link_id: each.kind for each in chat.interview.to_decide(chat.session)}
    assert kinds["heart-device"] == kinds["kidneys"] == "not-answered"
    assert "weight" not in kinds


def test_words_said_once_are_not_forgotten_with_the_answer() -> None:
    chat = Chat(MRI, "en").say("yes", "66", "70 kg", "170 cm", "1", "none of these, LVAD", "6")

    (first, *_) = chat.interview.to_decide(chat.session)
    assert (first.kind, first.link_id, first.said) == ("words", "heart-device", ("none of these, LVAD",))


def test_what_is_remembered_after_the_end_is_kept_and_said_to_be() -> None:
    patient, chat = MriPatient("de"), Chat(MRI, "de")
    while chat.open != "finished":
        chat.say(patient.reply(chat.interview.open_question(chat.session)))
    chat.ask("Ach, ich habe noch eine Insulinpumpe vergessen")

    assert any("Insulinpumpe" in str(each.said) for each in chat.interview.to_decide(chat.session))
    assert "noted_too" in chat.keys
    assert chat.errors() == []


def test_nothing_is_kept_of_who_does_not_agree_to_it() -> None:
    chat = Chat(MRI, "en").say("no, I want to go home")

    assert not chat.session.filling.noted
    assert "home" not in str(chat.response())


def test_words_in_a_field_of_the_page_are_kept_beside_whatever_is_ticked() -> None:
    chat = Chat(MRI, "en").say("yes")
    page = chat.interview.pages(chat.session, "en")
    section = page.section(3)
    assert section is not None
    field = next(each for each in fields_in(page.elements(section)) if each.item.link_id == "heart-device")
    none = next(key for key, answer, _ in field.options if "no-heart-device" in str(answer.value))
    entered = {field.key: (none,), f"{field.key}.own": ("LVAD",)}

    page.send(PageSent(3, "en", page.version, shown=frozenset([field.key]), fields=entered))

    found = [each for each in chat.interview.to_decide(page.session) if each.link_id == "heart-device"]
    assert ("words", ("LVAD",)) in [(each.kind, each.said) for each in found]


@pytest.mark.parametrize(
    "said",
    [
        "У меня кардиостимулятор",
        "mam rozrusznik serca",
        "kalp pilim var",
        "none except gadolinium",
        "Ich bin in anderen Umständen",
        "I have a Micra",
        "there is a ring in my heart",
    ],
)
def test_words_of_other_languages_and_rare_names_are_known(said: str) -> None:
    assert LEXICON.names_something(said)


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [
        ("de", "heart_device", "nee, nix am Herz"),
        ("de", "heart_device", "mei Herz is gsund"),
        ("de", "heart_device", "nein, aber meine Schwester hat einen Schrittmacher"),
        ("de", "kidneys", "alles gut mit den Nieren"),
        ("de", "operations", "ja, Blinddarm"),
        ("de", "sedation", "brauch i ned"),
        ("de", "body_items", "nur eine Brille"),
        ("en", "asthma", "never had asthma"),
        ("en", "heart_device", "nope, my heart is fine"),
        ("en", "allergies", "none except pollen"),
    ],
)
def test_a_denial_in_the_patients_own_words_is_a_plain_no(language: str, link_id: str, said: str) -> None:
    patient, chat = MriPatient(language, **{link_id: said}), Chat(MRI, language)
    asked = set[str]()
    while chat.open != "finished":
        waiting = chat.interview.open_question(chat.session)
        asked.add(waiting.link_id)
        chat.say(patient.reply(waiting))

    assert chat.interview.to_decide(chat.session) == ()
    assert "device-kind" not in asked
    assert chat.errors() == []


def test_what_is_excepted_from_a_no_is_the_answer_and_a_reason() -> None:
    (value, words) = reasons("en", allergies="none except gadolinium")

    assert (value.kind, value.said) == ("answer", ("Contrast agent",))
    assert (words.kind, words.said) == ("words", ("none except gadolinium",))
    assert [each.kind for each in reasons("en", allergies="none except my aunt's perfume")] == ["words"]


@pytest.mark.parametrize(
    ("before", "link_id", "said"),
    [
        ({"vessel_implants": "nope nothing there mate"}, "bone-implants", "nope just a plate in the ankle"),
        ({"metal_work": "no not really, never"}, "metal-body", "no, only the shotgun ones"),
        ({"bone_implants": "nothing there mate"}, "other-implants", "no unless you count the coil in my womb"),
    ],
)
def test_words_beside_a_no_stay_with_the_question_that_was_asked(
    before: dict[str, str], link_id: str, said: str
) -> None:
    found = reasons("en", **before, **{link_id.replace("-", "_"): said})

    assert {each.link_id for each in found} == {link_id}
    assert sum(said in each.said for each in found) == 1


@pytest.mark.parametrize("filler", ["patient", "relative"])
def test_what_others_have_is_the_patients_only_if_a_relative_answers(filler: Any) -> None:
    patient, chat = MriPatient("de"), Chat(MRI, "de")
    while chat.open != "finished":
        chat.say(patient.reply(chat.interview.open_question(chat.session)))
    chat.session = replace(chat.session, filler=filler)
    chat.ask("Meine Mutter hat einen Schrittmacher")

    found = [each.said for each in chat.interview.to_decide(chat.session)]
    if filler == "relative":
        assert found == [("Meine Mutter hat einen Schrittmacher",)]
        return
    for said in ("Mein Hund hat einen Chip", "Ich trage eine Brille", "Ich arbeite im Büro", "Metallica Fan"):
        chat.ask(said)
    assert (chat.open, chat.interview.to_decide(chat.session)) == ("finished", ())


@pytest.mark.parametrize(
    ("language", "link_id", "said"),
    [
        ("en", "pregnant", "might be, we have not been careful"),
        ("de", "pregnant", "könnte sein, wir haben nicht aufgepasst"),
        ("en", "operation-recent", "does having a stent done on Monday count?"),
        ("de", "operation-recent", "zählt die Magenspiegelung vorgestern?"),
        ("en", "allergic-shock", "what counts as severe? I was intubated"),
        ("de", "allergic-shock", "was heißt schwer? ich lag auf Intensiv"),
        ("de", "metal-work", "zählt auch Basteln an der Drehbank?"),
        ("en", "metal-work", "does a bit of tinkering on the lathe count?"),
        ("en", "asthma", "sort of"),
        ("de", "narrow-fear", "ist das Ding offen? ich dreh sonst durch"),
    ],
)
def test_a_question_that_nobody_answered_stays_a_reason_after_a_plain_no(
    language: str, link_id: str, said: str
) -> None:
    assert said in asked_beside(language, link_id, said, answered=False)


def test_a_question_that_was_answered_is_a_reason_only_if_it_names_something() -> None:
    wires = "was ist mit den Drähten vom alten Schrittmacher?"

    assert wires in asked_beside("de", "device-removed", wires, answered=True)
    assert asked_beside("de", "kidneys", "Wo kann ich denn bei Ihnen parken?", answered=True) == []
    assert asked_beside("en", "kidneys", "who is going to read all of my answers?", answered=True) == []
    assert asked_beside("de", "kidneys", "was heißt das?", answered=False) == []


def asked_beside(language: str, link_id: str, said: str, *, answered: bool) -> list[str]:
    """Return the words to decide on of who asks something at a question, and has nothing to report else."""
    patient, chat, asked = (
        MriPatient(language, age="30", operations="yes" if language == "en" else "ja"),
        Chat(MRI, language),
        False,
    )
    while chat.open != "finished":
        waiting = chat.interview.open_question(chat.session)
        if waiting.link_id == link_id and not asked:
            asked = True
            (chat.ask if answered else chat.say)(said)
            continue
        chat.say(patient.reply(waiting))
    assert asked
    return [text for each in chat.interview.to_decide(chat.session) if each.kind == "words" for text in each.said]


def test_a_device_that_is_named_with_a_refusal_is_told_and_the_refusal_itself_is_not() -> None:
    chat = Chat(MRI, "en").say("I'd rather not, and I've got a bullet near my spine")

    assert "noted_too" in chat.keys
    assert chat.say("yes").errors() == []
    assert [each.said for each in chat.interview.to_decide(chat.session) if each.kind == "words"] == [
        ("I'd rather not, and I've got a bullet near my spine",)
    ]
    for said in ("nein danke, das will ich nicht", "nein"):
        told = Chat(MRI, "de").say(said, "ja")
        assert [each.kind for each in told.interview.to_decide(told.session)] == ["answer"]


def test_what_the_trial_of_a_technologist_named_is_known() -> None:
    named = (
        "Gadovist; Dotarem; gadolinio; Primovist; Ultravist; ein Schlauch vom Kopf in den Bauch; im Schädel zugeklemmt; "
        "sie haben mir ein Hütchen ins Herz gesetzt; meine Ohren sind elektronisch; das Blut wird dreimal die Woche "
        "gewaschen; mein Test hatte zwei Striche; ich glaub ich krieg Nachwuchs; Deffibrilator; Herzschrtimacher; "
        "ich wiege übrigens 4 Zentner; ich bin Mutter in spe; the gubbins in my chest that shocks me; the box that "
        "zaps my heart is nearly flat; I had my spine zapped by a buried unit; Aunt Flo hasn't shown up; the rabbit died"
    )
    harmless = "Bin auf dem Weg zu Ihnen; I am on my way; none of that sort of thing; über 50 Jahre"

    assert [said for said in named.split("; ") if not LEXICON.names_something(said)] == []
    assert [said for said in harmless.split("; ") if LEXICON.names_something(said)] == []
    assert LEXICON.denies("Nö, toi toi toi")
    assert LEXICON.denies("touch wood, no")


@pytest.mark.parametrize(
    ("language", "said"), [("de", "Nö, toi toi toi"), ("de", "toi toi toi"), ("en", "no, touch wood")]
)
def test_a_denial_by_a_saying_is_understood_as_no(language: str, said: str) -> None:
    patient, chat = MriPatient(language), Chat(MRI, language)
    while (waiting := chat.interview.open_question(chat.session)).link_id != "eye-metal":
        chat.say(patient.reply(waiting))

    assert chat.interview.listener(chat.session).understands(said)


def test_reasons_are_in_the_language_of_the_conversation() -> None:
    (one,) = reasons("en", heart_device="1")
    (other,) = reasons("de", heart_device="1")

    assert (one.asked, one.said) == ("Do you have a device at your heart?", ("Heart pacemaker",))
    assert (other.asked, other.said) == ("Haben Sie ein Gerät am Herzen?", ("Herzschrittmacher",))
