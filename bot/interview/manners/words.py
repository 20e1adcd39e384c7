"""Words by which replies are recognised, folded (`bot.text.fold`), by language where they differ. Data, pure.

Words of dates, numbers, units and of yes and no are those of `bot.interview.reading`.
"""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words with which a question begins.
QUESTION_OPENERS: Mapping[str, frozenset[str]] = {
    "de": _words("""
        wie was wann wo wohin woher warum wieso weshalb wozu wofuer womit wodurch wer wen wem wessen welche welcher
        welches welchen tut kann kannst koennen koennte muss muessen musst darf duerfen soll sollte sollen ist sind
        wird werden gibt dauert kostet bekomme kriege brauche braucht stimmt schadet
        """),
    "en": _words("""
        how what when where why which who whom whose does do did is are can could may might must should shall will
        would am
        """),
}
# After "can't" and the like at the beginning: what makes it a question, even without its mark.
ASKED_ABOUT: Mapping[str, frozenset[str]] = {"de": _words(""), "en": _words("i you it we they he she this that there")}
# After the first word of a message, these show that it tells something: "ist ewig her", "sind ungefähr zwei Jahre".
STATED_AFTER: Mapping[str, frozenset[str]] = {
    "de": _words("ewig lange laenger mir egal ungefaehr etwa circa ca bestimmt halt eben schon noch wohl"),
    "en": frozenset(),
}
# Words of leave that is given: "Können Sie gern machen" is no question.
GLADLY: Mapping[str, frozenset[str]] = {"de": _words("gern gerne ruhig"), "en": _words("")}
# Words that may stand before them.
QUESTION_PADDING: Mapping[str, frozenset[str]] = {
    "de": _words("und aber also nun eine frage noch entschuldigung sorry bitte sagen sie mal ok okay ja ach"),
    "en": _words("and but so well one a question please sorry excuse me ok okay yes oh tell"),
}
# How a message begins that takes back what was said before it.
SECOND_THOUGHTS: Mapping[str, tuple[str, ...]] = {
    "de": (
        "moment", "warte", "wart", "warten sie", "halt", "stop", "stopp", "ach", "oh", "doch", "aeh", "aehm", "hm",
        "nein", "nee", "ne", "noe", "na", "eigentlich", "sekunde", "falsch", "quatsch", "mir faellt ein",
        "da faellt mir ein", "vergessen",
    ),
    "en": (
        "no", "nope", "nah", "hang on", "hold on", "wait", "actually", "oh", "ah", "stop", "sorry", "er", "um", "hmm",
        "wrong", "scrap that", "come to think", "thinking about it", "i forgot", "one moment", "one sec", "just a",
    ),
}  # fmt: skip
# Further ways to say that there is nothing else, folded.
END_PHRASES: Mapping[str, frozenset[str]] = {
    "de": frozenset(
        (
            "das war s", "das wars", "des wars", "das war alles", "das ist alles", "das waere alles", "mehr nicht",
            "sonst niemand", "sonst keiner", "niemand sonst", "niemand mehr", "niemand", "keiner mehr",
            "nein sonst niemand",
            "nein niemand mehr", "nein keine weiteren verwandten", "keine weiteren verwandten", "keine weiteren",
            "nein das war s", "nein das wars", "nein das ist alles", "fertig", "sonst nichts", "sonst keine", "ende",
            "genug", "reicht", "das reicht", "mehr faellt mir nicht ein",
        )
    ),
    "en": frozenset(
        (
            "that s all", "that is all", "thats all", "that s it", "thats it", "that is it", "nope that s it", "done",
            "nobody else", "no one else", "noone else", "no nobody else", "no other relatives", "no more relatives",
            "that s everything", "no that s everything", "no that s everything ta", "no that s everything thanks",
            "that s the lot", "no that s the lot", "no that s it", "finished", "nothing more", "enough", "the end",
            "no that s all", "no that is all",
        )
    ),
}  # fmt: skip
# Words, folded, that only agree once more after a yes.
AGREEING_WORDS = _words("""
    ja alles stimmt passt gut richtig korrekt so ist es das in ordnung ok okay danke bitte absenden abschicken senden
    fertig kann los weg dann genau perfekt prima klar yes all everything is correct right fine good it s that thanks
    thank you please send submit done perfect exactly now go ahead looks jetzt nun soweit schon wohl denk denke glaub
    glaube ich i think so yep yeah jo
    """)
# Words, folded, beside the number of a row that is to be changed: "bei der 28 stimmt was nicht".
ROW_WORDS = _words("""
    die der das den dem nr nummer zeile frage punkt antwort bei in an zu moecht moechte mecht will wuerde gern gerne ich
    i aendern stimmt nicht net ned was etwas falsch ist is nochmal noch einmal bitte da number no row question answer
    wrong change please want would like to fix correct incorrect not right the it s there something again with at for my
    """)
# Those that agree by themselves.
RIGHT_WORDS = _words(
    "stimmt passt gut richtig korrekt perfekt genau correct right fine good perfect exactly ordnung klar"
)
# Words, folded, that say that something is to be corrected, or added.
CORRECTING_WORDS = _words("""
    uebrigens eigentlich korrektur korrigieren falsch sorry entschuldigung doch vertan verschrieben vertippt geirrt
    irrtum vergessen aendern actually correction correct wrong mistake meant typo forgot forgotten change way
    """)
ADDING_WORDS = _words("""
    vergessen noch auch zusaetzlich ausserdem dazu ergaenzen nachtragen forgot forgotten also too add another besides
    more
    """)
# Further ways to say that the summary may go.
SEND_WORDS: Mapping[str, frozenset[str]] = {
    "de": _words("absenden abschicken senden schicken speichern fertig alles"),
    "en": _words("send submit save finish finished done"),
}
# Words that name nothing.
EMPTY_WORDS = _words("""
    der die das den dem des ein eine einen einer eines und oder ist sind war im in am an zu zum zur von mit bei fuer
    mein meine meinen meiner ihr ihre ihren sie ich frage antwort angabe the a an and or is are was of to in at on for
    my your you i question answer about
    """)
# Words that stand in many questions.
COMMON_WORDS = _words("""
    haben hatten hatte habe wurde wurden wird sind waren wann welche welcher welches schon einmal jetzt nehmen bitte
    nicht kein keine noch auch dass seit viel viele etwas have been were what when which whom your with this that does
    ever taken anything would like now since many much some other item frage question
    """)
# Sounds that tell nothing.
SOUNDS = _words("hmm hmmm aeh aehm ehm uhm umm tja")
