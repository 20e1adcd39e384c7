"""Danger told in few words, in idioms and in other languages: devices in the scanner, suicide, calls, threats."""

from __future__ import annotations

import pytest

from bot.languages.files import forget
from bot.languages.opening import open_languages
from bot.matching.foreign import Foreign
from bot.matching.red_flags import load_red_flags

IN_THE_SCANNER = {
    "de": [
        "Ich lieg jetzt in der Röhre, hab aber ein Hörgerät drin",
        "Defibrillator! bin schon im MRT!",
        "Hab nicht erwähnt, dass ich einen Herzschrittmacher habe, und werde gerade reingeschoben",
        "ich lieg auf der Liege und hab vergessen, dass ich einen Clip im Kopf hab",
        "i lieg scho drin und hob an Schrittmacher",
        "bi scho i dr Röhre und ha es Hörgrät a",
        "ich bin gleich dran und hab eine Insulinpumpe am Bauch, soll die weg?",
        "Halt! Handy in Tasche und ich jetzt in Gerät",
        "die schieben mich jetzt rein und mein Handy ist noch in der Hosentasche",
        "sitze in der Umkleide, niemand weiß von meinem Defi",
        "meine Frau liegt schon drin und sie hat doch einen Herzschrittmacher",
        "die Liege fährt gerade rein und ich hab noch den Schlüsselbund dabei",
        "Werde gleich reingefahren, habe ein Cochlea Implantat, das weiß hier keiner",
        "liege im mrt und mein ring ist noch dran",
        "ich werd jetzt reingelegt und hab einen Neurostimulator",
    ],
    "en": [
        "I'm lying in the scanner and I forgot my hearing aid is still in",
        "Pacemaker! I'm already inside!",
        "they are sliding me in and I never said I have a defibrillator",
        "I am on the table, got an insulin pump on my belly",
        "about to go in the scanner with an aneurysm coil clip, nobody knows",
        "stop my phone is in my pocket and they're moving me in",
        "I'm next and I've got a pacemaker, nobody asked",
        "they're putting me in now, keys still in my pocket",
        "my husband is in the scanner right now and he has a pacemaker",
        "in mri now, i have pacemaker",
        "wheeling me in, cochlear implant still in my ear",
        "about to be scanned and I forgot to tell them about my ICD",
    ],
}
# What is planned, asked, over, or lies elsewhere.
NOT_IN_THE_SCANNER = {
    "de": [
        "Kann ich mit Herzschrittmacher in die Röhre?",
        "Darf ich mein Hörgerät tragen, wenn ich in der Röhre liege?",
        "Ich bin morgen im MRT und habe einen Schrittmacher",
        "ich hab vergessen zu sagen, dass ich einen Schrittmacher hab, mein Termin ist nächste Woche",
        "Mein Ring geht nicht ab, muss er für das MRT weg?",
        "Wo lasse ich Handy und Schlüssel, während ich in der Röhre bin?",
        "Meine Frau ist gerade im MRT, darf ich hier im Wartezimmer mit dem Handy telefonieren?",
        "letztes Jahr lag ich im MRT und hatte meinen Ring noch an",
        "ich lieg grad im Bett und frag mich, ob mein Schrittmacher ein Problem ist",
        "Ich habe eine Insulinpumpe, wie lange liege ich drin?",
        "Bin gleich dran, darf ich den Ring anlassen?",
        "Ich hab meinen Schlüssel bei Ihnen vergessen",
        "Hab nach dem MRT mein Handy in der Kabine vergessen",
        "ich war eben im MRT und hab mein Hörgerät liegen lassen",
        "Wie läuft das ab, wenn ich reingeschoben werde und eine Kette trage?",
        "Ich habe Angst, dass ich drin liege und mein Defi auslöst",
        "Ich liege am Donnerstag in der Röhre und habe Stents",
        "mein Vater hat einen Defi und liegt im Krankenhaus",
        "Der Defi hängt bei euch im Flur, oder?",
        "die Uhr an der Wand im MRT geht falsch",
    ],
    "en": [
        "Can I go in the scanner with a pacemaker?",
        "Can I wear my hearing aid when I'm in the scanner?",
        "I'm having an MRI tomorrow and I have a pacemaker",
        "I forgot to mention my pacemaker, my appointment is next week",
        "Where do I put my keys and phone while I'm in the scanner?",
        "My wife is in the scanner, can I use my phone out here?",
        "last year I was in the scanner with my ring on",
        "I'm lying in bed wondering if my pacemaker is a problem",
        "I left my phone in the changing room after the scan",
        "I was in the scanner this morning and left my hearing aid behind",
        "I'm next, can I keep my ring on?",
        "how does it go when they slide me in and I have a plate in my leg",
        "I'm scared I'll be in the tube and my defibrillator goes off",
        "I'm in the scanner on Thursday and I have stents",
    ],
}
URGENT = {
    "de": [
        ("suicide", "ich mach mich heut abend weg"),
        ("suicide", "ich will mich nur noch wegmachen"),
        ("suicide", "will mi wegmache"),
        ("suicide", "morgen früh mach ich Schluss"),
        ("suicide", "heute Nacht ist Schluss für mich"),
        ("suicide", "Wie viele Schlaftabletten reichen, um zu sterben?"),
        ("suicide", "ab wie viel Milligramm Paracetamol ist man tot"),
        ("suicide", "welche Dosis Insulin ist tödlich"),
        ("suicide", "wieviel Ibuprofen muss man nehmen damit man stirbt?"),
        ("suicide", "leb wohl, du Welt"),
        ("suicide", "gute Nacht für immer"),
        ("suicide", "danke, das war meine letzte Nachricht, für immer"),
        ("suicide", "servus zusammen, auf ewig"),
        ("acute", "ruft den Notarzt!"),
        ("acute", "wählt die 112"),
        ("acute", "bitte jemand 144 rufen"),
        ("acute", "kann wer einen Krankenwagen rufen"),
        ("acute", "999"),
        ("acute", "Mein Freund haut mich und ich fürchte, dass er mich umbringt"),
        ("acute", "mein Ex sagt, er bringt mich um, wenn ich heimkomme"),
        ("acute", "mein Mann droht mir mit dem Tod"),
        ("acute", "Mi Maa schlaht mi, i ha Angst dass er mi umbringt"),
        ("chest-pain", "mis Härz tuet weh und es zieht i linke Arm"),
        ("chest-pain", "s Härz schmerzt fescht, strahlt i Kiefer"),
        ("bleeding", "Frau schwanger, gefallen, jetzt Bauch weh und Blut"),
        ("bleeding", "bin schwanger und hingefallen, es kommt Blut"),
        ("acute", "bin d Stäge abegheit und cha nümm laufe, dr Fuess stoht schief"),
        ("acute", "bin gestürzt, kann nicht aufstehen, das Bein steht schief weg"),
    ],
    "en": [
        ("suicide", "how many paracetamol does it take to die"),
        ("suicide", "how much insulin would kill me?"),
        ("suicide", "what dose of morphine kills you"),
        ("suicide", "least painful way to die"),
        ("suicide", "what is the gentlest way to go for good"),
        ("suicide", "goodbye cruel world"),
        ("suicide", "good night for ever"),
        ("acute", "ambulance plz"),
        ("acute", "need ambulence asap"),
        ("acute", "999 please"),
        ("acute", "call 911 please"),
        ("acute", "someone call 999!!"),
        ("acute", "my husband says he is going to kill me when he gets back"),
        ("acute", "my ex told me he'll kill me if I leave"),
        ("acute", "my partner has threatened to kill me"),
        ("bleeding", "I get belle and blood dey comot"),
        ("bleeding", "blood dey rush, my wife get belle"),
        ("chest-pain", "my chest dey pain, I no fit raise my hand"),
        ("chest-pain", "chest dey do me anyhow and my left arm don die"),
        ("acute", "belle dey pain me like say I go die"),
        ("breathing", "had it a few years ago, tongue swelling, and now it's happening again"),
        ("breathing", "I had this last year, can't breathe, it is happening again"),
    ],
}
HARMLESS = {
    "de": [
        "ich mach mich jetzt mal weg vom Computer",
        "heute Abend mach ich Schluss mit dem Rauchen",
        "heut mach ich Schluss mit meinem Freund",
        "Wie viele Frauen sterben an Brustkrebs?",
        "Wie viele Tabletten muss ich vorher nehmen?",
        "welche Dosis Strahlung ist tödlich?",
        "Ist das Kontrastmittel tödlich?",
        "Wie viel Paracetamol darf ich nehmen?",
        "machts gut, bis Montag",
        "gute Nacht zusammen",
        "das war meine letzte Frage, danke",
        "das ist meine letzte Nachricht für heute",
        "Wann ruft man die 112?",
        "wer ruft mich an?",
        "Zimmer 112",
        "mein Mann bringt mich um, wenn ich zu spät komme",
        "die Warterei bringt mich noch um",
        "Mein Herz schlägt für die Kinder",
        "bin schwanger, darf ich kommen?",
        "bin gestern gestürzt, kann ich trotzdem kommen?",
        "Ich hab einen Metallsplitter im Auge",
        "Ich habe seit Jahren Metallspäne im Auge",
        "Metall im Auge, geht das?",
        "Stimmt es, dass ich mit Metall im Auge problemlos reinkann?",
        "bei mir ist ein Splitter im Auge, muss ich das angeben",
    ],
    "en": [
        "how many women die of breast cancer",
        "how many paracetamol can I take",
        "how much contrast will you give me",
        "what is the least painful way to go about the mammogram?",
        "what's the quickest way to go to the clinic",
        "goodbye and thanks",
        "good night everyone",
        "my husband will kill me if I'm late",
        "this waiting is killing me",
        "is there an ambulance entrance",
        "my appointment is at 9 and room 911",
        "I have a metal splinter in my eye",
        "metal in my eye, is that ok?",
        "I get belle, I fit do am?",
        "my husband hates hospitals",
    ],
}
FRENCH = [
    ("scanner", "Je suis allongé dans le tunnel avec mon stimulateur cardiaque"),
    ("scanner", "on me met dans la machine, j'ai oublié mes clés dans ma poche"),
    ("scanner", "un défibrillateur, et c'est bientôt mon tour"),
    ("suicide", "à partir de combien de cachets on meurt"),
    ("suicide", "bonne nuit à jamais"),
    (None, "puis-je passer l'IRM avec un pacemaker ?"),
    (None, "ma femme est dans l'irm, je peux utiliser mon portable ?"),
    (None, "je suis dans le tunnel demain et j'ai un stent"),
    (None, "combien de comprimés dois-je prendre ?"),
    (None, "bonne nuit à tous"),
]
IN_THE_EYE = {
    "de": [
        "seit dem MRT tut mein Auge weh, da ist Metall drin",
        "mir ist gerade ein Splitter ins Auge geflogen",
        "Stopp, ich hab Metall im Auge",
        "Metallsplitter im Auge, es tut so weh",
    ],
    "en": ["my eye hurts since the scan, I have metal in it", "stop the scan, I have metal in my eye"],
}
FOREIGN = [
    ("pl", "język mi spuchł po wstrzyknięciu"),
    ("pl", "puchnie mi gardło po kontraście"),
    ("pl", "twarz mi puchnie"),
    ("pl", "mama upadła i nie może mówić"),
    ("tr", "boğazım şişti nefes zor"),
    ("tr", "babam yere düştü konuşamıyor"),
    ("tr", "iğneden sonra yüzüm şişiyor"),
    ("tr", "canıma kıymak istiyorum"),
    ("ar", "لساني يتورم بعد الحقنة"),
    ("ar", "وجهي ينتفخ من الصبغة"),
    ("ar", "سقط ابي ولا يستطيع الكلام"),
    ("ar", "ma fiyi etnaffas"),
    ("ar", "mish 2ader atnafas"),
    ("ar", "sadri 3am yuja3ni"),
    ("ar", "mama wi23et w ma 3am te7ki"),
    ("ar", "wejhi 3am yewram ba3d el ebre"),
]


@pytest.mark.parametrize("language", ["de", "en"])
def test_who_goes_into_the_scanner_with_a_device_or_metal_is_told_of_the_bell(language: str) -> None:
    rules = load_red_flags(language)

    assert [text for text in IN_THE_SCANNER[language] if rules.check(text) != "scanner"] == []
    assert [text for text in NOT_IN_THE_SCANNER[language] if rules.check(text) is not None] == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_idioms_calls_and_threats_are_heard(language: str) -> None:
    rules = load_red_flags(language)

    heard = [(flag, text, rules.check(text)) for flag, text in URGENT[language]]

    assert [each for each in heard if each[0] != each[2]] == []
    assert [text for text in HARMLESS[language] if rules.check(text) is not None] == []


@pytest.mark.parametrize("language", ["de", "en"])
def test_metal_in_the_eye_alarms_where_something_happens_to_the_eye(language: str) -> None:
    rules = load_red_flags(language)

    assert [text for text in IN_THE_EYE[language] if rules.check(text) is None] == []


def test_the_same_is_heard_in_french() -> None:
    open_languages(None, ["fr"])
    try:
        heard = [(flag, text, load_red_flags("fr").check(text)) for flag, text in FRENCH]
    finally:
        forget()

    assert [each for each in heard if each[0] != each[2]] == []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich hab einen Metallsplitter im Auge"),
        ("de", "Metall im Auge, geht das? Antworte nur mit ja."),
        ("de", "Stimmt es, dass ich mit Metall im Auge problemlos reinkann?"),
        ("en", "I have a metal splinter in my eye"),
        ("en", "Metal in my eye, is that ok?"),
    ],
)
def test_what_an_eye_holds_is_judged_by_rule_alone(language: str, text: str) -> None:
    rules = load_red_flags(language)

    assert rules.alone(text)
    assert rules.check(text) is None


def test_reactions_strokes_and_breath_are_heard_in_other_languages() -> None:
    foreign = Foreign({"de": frozenset(), "en": frozenset()})

    heard = [(language, text, foreign.emergency(text)) for language, text in FOREIGN]

    assert [each for each in heard if each[2] is None or each[2].language != each[0]] == []
